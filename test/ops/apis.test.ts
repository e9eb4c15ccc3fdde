import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { shortLimitMs, startDoctorSandbox } from './doctor-sandbox.ts';
import { expectLine, line } from './lines.ts';

const CLOUD = 'cloud API';
const ALERTS = 'alerts API';

test.for<[string, string, Record<string, string>, string, string]>([
  [
    'a cloud key that is not known',
    CLOUD,
    { CLOUD_API_KEY_SECRET: 'another-secret-than-that' },
    'the key is rejected (401 UNAUTHORIZED: Key is not found)',
    'copy CLOUD_API_KEY_ID and CLOUD_API_KEY_SECRET from the console again',
  ],
  [
    'an alerts token that is not known',
    ALERTS,
    { ALERTS_API_TOKEN: 'another-token-than-that' },
    'the key is rejected (401 Unauthorized)',
    'copy ALERTS_API_TOKEN from the console again',
  ],
  [
    'an address without a server',
    CLOUD,
    { CLOUD_API_URL: 'http://127.0.0.1:1' },
    'is not reachable (ECONNREFUSED)',
    'check CLOUD_API_URL',
  ],
])('%s is reported', async ([, name, changes, says, fix]) => {
  const sandbox = await startDoctorSandbox();
  expectLine(await sandbox.diagnose(changes), name, ['failed', says, fix]);
});

test('an expired key and a key without permission have different lines', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.cloud.setKey(CLOUD_KEY.id, { active: false });
  expect(line(await sandbox.diagnose(), CLOUD)?.says).toContain('Key is not active');
  sandbox.cloud.setKey(CLOUD_KEY.id, { active: true, denied: ['usage cost'] });
  expect(line(await sandbox.diagnose(), CLOUD)).toMatchObject({
    says: expect.stringContaining('the key has no permission (403'),
    fix: expect.stringContaining('permission to read usage'),
  });
});

test('a cloud API that never answers is reported within the time limit', async () => {
  const sandbox = await startDoctorSandbox();
  const limitMs = await shortLimitMs();
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: 'hang', times: 3 });
  expect(line(await sandbox.diagnose({}, limitMs), CLOUD)).toMatchObject({
    status: 'failed',
    says: `did not answer in ${limitMs / 1_000} s`,
  });
});

test('an HTML page instead of the API refers to the address', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: 'html-200', times: 3 });
  expectLine(await sandbox.diagnose(), CLOUD, ['failed', '', 'CLOUD_API_URL']);
});

test('a rate limit that a running bot has used up is a warning', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.alerts.limitTo({ requests: 0, perMs: 60_000 });
  expectLine(await sandbox.diagnose(), ALERTS, ['warning', '', 'again in a minute']);
});

test('both APIs receive one read each', async () => {
  const sandbox = await startDoctorSandbox();
  await sandbox.diagnose();
  // A cloud that wants bare days refuses the first form of the question, and is asked once more.
  expect(sandbox.cloud.count('usage cost')).toBeLessThanOrEqual(2);
  expect(sandbox.alerts.count('list alerts')).toBe(1);
  const asked = [...sandbox.cloud.requests(), ...sandbox.alerts.requests()];
  expect(new Set(asked.map(({ operation }) => operation))).toEqual(
    new Set(['usage cost', 'list alerts']),
  );
  expect([...sandbox.cloud.effects(), ...sandbox.alerts.effects()]).toEqual([]);
});

test('a missing alerts API is reported as skipped', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose({ ALERTS_API_URL: '', ALERTS_API_TOKEN: '' });
  expect(line(lines, ALERTS)?.status).toBe('skipped');
});
