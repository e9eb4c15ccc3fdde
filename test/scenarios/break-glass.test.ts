import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { ANALYTICS, NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA, FINN, GUS } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const REASON = 'The shop is down and nobody of the leads answers';
const because = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });

async function previewFor(sandbox: TestSandbox, as: string) {
  await sandbox.slack.command(as, 'ops', '/service stop analytics-prod it writes rubbish');
  return (
    (await sandbox.privateMessage(as, 'Stop analytics-prod?')) ?? {
      ...NO_MESSAGE,
      channel: '',
      ts: '',
    }
  );
}

/** The card of a request that waits for two approvals. */
async function waitingCard(sandbox: TestSandbox, as = ANA) {
  await sandbox.press(as, await previewFor(sandbox, as), 'change.confirm');
  return sandbox.card('requests: stop analytics-prod');
}

async function useBreakGlass(sandbox: TestSandbox, card: Awaited<ReturnType<typeof waitingCard>>) {
  await sandbox.press(ANA, card, 'change.break-glass');
  await sandbox.slack.submit(ANA, await sandbox.modal(ANA, 'change.break-glass'), because(REASON));
  return sandbox.card('analytics-prod is stopping');
}

function textsIn(sandbox: TestSandbox, channel: string) {
  return sandbox.slack.messages(channel).map(textOf).join('\n');
}

test('with break-glass a change runs without approvals, and everyone is notified', async () => {
  const sandbox = await startTestSandbox();
  const card = await waitingCard(sandbox);
  expect(buttonsOf(card)).toContain('change.break-glass');
  const ended = await useBreakGlass(sandbox, card);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(1);
  const text = textOf(ended);
  expect(text).toContain('⚠ EMERGENCY');
  expect(text).toContain(REASON);
  expect(text).toContain('nobody yet');

  await expect.poll(() => textsIn(sandbox, 'db-audit')).toContain('used break-glass');
  const line = sandbox.slack
    .messages('db-approvals')
    .find((message) => message.threadTs && textOf(message).includes('used break-glass'));
  // The blocks mention the groups. The fallback text would mention them a second time.
  expect(JSON.stringify(line?.blocks)).toContain('S0DBLEADS01');
  expect(textOf(line ?? NO_MESSAGE)).toContain(REASON);
});

test('break-glass works from the preview, before the request is posted', async () => {
  const sandbox = await startTestSandbox();
  const preview = await previewFor(sandbox, ANA);
  expect(buttonsOf(preview)).toEqual([
    'change.confirm',
    'change.edit',
    'change.cancel',
    'change.details',
    'change.break-glass',
  ]);
  await useBreakGlass(sandbox, preview as never);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(1);
});

test('the preview loses its buttons after break-glass was used from it', async () => {
  const sandbox = await startTestSandbox();
  const preview = await previewFor(sandbox, ANA);
  await useBreakGlass(sandbox, preview as never);
  const seen = () => sandbox.slack.clientState(ANA).messages.filter(({ ephemeral }) => ephemeral);
  await expect.poll(() => seen().map(textOf).join()).toContain('shows the result');
  expect(seen().flatMap(buttonsOf)).toEqual([]);
});

test('a break-glass form that is submitted after the preview expired is refused in a direct message', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(ANA, await previewFor(sandbox, ANA), 'change.break-glass');
  const form = await sandbox.modal(ANA, 'change.break-glass');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 31 * 60_000);
  await sandbox.slack.submit(ANA, form, because(REASON));
  const told = await sandbox.privateMessage(ANA, ': it has expired. ');
  expect(told?.channel.startsWith('D')).toBe(true);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('break-glass is not offered to a requester without the break-glass role', async () => {
  const sandbox = await startTestSandbox();
  expect(buttonsOf(await previewFor(sandbox, FINN))).not.toContain('change.break-glass');
});

test('only the requester can use break-glass for a change', async () => {
  const sandbox = await startTestSandbox();
  const card = await waitingCard(sandbox);
  for (const someone of [BEN, DORA, FINN]) {
    await sandbox.press(someone, card, 'change.break-glass');
    await sandbox.privateMessage(someone, REFUSED.notRequester(ANA));
  }
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('break-glass requires a reason', async () => {
  const sandbox = await startTestSandbox();
  const card = await waitingCard(sandbox);
  await sandbox.press(ANA, card, 'change.break-glass');
  const form = await sandbox.modal(ANA, 'change.break-glass');
  const shown = JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1));
  expect(shown).toContain('without the approvals that its rule requires');
  await sandbox.slack.submit(ANA, form, because('  '));
  expect(sandbox.slack.clientState(ANA).views.at(-1)?.errors.reason).toContain('Add a few words');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a freeze also blocks break-glass', async () => {
  const frozen = (file: object) => ({
    ...file,
    freezes: [
      {
        from: '2026-11-20T12:10Z',
        until: '2026-11-21T00:00Z',
        on: { tags: ['prod'] },
        reason: 'sale',
      },
    ],
  });
  const sandbox = await startTestSandbox({ yaml: frozen });
  const card = await waitingCard(sandbox);
  await sandbox.press(ANA, card, 'change.break-glass');
  const form = await sandbox.modal(ANA, 'change.break-glass');
  sandbox.clock.now = new Date('2026-11-20T12:20:00Z');
  await sandbox.slack.submit(ANA, form, because(REASON));
  await sandbox.privateMessage(ANA, 'analytics-prod is frozen until');
  const waiting = await sandbox.card('This change expires before that.');
  expect(buttonsOf(waiting)).not.toContain('change.break-glass');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

const withoutBreakGlass = (file: object) =>
  JSON.parse(JSON.stringify(file).replaceAll(/,"breakGlass":\{[^}]*\}/g, ''));
const withOtherBreakGlassUser = (file: object) =>
  JSON.parse(JSON.stringify(file).replaceAll(`"users":["${ANA}"]`, `"users":["${FINN}"]`));

test.for([
  ['no longer has a break-glass rule', withoutBreakGlass, 'does not allow break-glass'],
  [
    'gives the break-glass role to another user',
    withOtherBreakGlassUser,
    'Only the role oncall may use break-glass here.',
  ],
] as const)('a policy that %s stops the change before sending', async ([, yaml, words]) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  sandbox.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 1 });
  const card = await waitingCard(sandbox);
  await sandbox.press(ANA, card, 'change.break-glass');
  await sandbox.slack.submit(ANA, await sandbox.modal(ANA, 'change.break-glass'), because(REASON));
  const held = await sandbox.card('Nothing was sent yet');
  expect(textOf(held)).toContain('Stop analytics-prod: emergency, without approval');
  // The old process must stop before the clock advances, or it runs the change under the old policy.
  await sandbox.down();
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 300_000);
  await sandbox.restart(yaml);
  const ended = await sandbox.card('not run: the current policy refuses it');
  expect(textOf(ended)).toContain(words);
  expect(buttonsOf(ended)).toEqual(['change.request-again', 'change.review', 'change.details']);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(0);
});

test('another user reviews a break-glass change and records the result', async () => {
  const sandbox = await startTestSandbox();
  const ended = await useBreakGlass(sandbox, await waitingCard(sandbox));
  expect(buttonsOf(ended)).toContain('change.review');

  await sandbox.press(ANA, ended, 'change.review');
  await sandbox.privateMessage(ANA, 'You used break-glass, so someone else');
  await sandbox.press(DORA, ended, 'change.review');
  await sandbox.privateMessage(DORA, REFUSED.notAnApproverOf('@db-leads'));

  await sandbox.press(BEN, ended, 'change.review');
  const form = await sandbox.modal(BEN, 'change.review');
  await sandbox.slack.submit(BEN, form, because('It was right: the shop was back in a minute'));
  await expect
    .poll(() => textsIn(sandbox, 'db-approvals'))
    .toContain('It was right: the shop was back in a minute');
  const after = await sandbox.card('It was right');
  expect(buttonsOf(after)).not.toContain('change.review');
  await expect.poll(() => textsIn(sandbox, 'db-audit')).toContain('reviewed the break-glass use');
});

test('a pending break-glass review is on the Home tab of every user who may review it', async () => {
  const sandbox = await startTestSandbox();
  await useBreakGlass(sandbox, await waitingCard(sandbox));
  const home = async (as: string) => {
    await sandbox.slack.openHome({ as });
    await expect
      .poll(() => JSON.stringify(sandbox.slack.clientState(as).home))
      .toContain('All commands…');
    return JSON.stringify(sandbox.slack.clientState(as).home);
  };
  for (const someone of [BEN, CLEO, GUS])
    expect(await home(someone)).toContain('Needs your answer (1)');
  for (const someone of [ANA, DORA]) expect(await home(someone)).not.toContain('Needs your answer');
});
