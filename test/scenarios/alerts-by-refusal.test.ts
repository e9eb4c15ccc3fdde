import { once } from 'node:events';
import { onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { clientOf } from '../sandbox/slack/client.ts';
import { expectAlert, expectAlertAtRate, read, readUntil } from './alert-faults.ts';

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
  expectAlert('SignalboxDigestMissed', before, during);
});

test('SignalboxMessageLost fires when Slack refuses to update a card', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const before = await read(sandbox);
  sandbox.slack.admin.archive('db-approvals');
  await sandbox.press(BEN, card, 'change.approve');
  const isLost = (count: number) => count > 0;
  const during = await readUntil(sandbox, 'signalbox_messages_lost_total{kind="card"', isLost);
  expectAlert('SignalboxMessageLost', before, during);
});

test('SignalboxSlackRejected fires when the clock of the machine is wrong', async () => {
  const sandbox = await startTestSandbox({ slack: { signedAt: () => new Date(0) } });
  const before = await read(sandbox);
  await sandbox.slack.command(ANA, 'ops', '/service list');
  const after = await readUntil(sandbox, 'signalbox_deliveries_refused_total{reason="clock"', 1);
  expectAlertAtRate('SignalboxSlackRejected', { before, after });
});

test('SignalboxForeignConnections fires when another program uses the app token', async () => {
  const sandbox = await startTestSandbox({ delivery: 'socket' });
  const before = await read(sandbox);
  const { url = '' } = await clientOf(
    sandbox.slack,
    sandbox.slack.appToken,
  ).apps.connections.open();
  const other = new WebSocket(url);
  onTestFinished(() => other.terminate());
  await once(other, 'message');
  await sandbox.slack.refreshSockets({ reason: 'refresh_requested', closing: 'handshake' });
  const isCounted = (count: number) => count > 0;
  const during = await readUntil(sandbox, 'signalbox_slack_foreign_connections', isCounted);
  expectAlert('SignalboxForeignConnections', before, during);
});
