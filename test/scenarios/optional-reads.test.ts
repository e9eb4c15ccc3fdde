import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ALERT_READS, CLOUD_READS } from '../../sandbox/api/optional-reads.ts';
import { createLog } from '../../src/base/log.ts';
import { startTestSandbox, type TestSandboxOptions } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const EXTENDED = (file: Record<string, never>) => ({ ...file, cloud: { reads: 'extended' } });
const OPTIONAL: readonly string[] = [...CLOUD_READS, ...ALERT_READS];
const MINUTE = 60_000;

async function startLogged(options: TestSandboxOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const sandbox = await startTestSandbox({ ...options, log: createLog({ level: 'warn' }, to) });
  const { cloud, alerts } = sandbox;
  const optional = () =>
    [...cloud.requests(), ...alerts.requests()].filter(({ operation }) =>
      OPTIONAL.includes(operation),
    );
  const off = () => lines.filter(({ msg }) => msg === 'optional read off');
  return { ...sandbox, optional, off };
}

test('with cloud.reads: contract the bot sends no optional read', async () => {
  const { clock, wake, cloud, optional } = await startLogged();
  const reads = cloud.count('usage cost');
  clock.now = new Date(clock.now.getTime() + 60 * MINUTE);
  wake();
  await expect.poll(() => cloud.count('usage cost')).toBeGreaterThan(reads);
  expect(optional()).toEqual([]);
});

test('with cloud.reads: extended a start reads only the list of services, and later the activities', async () => {
  const { optional, off, clock, wake, cloud } = await startLogged({ yaml: EXTENDED });
  const reads = cloud.count('usage cost');
  const read = () => [...new Set(optional().map(({ operation }) => operation))];
  // Once per minute, for the names of discovered services.
  await expect.poll(read).toEqual(['list services']);
  clock.now = new Date(clock.now.getTime() + 60 * MINUTE);
  wake();
  await expect.poll(() => cloud.count('usage cost')).toBeGreaterThan(reads);
  await expect.poll(read).toEqual(['list services', 'list activities']);
  expect(off()).toEqual([]);
  expect(cloud.effects()).toEqual([]);
});

test('the first read switches a missing one off with one log line, and a restart reads again', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startLogged({ yaml: EXTENDED, databaseUrl });
  const { cloud, slack, off } = sandbox;
  const list = async (words: string) => {
    await slack.command(ANA, 'ops', '/backup list analytics-prod');
    await sandbox.privateMessage(ANA, words);
  };
  cloud.behave({ absentReads: { 'list backups': 405 } });
  await list('the server does not have this read (405)');
  await list('the server does not have this read (405); off until Signalbox starts again');
  const backups = { capability: 'backups', status: 405, permission: 'service:view-backups' };
  expect(off()).toMatchObject([{ api: 'cloud', level: 40, gap: 'no-route', ...backups }]);
  expect(cloud.count('list backups')).toBe(1);
  await sandbox.restart();
  cloud.behave({ absentReads: {} });
  await list('Backups of analytics-prod');
});

test('no optional read is sent before the connection to Slack', async () => {
  const gate = Promise.withResolvers<void>();
  const sandbox = await startLogged({
    delivery: 'socket',
    sleep: (ms) => (ms >= MINUTE ? gate.promise : wait(0)),
  });
  const { slack, cloud, clock, wake, optional } = sandbox;
  await expect.poll(slack.connections).toBe(2);
  const limited = { how: 'rate-limited', retryAfterSeconds: 120 } as const;
  slack.failNext({ method: 'apps.connections.open', times: 1, ...limited });
  await slack.refreshSockets({ reason: null, which: 'all', closing: 'reset' });
  await expect.poll(slack.connections).toBe(0);
  expect(await sandbox.reload(EXTENDED)).toEqual({ ok: true });

  const reads = cloud.count('usage cost');
  clock.now = new Date(clock.now.getTime() + 60 * MINUTE);
  wake();
  await expect.poll(() => cloud.count('usage cost')).toBeGreaterThan(reads);
  expect(optional()).toEqual([]);
  gate.resolve();
  await expect.poll(slack.connections).toBe(2);
  wake();
  await expect.poll(optional).not.toEqual([]);
});
