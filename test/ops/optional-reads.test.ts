import { expect, test } from 'vitest';
import { ALERT_READS, CLOUD_READS } from '../../sandbox/api/optional-reads.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { type DoctorSandboxOptions, shortLimitMs, startDoctorSandbox } from './doctor-sandbox.ts';
import { expectLine, line, namesOf } from './lines.ts';

const extended = { reads: 'extended' };
const EXTENDED: DoctorSandboxOptions = { yaml: (file) => ({ ...file, cloud: extended }) };
const CAPABILITIES = [
  ...['services', 'service', 'backups', 'pipes', 'private-endpoints', 'schedule'],
  ...['activities', 'webhooks', 'saved-searches', 'dashboards'],
];
const OPTIONAL: readonly string[] = [...CLOUD_READS, ...ALERT_READS];

test('with cloud.reads: contract the doctor sends no optional read and has no line of one', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose();
  expect(CAPABILITIES.flatMap((name) => line(lines, name) ?? [])).toEqual([]);
  const sent = [...sandbox.cloud.requests(), ...sandbox.alerts.requests()];
  expect(sent.filter(({ operation }) => OPTIONAL.includes(operation))).toEqual([]);
});

test('a live server has a line for each capability, and nothing is changed', async () => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  const lines = await sandbox.diagnose();
  for (const name of CAPABILITIES) {
    expect(line(lines, name)).toMatchObject({ status: 'ok', says: 'available' });
  }
  expect(line(lines, 'cloud key')).toMatchObject({ status: 'ok', says: 'has the roles Admin' });
  expect(namesOf(lines, 'failed')).toEqual([]);
  expect([...sandbox.cloud.effects(), ...sandbox.alerts.effects()]).toEqual([]);
  const statuses = sandbox.cloud.requests().map(({ status }) => status);
  expect(statuses).not.toContain(429);
});

test('a refused read names its permission and a role, and the doctor still passes', async () => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: ['list backups', 'get key'] });
  sandbox.cloud.behave({ absentReads: { 'list activities': 405 } });
  const lines = await sandbox.diagnose();
  expect(line(lines, 'backups')).toMatchObject({
    status: 'warning',
    says: 'off: the API key has no permission to read it (403)',
    fix: expect.stringContaining(
      'the permission service:view-backups, for example with the role Basic service reader',
    ),
  });
  expect(line(lines, 'activities')).toMatchObject({
    status: 'skipped',
    says: 'off: the server does not have this read (405)',
  });
  expectLine(lines, 'cloud key', ['skipped', 'its roles are not shown']);
  expect(namesOf(lines, 'failed')).toEqual([]);
});

test('a server with the contract only has every read off', async () => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  sandbox.cloud.profile('contract');
  sandbox.alerts.profile('docs');
  const lines = await sandbox.diagnose();
  for (const name of CAPABILITIES) {
    expect(line(lines, name)).toMatchObject({
      status: 'skipped',
      says: expect.stringMatching(/^off: .*\(404\)$/),
    });
  }
  expect(namesOf(lines, 'failed')).toEqual([]);
});

test.for<[string, string, string]>([
  ['2026-01-01T00:00:00Z', 'failed', 'it has expired'],
  ['soon', 'warning', 'it expires in 13 days'],
  ['later', 'ok', 'it expires in 40 days'],
])('a key that expires %s', async ([when, status, says]) => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  const days = { soon: 13, later: 40 }[when];
  const expireAt =
    days === undefined ? when : new Date(Date.now() + days * 86_400_000).toISOString();
  sandbox.cloud.setKey(CLOUD_KEY.id, { expireAt });
  const found = line(await sandbox.diagnose(), 'cloud key');
  expect(found).toMatchObject({ status, says: expect.stringContaining(says) });
});

test('without an answer of the cloud API, no optional read is sent', async () => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  const lines = await sandbox.diagnose({ CLOUD_API_KEY_SECRET: 'another-secret-than-that' });
  expect(line(lines, 'not checked')?.says).toBe('the cloud API could not be read');
  const sent = sandbox.cloud.requests().map(({ operation }) => operation);
  expect(sent.filter((operation) => OPTIONAL.includes(operation))).toEqual([]);
});

test('a slow read is not checked, and the others are', async () => {
  const sandbox = await startDoctorSandbox(EXTENDED);
  const limitMs = await shortLimitMs(EXTENDED);
  sandbox.cloud.injectFault({ operation: 'list pipes', fault: 'hang', times: 3 });
  const lines = await sandbox.diagnose({}, limitMs);
  expect(line(lines, 'pipes')).toMatchObject({
    status: 'skipped',
    says: 'not checked: the server did not answer in time',
  });
  expect(line(lines, 'backups')?.status).toBe('ok');
});

test('a wrong organization is named with the one of the key', async () => {
  const yaml: DoctorSandboxOptions['yaml'] = (file) => ({
    ...file,
    cloud: extended,
    organization: { ...Object(file.organization), id: '00000000-0000-4000-8000-000000000000' },
  });
  const sandbox = await startDoctorSandbox({ yaml });
  expectLine(await sandbox.diagnose(), 'cloud API', [
    'failed',
    '',
    `the key belongs to ${ORGANIZATION.id}`,
  ]);
});
