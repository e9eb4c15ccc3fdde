import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

const TOO_MANY = 'You sent too many requests in a short time';

function answersWith(sandbox: TestSandbox, as: string, words: string): number {
  return sandbox.slack.clientState(as).messages.filter((each) => textOf(each).includes(words))
    .length;
}

onEngines(
  'a user who presses without end is notified once, also by two replicas',
  async (engine) => {
    const databaseUrl = await emptyUrl(engine);
    const sandbox = await startTestSandbox({ databaseUrl });
    const card = await requestChange(sandbox);
    // Cleo may not cancel Ana's change, so each press gets a separate refusal.
    const presses = () =>
      Promise.all(Array.from({ length: 20 }, () => sandbox.press(CLEO, card, 'change.cancel')));
    await presses();
    if (engine === 'postgres') {
      const { port } = await sandbox.replica();
      sandbox.slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
    }
    await presses();
    await expect.poll(() => answersWith(sandbox, CLEO, 'can do this')).toBe(30);
    await sandbox.privateMessage(CLEO, TOO_MANY);

    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 60_000);
    await sandbox.press(CLEO, card, 'change.cancel');
    await expect.poll(() => answersWith(sandbox, CLEO, 'can do this')).toBe(31);
    expect(answersWith(sandbox, CLEO, TOO_MANY)).toBe(1);
    // Other users are not affected.
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('staging is stopping');
  },
);

test('refused presses of Approve read the thread once in five seconds', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const reads = () => sandbox.slack.calls('conversations.replies').length;
  for (let n = 0; n < 10; n += 1) {
    await sandbox.press(DORA, card, 'change.approve');
    await waitUntilIdle(sandbox);
  }
  expect(reads()).toBe(1);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 5_000);
  await sandbox.press(DORA, card, 'change.approve');
  await expect.poll(reads).toBe(2);
});

test('the 61st command within a minute gets one refusal', async () => {
  const sandbox = await startTestSandbox();
  for (let n = 0; n < 70; n += 1) await sandbox.slack.command(ANA, 'ops', '/service help');
  await expect.poll(() => answersWith(sandbox, ANA, TOO_MANY)).toBe(1);
  await sandbox.ask(BEN, '/service list', 'analytics-prod');
});
