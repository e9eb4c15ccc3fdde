import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';

const FREEZE = '/change freeze tag=staging until=4h launch of the shop';
const STOP = '/service stop staging for the night';

/** Ana freezes everything tagged staging for four hours, and Ben approves. */
async function frozenStaging(sandbox: TestSandbox) {
  await sandbox.confirm(ANA, FREEZE, 'Freeze everything tagged staging?');
  const card = await sandbox.card('requests: freeze everything tagged staging');
  await sandbox.press(BEN, card, 'change.approve');
  return sandbox.card('everything tagged staging is frozen');
}

function passMinutes(sandbox: TestSandbox, minutes: number) {
  sandbox.pass(minutes * 60_000);
}

test('a freeze is requested, approved, blocks every user, and ends at its time', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, FREEZE, 'Freeze everything tagged staging?');
  await sandbox.press(ANA, preview, 'change.details');
  await sandbox.privateMessage(ANA, 'Sends  nothing: freezes live in Signalbox');
  const card = textOf(await frozenStaging(sandbox));
  expect(card).toContain('The freeze is in force now, for all users.');
  expect(card).toContain('2026-11-20T16:00:00.000Z');
  expect(card).not.toMatch(/PUT|Answered|server said|accepted/);

  const refused = await sandbox.answer(FINN, STOP, 'staging is frozen until');
  expect(refused).toContain('launch of the shop, by ');
  expect(refused).toContain(`<@${ANA}>`);
  expect(refused).toContain('2026-11-20T16:00:00.000Z');
  expect(refused).toMatch(/\/change unfreeze [0-9A-Z]{6} ends it/);

  passMinutes(sandbox, 4 * 60);
  await sandbox.ask(FINN, STOP, 'Stop staging?');
  await sandbox.ask(DORA, '/change freezes', 'Nothing is frozen now');
});

test('a button ends a freeze early, once, and can create it again', async () => {
  const sandbox = await startTestSandbox();
  const made = await frozenStaging(sandbox);
  expect(buttonsOf(made)).toEqual(['change.undo', 'change.details']);
  passMinutes(sandbox, 10);
  await sandbox.press(ANA, made, 'change.undo');
  const preview = await sandbox.privateMessage(ANA, 'Unfreeze everything tagged staging?');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: unfreeze everything tagged staging');
  await sandbox.press(BEN, card, 'change.approve');
  const lifted = await sandbox.card('everything tagged staging is unfrozen');
  await sandbox.ask(FINN, '/service stop staging because', 'Stop staging?');
  const over = await sandbox.card('everything tagged staging was frozen');
  expect(textOf(over)).toContain('The freeze has ended.');
  expect(buttonsOf(over)).toEqual(['change.details']);

  passMinutes(sandbox, 10);
  await sandbox.press(ANA, lifted, 'change.undo');
  const again = await sandbox.privateMessage(ANA, 'Freeze everything tagged staging?');
  expect(textOf(again)).toContain('2026-11-20T16:00:00.000Z');
});

test('a future freeze is shown on each preview that it will affect', async () => {
  const times = { from: '2026-11-24T00:00Z', until: '2026-11-25T00:00Z' };
  const freezes = [{ ...times, on: { tags: ['staging'] }, reason: 'sale', by: 'Gus' }];
  const sandbox = await startTestSandbox({ yaml: (file) => ({ ...file, freezes }) });
  const preview = await sandbox.answer(ANA, '/service stop staging because', 'Stop staging?');
  expect(preview).toContain('Frozen between');
  expect(preview).toContain('(sale, by Gus)');
  const listed = await sandbox.answer(DORA, '/change freezes', 'Nothing is frozen now');
  expect(listed).toContain('Future');
  expect(listed).toContain('Set in signalbox.yaml.');
});

const REJECTED: readonly (readonly [line: string, words: string])[] = [
  ['freeze until=4h why not', '"Choose exactly one of: a service'],
  ['freeze finance tag=prod until=4h x', '"Choose exactly one of: a service'],
  ['freeze tag=prdo until=4h x', "There's no tag called “prdo”. Did you mean"],
  ['freeze warehouse=mian until=4h x', "There's no warehouse called “mian”"],
  ['freeze stagin until=4h x', "There's no service called “stagin”"],
  ['freeze finance until=100d x', 'must be a duration'],
  ['freeze finance until=2027-06-01T10:00Z x', 'must be within 90 days'],
  ['freeze finance until=2026-11-19T10:00Z x', 'is in the past'],
  ['unfreeze tag:prod x', "There's no freeze called “tag:prod”"],
];

test('what is no freeze is rejected with an explanation', async () => {
  const sandbox = await startTestSandbox();
  const { slack } = sandbox;
  for (const [line, words] of REJECTED) {
    for (const { id } of slack.clientState(ANA).views) await slack.close(ANA, id);
    const earlier = slack.messages('ops').length;
    await slack.command(ANA, 'ops', `/change ${line}`);
    const seen = () =>
      JSON.stringify([slack.clientState(ANA).views, slack.messages('ops').slice(earlier)]);
    await expect.poll(seen, { message: line }).toContain(words);
  }
  expect(slack.messages('db-approvals')).toHaveLength(0);
});

test('the freeze form suggests tags and warehouses and requires one choice', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/change freeze');
  const view = await sandbox.modal(ANA, 'change.freeze');
  const shown = sandbox.slack.clientState(ANA).views.at(-1)?.blocks ?? [];
  expect(shown.map((block) => block.block_id)).toEqual(['scope', 'until', 'reason']);
  expect(shown.map(({ optional }) => optional)).toEqual([false, false, false]);

  const place = { in: 'view', viewId: view } as const;
  const search = { as: ANA, place, blockId: 'scope', actionId: 'scope' };
  const found = async (value: string) =>
    (await sandbox.slack.suggest({ ...search, value })).options;
  expect((await found('lab')).map(({ value }) => value)).toContain('warehouse:lab');
  const [option] = await found('tagged staging');
  await sandbox.slack.submit(ANA, view, {
    scope: { scope: { type: 'external_select', selected_option: option } },
    until: { until: { type: 'plain_text_input', value: '4h' } },
    reason: { reason: { type: 'plain_text_input', value: 'launch' } },
  });
  const preview = await sandbox.privateMessage(ANA, 'Freeze everything tagged staging?');
  expect(textOf(preview)).toContain('Affected: ml-features, staging.');
  expect(textOf(preview)).toContain('/change freeze \\"everything tagged staging\\" until=4h');
});

test('the edit form of a freeze contains the typed tag', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, FREEZE, 'Freeze everything tagged staging?');
  await sandbox.press(ANA, preview, 'change.edit');
  const view = await sandbox.modal(ANA, 'change.freeze');
  expect(sandbox.slack.clientState(ANA).views.at(-1)?.blocks[0]).toMatchObject({ optional: true });
  await sandbox.slack.submit(ANA, view, {});
  await expect.poll(() => sandbox.slack.clientState(ANA).views).toEqual([]);
  const again = () => sandbox.slack.messages('ops').find(({ ts }) => ts === preview?.ts);
  await expect.poll(() => again()?.updatedTs).toBeTruthy();
  expect(again()?.text).toContain('Freeze everything tagged staging?');
});

test('the button that ends a freeze names the service, and the freeze command itself is not shown as frozen', async () => {
  const sandbox = await startTestSandbox();
  const frozen = '/change freeze "staging" until=4h launch';
  const preview = await sandbox.ask(ANA, frozen, 'Freeze staging?');
  expect(textOf(preview)).toContain('All changes are blocked');
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.press(BEN, await sandbox.card('requests: freeze staging'), 'change.approve');
  await sandbox.card('staging is frozen');

  const listed = await sandbox.answer(ANA, '/change freezes', 'Frozen now: 1');
  expect(listed).toMatch(/Unfreeze staging \(\w{6}\)/);
  expect(listed).toMatch(/"action_id":"command.show"[^}]*"value":"change show \w{6}"/);
  const stop = await sandbox.answer(ANA, '/change who service stop', 'Who may use');
  expect(stop).toContain('launch, by ');
  const line = '/change who change unfreeze';
  const unfreeze = await sandbox.answer(ANA, line, 'Who may use /change unfreeze');
  expect(unfreeze).not.toContain('launch, by ');
});
