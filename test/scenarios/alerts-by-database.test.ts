import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { folderForTest, signalbox } from '../cli/backup-files.ts';
import { requestChange } from '../harness/requests.ts';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN, NOON } from '../harness/users.ts';
import { emptyUrl, run } from '../storage/engines.ts';
import {
  expectAlert,
  expectAlertAtRate,
  expectNoAlertAtRate,
  metricIn,
  read,
  readUntil,
} from './alert-faults.ts';

test('SignalboxDatabaseUnreadable fires when the server of the database stops', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const proxy = await startTcpProxy(Number(new URL(databaseUrl).port));
  const sandbox = await startTestSandbox({ databaseUrl: proxy.through(databaseUrl) });
  const before = await read(sandbox);
  proxy.refuse();
  const during = await readUntil(sandbox, 'signalbox_database_readable', 0);
  expectAlert('SignalboxDatabaseUnreadable', before, during);
  proxy.forwardAgain();
  await readUntil(sandbox, 'signalbox_database_readable', 1);
});

test('SignalboxBackupOld fires two days after the first start, until a backup is made', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const at = new Date(Date.now() - 3 * 86_400_000);
  const sandbox = await startTestSandbox({ databaseUrl, at });
  const age = 'signalbox_backup_age_seconds';
  const young = await read(sandbox);
  sandbox.clock.now = new Date();
  const never = await readUntil(sandbox, age, (seconds) => seconds > 2 * 86_400);
  expectAlert('SignalboxBackupOld', young, never);
  const made = await signalbox(databaseUrl, 'backup', join(folderForTest(), 'copy'));
  expect(made).toMatchObject({ code: 0, err: '' });
  await readUntil(sandbox, age, (seconds) => seconds < 60);
  const recorded = await signalbox(databaseUrl, 'backup', '--made');
  expect(recorded).toEqual({ code: 0, err: '', out: 'The backup is recorded.\n' });
});

test('SignalboxInboxStuck fires when the database refuses that jobs are claimed', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  const before = await read(sandbox);
  await run(
    databaseUrl,
    `create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'claims are refused'; end $$;
    create trigger no_claim before update on job for each row
      when (new.lease_owner is not null) execute function refuse()`,
  );
  await sandbox.press(BEN, card, 'change.approve');
  sandbox.clock.now = new Date(NOON.getTime() + 180_000);
  const age = 'signalbox_queue_age_seconds{queue="inbox"';
  const during = await readUntil(sandbox, age, (seconds) => seconds > 120);
  expectAlert('SignalboxInboxStuck', before, during);
  await run(databaseUrl, 'drop trigger no_claim on job');
  sandbox.wake();
  await sandbox.card('staging is stopping');
});

test('SignalboxAcksSlow fires when another session delays the commits of presses', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  const clicks = 'signalbox_ack_seconds_count{kind="block_actions"';
  const start = await read(sandbox);
  const card = await requestChange(sandbox);
  const before = await readUntil(sandbox, clicks, 1);
  expectNoAlertAtRate({ before: start, after: before });

  const other = new pg.Client(databaseUrl);
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin; lock table event in exclusive mode');
  const pressed = sandbox.press(BEN, card, 'change.approve');
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and query like 'insert into event%' and query_start < clock_timestamp() - interval '1.1 s'`;
  const waitsLong = async () => (await run(databaseUrl, waiting)).length;
  await expect.poll(waitsLong, { interval: 100 }).toBeGreaterThan(0);
  await other.query('rollback');
  await pressed;
  const after = await readUntil(sandbox, clicks, (metricIn(before, clicks) ?? 0) + 1);
  expectAlertAtRate('SignalboxAcksSlow', { before, after });
});
