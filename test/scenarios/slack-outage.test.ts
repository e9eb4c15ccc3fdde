import { expect, test } from 'vitest';
import { isCard } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const cards = ({ slack }: TestSandbox) => slack.messages('db-approvals').filter(isCard);

/** Makes Slack unreachable for this long; meanwhile messages are tried again. */
async function outage(sandbox: TestSandbox, minutes: number): Promise<void> {
  const { slack, clock } = sandbox;
  slack.setReachable(false);
  const end = clock.now.getTime() + minutes * 60_000;
  const pass = timeInSteps(sandbox, 3 * 60_000);
  const isOver = () => {
    pass();
    return clock.now.getTime() >= end;
  };
  await expect.poll(isOver).toBe(true);
  slack.setReachable(true);
}

test('a card whose post began an outage of 90 minutes is posted once after it', async () => {
  const sandbox = await startTestSandbox();
  const { slack } = sandbox;
  slack.failNext({ method: 'chat.postMessage', times: 1, how: 'server-error' });
  await slack.command(ANA, 'ops', '/service stop staging for the night');
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'staging?'), 'change.confirm');
  await expect.poll(() => slack.calls('chat.postMessage').length).toBeGreaterThan(0);
  await outage(sandbox, 90);
  expect(cards(sandbox)).toEqual([]);
  // The last attempt may fail, and its next one be stored, after the outage has ended.
  const pass = timeInSteps(sandbox, 60_000);
  const posted = () => {
    pass();
    return cards(sandbox).length;
  };
  await expect.poll(posted).toBe(1);
  const card = await sandbox.card('requests: stop staging');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(cards(sandbox)).toHaveLength(1);
});

test('a deleted card of a pending change is posted again, and its buttons work', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const first = await requestChange(sandbox);
  sandbox.slack.admin.deleteMessage('db-approvals', first.ts);
  await sandbox.restart();
  const second = await sandbox.card('requests: stop staging');
  expect(changeIdOf(second)).toBe(changeIdOf(first));
  await sandbox.press(BEN, second, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(cards(sandbox)).toHaveLength(1);
});
