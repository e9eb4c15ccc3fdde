import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { eventsIn } from '../harness/read-log.ts';
import { cardAfterRetries, changeIdOf, setTime, threadText } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA, FINN } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

const ALLOW = '/change allow service stop tag=staging uses=2 for=7d night tests';

/** Requests a standing approval, and returns its card once Ben has approved it. */
async function allowed(sandbox: TestSandbox, line = ALLOW, approvers = [BEN]) {
  const [, verb = ''] = /allow (?:service )?(\w+)/.exec(line) ?? [];
  const preview = await sandbox.ask(ANA, line, `Allow ${verb} of`);
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card(`requests: allow ${verb} of`);
  for (const by of approvers) await sandbox.press(by, card, 'change.approve');
  await expect.poll(() => shown(sandbox, 'is allowed')).toContain('In force.');
  return { card: (await sandbox.card('is allowed')) ?? card, preview };
}

const shown = async (sandbox: TestSandbox, words: string) => textOf(await sandbox.card(words));

const stops = (sandbox: TestSandbox) =>
  sandbox.cloud.requests().filter(({ operation }) => operation === 'set state').length;

test('a stop runs by a standing approval, and its card counts it', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const { card, preview } = await allowed(sandbox);
  const asked = textOf(preview);
  expect(asked).toContain('Allow stop of everything tagged staging?');
  expect(asked).toContain('by anyone who may request “service stop”');
  expect(asked).toContain('Affected: ml-features, staging.');
  expect(asked).toContain('1 of @db-leads, not you');
  expect(textOf(card)).toContain('Used  0 of 2');
  expect(buttonsOf(card)).toContain('change.revoke');

  const own = await sandbox.ask(FINN, '/service stop staging for the night', 'staging?');
  const id = changeIdOf(card);
  expect(textOf(own)).toContain(
    `runs when you confirm: standing approval ${id} by <@${BEN}>, 2 of 2 uses left`,
  );
  await sandbox.press(FINN, own, 'change.confirm');
  await cardAfterRetries(sandbox, 'staging is stopp');
  expect(stops(sandbox)).toBe(1);
  const done = await shown(sandbox, 'staging is stopp');
  expect(done).toContain(`Requested by <@${FINN}> · approved by <@${BEN}>`);
  expect(done).toContain(`Runs by  standing approval ${id}`);
  await expect
    .poll(() => shown(sandbox, 'is allowed'))
    .toContain(`Used  1 of 2 · last by <@${FINN}>`);
  expect(threadText(sandbox, card?.ts ?? '')).toContain(`Use 1 of 2: `);

  await sandbox.slack.command(DORA, 'ops', '/change list standing');
  const list = textOf(await sandbox.privateMessage(DORA, 'allowed in advance'));
  expect(list).toContain('Stop of everything tagged staging is allowed');

  await sandbox.ask(
    ANA,
    `/change revoke ${id}`,
    'Too late to cancel: it was accepted. Revoke it on its card.',
  );
  await sandbox.press(CLEO, await sandbox.card('is allowed'), 'change.revoke');
  await expect.poll(() => shown(sandbox, 'was allowed')).toContain(`Revoked by  <@${CLEO}>`);
  expect(buttonsOf(await sandbox.card('was allowed'))).not.toContain('change.revoke');
  await expect
    .poll(() => threadText(sandbox, card?.ts ?? ''))
    .toContain('nothing runs by it any more');
  const used = await eventsIn(databaseUrl, 'used', 'revoked');
  expect(used.map(({ type }) => type)).toEqual(['used', 'revoked']);
});

async function previewOf(sandbox: TestSandbox, by: string, line: string, words: string) {
  await sandbox.slack.command(by, 'ops', line);
  return sandbox.privateMessage(by, words);
}

onEngines('what is not covered asks for approval; the last use is taken once', async (engine) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl(engine) });
  const line = '/change allow service scale analytics-prod max=96 uses=1 month-end load';
  await allowed(sandbox, line, [BEN, CLEO]);
  expect(await shown(sandbox, 'is allowed')).toContain('Largest memory (GB)  96');
  const scale = (by: string, values: string) =>
    previewOf(
      sandbox,
      by,
      `/service scale analytics-prod ${values} month end`,
      `per replica (GB)  ${values.slice(4)}`,
    );
  const more = await scale(ANA, 'max=128');
  expect(textOf(more)).toContain('2 of @db-leads, not you');
  expect(buttonsOf(more)).toContain('change.confirm');
  const first = await scale(ANA, 'max=64');
  const second = await scale(FINN, 'max=96');
  for (const one of [first, second]) expect(textOf(one)).toContain('1 of 1 uses left');
  await sandbox.press(ANA, first, 'change.confirm');
  // A press is acknowledged before it is recorded: Finn's could be the first one.
  await sandbox.card('was allowed');
  await sandbox.press(FINN, second, 'change.confirm');
  expect(textOf(await sandbox.privateMessage(FINN, 'no use left'))).toContain('Request it again');
  await cardAfterRetries(sandbox, 'analytics-prod is scaling');
  const scales = sandbox.cloud.requests().filter(({ operation }) => operation === 'scale');
  expect(scales.map(({ body }) => body)).toEqual([{ maxReplicaMemoryGb: 64 }]);
  await expect
    .poll(() => shown(sandbox, 'was allowed'))
    .toContain('The standing approval has ended.');
});

test('an approver allows less: the uses that follow have the lower limits', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(
    ANA,
    'ops',
    '/change allow scale ml-features max=96 uses=3 month end',
  );
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Allow '), 'change.confirm');
  await sandbox.press(BEN, await sandbox.card('requests: allow'), 'change.narrow');
  await sandbox.slack.submit(BEN, await sandbox.modal(BEN, 'change.narrow'), {
    maxReplicaMemoryGb: {
      maxReplicaMemoryGb: { type: 'static_select', selected_option: { value: '64' } },
    },
    uses: { uses: { type: 'number_input', value: '2' } },
  });
  await expect
    .poll(() => shown(sandbox, 'is allowed'))
    .toContain(`Narrowed by  <@${BEN}>: Largest memory (GB) 96 → 64, Uses 3 → 2`);
  const more = await previewOf(sandbox, FINN, '/service scale ml-features max=96 load', '(GB)  96');
  expect(textOf(more)).toContain('1 of @db-leads, not you');
  const own = await previewOf(sandbox, FINN, '/service scale ml-features max=64 load', '(GB)  64');
  expect(textOf(own)).toContain('2 of 2 uses left');
});

test('a use that waits for its time does not run once the standing approval is revoked', async () => {
  const sandbox = await startTestSandbox();
  const { card } = await allowed(sandbox);
  const own = await previewOf(
    sandbox,
    FINN,
    '/service stop staging in=1h for the night',
    'staging?',
  );
  expect(textOf(own)).toContain('standing approval');
  await sandbox.press(FINN, own, 'change.confirm');
  await expect.poll(() => shown(sandbox, 'is allowed')).toContain('Used  1 of 2');
  await sandbox.press(ANA, await sandbox.card('is allowed'), 'change.revoke');
  await expect.poll(() => shown(sandbox, 'was allowed')).toContain('Revoked by');
  setTime(sandbox, '13:01');
  await expect
    .poll(() => shown(sandbox, 'Stop staging: '))
    .toContain('its standing approval has ended');
  expect(stops(sandbox)).toBe(0);
  // Its thread names what may have been sent.
  expect(threadText(sandbox, card?.ts ?? '')).not.toContain('Use 1 of 2');
});

/** A rule for stops of staging before those of the file. */
const withRule = (rule: object) => (file: { readonly policy?: never }) => {
  const first = { allow: ['service stop'], on: { tags: ['staging'] }, ...rule };
  return { ...file, policy: [first, ...((file.policy ?? []) as readonly object[])] };
};

const REASON = '"load of the shop"';

test.for<[string, string, string, object?]>([
  [
    'a rule without approvals',
    `stop tag=staging uses=3 ${REASON}`,
    'needs no approval. Request it directly',
    { to: 'operator' },
  ],
  [
    'rules with other approvers',
    `start and stop ml-features uses=3 ${REASON}`,
    'has other approvers',
    { to: 'operator', approvals: { from: 'oncall' } },
  ],
  [
    'a person who may not request it',
    `stop ml-features uses=3 ${REASON}`,
    "You can't stop",
    { to: 'oncall', approvals: { from: 'approver' } },
  ],
  ['everything', `stop everything uses=3 ${REASON}`, 'a service, a tag or a warehouse.'],
  ['a scale without a limit', `scale ml-features uses=3 ${REASON}`, 'set the largest memory, the'],
  ['no reason', 'stop ml-features uses=3', 'Add a reason for the approvers.'],
])('a standing approval is refused: %s', async ([, words, refusal, rule]) => {
  const sandbox = await startTestSandbox((rule ? { yaml: withRule(rule) } : {}) as never);
  await sandbox.slack.command(FINN, 'ops', `/change allow ${words}`);
  const answers = () => {
    const { messages, views } = sandbox.slack.clientState(FINN);
    return JSON.stringify([messages, views]);
  };
  await expect.poll(answers).toContain(refusal);
});

test('the card shows the end of its time; its requester revokes one in Home', async () => {
  const sandbox = await startTestSandbox();
  await allowed(sandbox, '/change allow stop tag=staging for=1h load of the shop');
  setTime(sandbox, '13:01');
  await expect
    .poll(() => shown(sandbox, 'was allowed'))
    .toContain('The standing approval has ended.');

  await allowed(sandbox, '/change allow start tag=staging for=1h load of the shop');
  await sandbox.slack.openHome({ as: ANA });
  const home = () => JSON.stringify(sandbox.slack.clientState(ANA).home ?? []);
  await expect.poll(home).toContain('Standing approvals (1)');
  await sandbox.slack.click(ANA, { in: 'home' }, 'change.revoke');
  await expect
    .poll(() => shown(sandbox, 'Revoked by'))
    .toContain('The standing approval has ended.');
  await expect.poll(home).not.toContain('Standing approvals');
});
