import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ALERT_READS, CLOUD_READS } from '../../sandbox/api/optional-reads.ts';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { createLog } from '../../src/observability/log.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { startTestSandbox, type TestSandboxOptions } from '../harness/test-sandbox.ts';
import { freshUrl } from '../storage/engines.ts';

const EXTENDED = (file: Record<string, never>) => ({ ...file, cloud: { reads: 'extended' } });
const OPTIONAL: readonly string[] = [...CLOUD_READS, ...ALERT_READS];
const MINUTE = 60_000;

/** What each step of a start with extended reads sends; newer servers need no read of a schedule. */
const PROBES = [
  ...['list services', 'get service', 'list backups', 'list pipes', 'list endpoints'],
  ...['list activities', 'list webhooks', 'list saved searches', 'list dashboards'],
];

async function startLogged(options: TestSandboxOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const sandbox = await startTestSandbox({ ...options, log: createLog({ level: 'warn' }, to) });
  const { cloud, alerts } = sandbox;
  const optional = () =>
    [...cloud.requests(), ...alerts.requests()].filter(({ operation }) =>
      OPTIONAL.includes(operation),
    );
  /** Lets a minute pass in small steps, each until its probe has arrived. */
  const passMinute = async (expected: readonly string[]) => {
    for (const operation of expected) {
      const count = () => optional().filter((one) => one.operation === operation).length;
      const pass = timeInSteps(sandbox, 1_000);
      await expect
        .poll(() => {
          pass();
          return count();
        })
        .toBeGreaterThan(0);
    }
  };
  const off = () => lines.filter(({ msg }) => msg === 'optional read off');
  return { ...sandbox, lines, optional, passMinute, off };
}

test('with cloud.reads: contract the bot sends no optional read', async () => {
  const { clock, wake, cloud, optional } = await startLogged();
  const reads = cloud.count('usage cost');
  clock.now = new Date(clock.now.getTime() + 60 * MINUTE);
  wake();
  await expect.poll(() => cloud.count('usage cost')).toBeGreaterThan(reads);
  expect(optional()).toEqual([]);
});

test('with cloud.reads: extended each capability is probed once in a start', async () => {
  const { passMinute, optional, off, clock, wake, cloud } = await startLogged({ yaml: EXTENDED });
  await passMinute(PROBES);
  const reads = cloud.count('usage cost');
  clock.now = new Date(clock.now.getTime() + 60 * MINUTE);
  wake();
  await expect.poll(() => cloud.count('usage cost')).toBeGreaterThan(reads);
  // The list of services is also read once per minute, for the names of discovered services.
  const sent = optional().map(({ operation }) => operation);
  expect([...new Set(sent)]).toEqual(PROBES);
  expect(sent.filter((name) => name !== 'list services')).toEqual(PROBES.slice(1));
  expect(off()).toEqual([]);
  expect(cloud.effects()).toEqual([]);
});

test('a refused capability is switched off with one log line, and a restart probes it again', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startLogged({ yaml: EXTENDED, databaseUrl });
  const { cloud, passMinute, off } = sandbox;
  cloud.setKey(CLOUD_KEY.id, { denied: ['list backups'] });
  cloud.behave({ absentReads: { 'list activities': 404 } });
  await passMinute(PROBES);
  const backups = { capability: 'backups', status: 403, permission: 'service:view-backups' };
  const activities = { capability: 'activities', status: 404, gap: 'no-route' };
  const warned = { api: 'cloud', level: 40 };
  const both = [
    { ...warned, ...backups },
    { ...warned, ...activities },
  ];
  await expect.poll(off).toMatchObject(both);
  expect([cloud.count('list backups'), cloud.count('list activities')]).toEqual([1, 1]);
  await sandbox.restart();
  cloud.setKey(CLOUD_KEY.id, { denied: [] });
  const before = cloud.count('list backups');
  const pass = timeInSteps(sandbox, 1_000);
  await expect
    .poll(() => {
      pass();
      return cloud.count('list backups');
    })
    .toBe(before + 1);
});

test('no probe is sent before the connection to Slack', async () => {
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
