import { expect, test } from 'vitest';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { archive } from '../../src/ops/audit.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { approve, START, STOP } from '../harness/following.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { KEY, oldTrail, segmentsFolder } from '../storage/old-trail.ts';

const DAY_MS = 86_400_000;

test('a replica verifies and sends changes while the command archives on PostgreSQL', async () => {
  const databaseUrl = await freshUrl('postgres');
  const earlier = await openDatabase(databaseUrl);
  await oldTrail(earlier);
  await earlier.close();
  const env = { SIGNALBOX_KEY: KEY.toString('base64') };
  const sandbox = await startTestSandbox({ databaseUrl, env });
  // The server needs some minutes to start or stop a service.
  const pass = () => {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 600_000);
  };
  await approve(sandbox, START, 'Start archive');
  const card = await requestChange(sandbox);

  const database = await openForTest(databaseUrl);
  const at = { ...database, now: async () => sandbox.clock.now };
  const retention = { changesMs: 60 * DAY_MS, costsMs: null };
  const options = { key: KEY, dryRun: false, version: 'test', segments: segmentsFolder() };
  const [lines] = await Promise.all([
    archive(at, { ...options, retention }),
    sandbox.press(BEN, card, 'change.approve'),
  ]);
  expect(lines[0]).toMatch(/^audit-\w+-1-8\.jsonl has the events 1 to 8\./);
  await sandbox.card('staging is stopping');

  // The replica read the archived events when it started.
  pass();
  await approve(sandbox, STOP.replace('stop', 'start'), 'Start staging');
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(2);
  expect((await verifyChain(database.db, KEY)).ok).toBe(true);
  expect(JSON.stringify(sandbox.slack.messages('db-audit'))).not.toContain('does not match');

  // The next start verifies from the checkpoint on.
  await sandbox.restart();
  pass();
  await approve(sandbox, STOP, 'Stop staging');
  await expect.poll(() => sandbox.cloud.effectCount('set state', STAGING)).toBe(3);
});
