import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { ANALYTICS, threadText } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';

const REASON = 'The shop is down and nobody of the leads answers';
const because = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });

const STOP = '/service stop analytics-prod it writes rubbish';

/** The card of a request that waits for two approvals. */
async function waitingCard(sandbox: TestSandbox) {
  await sandbox.confirm(ANA, STOP, 'Stop analytics-prod?');
  return sandbox.card('requests: stop analytics-prod');
}

async function useBreakGlass(sandbox: TestSandbox, pressed: { channel: string; ts: string }) {
  await sandbox.pressWithReason(ANA, pressed, 'change.break-glass', REASON);
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
  const line = threadText(sandbox, card.ts);
  expect(line).toContain('used break-glass');
  expect(line).toContain('S0DBLEADS01');
  expect(line).toContain(REASON);
});

test('break-glass works from the preview, which loses its buttons', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, STOP, 'Stop analytics-prod?');
  expect(buttonsOf(preview)).toEqual([
    'change.confirm',
    'change.edit',
    'change.cancel',
    'change.details',
    'change.break-glass',
  ]);
  await useBreakGlass(sandbox, preview);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(1);
  const seen = () => sandbox.slack.clientState(ANA).messages.filter(({ ephemeral }) => ephemeral);
  await expect.poll(() => seen().map(textOf).join()).toContain('shows the result');
  expect(seen().flatMap(buttonsOf)).toEqual([]);
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
  const times = { from: '2026-11-20T12:10Z', until: '2026-11-21T00:00Z' };
  const freezes = [{ ...times, on: { tags: ['prod'] }, reason: 'sale' }];
  const sandbox = await startTestSandbox({ yaml: (file) => ({ ...file, freezes }) });
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

test('another user reviews a break-glass change and records the result', async () => {
  const sandbox = await startTestSandbox();
  const ended = await useBreakGlass(sandbox, await waitingCard(sandbox));
  expect(buttonsOf(ended)).toContain('change.review');

  await sandbox.press(ANA, ended, 'change.review');
  await sandbox.privateMessage(ANA, 'You used break-glass, so someone else');
  await sandbox.press(DORA, ended, 'change.review');
  await sandbox.privateMessage(DORA, REFUSED.notAnApproverOf('@db-leads'));

  const words = 'It was right: the shop was back in a minute';
  await sandbox.pressWithReason(BEN, ended, 'change.review', words);
  await expect.poll(() => textsIn(sandbox, 'db-approvals')).toContain(words);
  const after = await sandbox.card('It was right');
  expect(buttonsOf(after)).not.toContain('change.review');
  await expect.poll(() => textsIn(sandbox, 'db-audit')).toContain('reviewed the break-glass use');
});
