import { expect, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import { listedReplicas } from '../../src/ops/doctor-running.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { startDoctorSandbox } from './doctor-sandbox.ts';
import { line, namesOf } from './lines.ts';

test('next to a running bot all checks pass but that of the backup', async () => {
  const sandbox = await startDoctorSandbox();
  const at = await sandbox.start();
  await expect
    .poll(async () => (await sandbox.diagnose(at)).map(({ name }) => name))
    .toContain('replica 1');
  const lines = await sandbox.diagnose(at);
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect(namesOf(lines, 'warning')).toEqual(['backup']);
  expect(line(lines, 'this machine')?.says).toContain('is ready');
  expect(line(lines, 'replica 1')?.says).toContain('1.0.0, running since');
});

test('another process on the port is not taken for Signalbox', async () => {
  const sandbox = await startDoctorSandbox();
  const { port } = new URL(sandbox.alerts.url);
  expect(line(await sandbox.diagnose({ PORT: port }), 'this machine')?.status).toBe('failed');
});

test('a bot that does not run is skipped', async () => {
  const idle = await startDoctorSandbox();
  const PORT = String(await freePort());
  expect(line(await idle.diagnose({ PORT }), 'this machine')?.status).toBe('skipped');

  const sandbox = await startDoctorSandbox({ delivery: 'socket' });
  const lines = await sandbox.diagnose(await sandbox.start());
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect(line(lines, 'delivery')?.says).toContain('Socket Mode');
});

const MINUTE_MS = 60_000;
const replica = (release: string, silentMs = 0) => ({
  ...{ id: release, release, startedAt: NOON },
  seenAt: new Date(NOON.getTime() - silentMs),
});
const told = (...instances: ReturnType<typeof replica>[]) =>
  listedReplicas(
    { now: () => NOON, version: '1.0.0' },
    { ok: true, value: { instances, clock: null } },
  );

test('replicas of different releases are reported', () => {
  expect(line(told(replica('1.0.0'), replica('1.1.0')), 'replicas')).toMatchObject({
    status: 'warning',
    says: 'run different releases: 1.0.0, 1.1.0 (this doctor: 1.0.0)',
  });
  expect(namesOf(told(replica('1.0.0'), replica('1.0.0')), 'warning')).toEqual([]);
});

test('a silent replica is reported', () => {
  const lines = told(replica('1.0.0', 4 * MINUTE_MS));
  expect(line(lines, 'replica 1')?.says).toContain('silent for 4 minutes');
});
