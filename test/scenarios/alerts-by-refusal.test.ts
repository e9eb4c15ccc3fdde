import { expect, test } from 'vitest';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { BEN, NOON } from '../harness/users.ts';
import { expectAlert, read, readUntil } from './alert-faults.ts';

function setClock({ clock, wake }: TestSandbox, now: Date): void {
  clock.now = now;
  wake();
}

test('SignalboxDigestMissed fires when the channel of a digest was archived', async () => {
  const digest = { channel: '#db-costs', at: '09:30', timezone: 'Europe/Berlin', days: 'weekdays' };
  const sandbox = await startTestSandbox({ yaml: (file) => ({ ...file, digests: [digest] }) });
  const before = await readUntil(sandbox, 'signalbox_digests{state="posted"', 1);
  sandbox.slack.admin.archive('db-costs');
  setClock(sandbox, new Date('2026-11-23T08:31Z'));
  const during = await readUntil(sandbox, 'signalbox_digests{state="missed"', 1);
  expectAlert('SignalboxDigestMissed', before, during, { labels: { state: 'missed' } });
});

test('SignalboxMessageLost fires when Slack refuses to update a card for 24 hours', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const before = await read(sandbox);
  const { slack } = sandbox;
  slack.admin.archive('db-approvals');
  const updates = slack.calls('chat.update').length;
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => slack.calls('chat.update').length).toBeGreaterThan(updates);
  let hours = 24;
  const isLost = (count: number) => {
    hours += 0.1;
    if (count === 0) setClock(sandbox, new Date(NOON.getTime() + hours * 3_600_000));
    return count > 0;
  };
  const during = await readUntil(sandbox, 'signalbox_messages_lost_total{kind="card"', isLost);
  expectAlert('SignalboxMessageLost', before, during);
});
