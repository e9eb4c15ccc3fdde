import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, EMIL } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { announced, scanAt, WATCHED, withSpike } from './anomaly-scan.ts';

const MONDAY = -3;
const yaml = (file: object) => ({ ...file, digests: [WATCHED] });
const SPIKE = 'Unusual cost: analytics-prod';

async function spiked(): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({ organization: withSpike(MONDAY), yaml });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  return sandbox;
}

test('a severe cost is announced once, and who may list anomalies may note it as expected', async () => {
  const sandbox = await spiked();
  expect(announced(sandbox, 'Unusual')).toEqual([]);
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  const [alert] = announced(sandbox, SPIKE);
  expect(textOf(alert ?? NO_MESSAGE)).toContain('on Mon 23 Nov, +');
  expect(buttonsOf(alert ?? NO_MESSAGE)).toEqual(['incident.details', 'incident.expected']);
  for (const day of ['25', '26']) await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  expect(announced(sandbox, 'Unusual')).toHaveLength(1);

  await sandbox.press(EMIL, alert, 'incident.expected');
  await sandbox.privateMessage(EMIL, "You can't ");
  await sandbox.press(DORA, alert, 'incident.details');
  const details = await sandbox.privateMessage(DORA, 'Day (UTC), * not final');
  expect(textOf(details)).toContain('on Mon 23 Nov');
  await sandbox.ask(DORA, '/cost anomalies', 'analytics-prod');
  await sandbox.press(DORA, details, 'incident.expected');
  await sandbox.privateMessage(DORA, 'Noted as expected');
  await sandbox.ask(DORA, '/cost anomalies', 'Nothing unusual in');
});

test('an answer that the response URL refuses is sent as a direct message', async () => {
  const sandbox = await spiked();
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  sandbox.slack.failNext({ method: 'response_url', times: 5, how: { error: 'used_url' } });
  await sandbox.press(ANA, announced(sandbox, SPIKE)[0], 'incident.expected');
  const answer = await sandbox.privateMessage(ANA, 'Noted as expected');
  expect(answer?.channel).toBe('D0ANA00001');
});

test('while the report cannot be read nothing is announced, and nothing is lost', async () => {
  const sandbox = await spiked();
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 1 });
  sandbox.clock.now = new Date('2026-11-24T07:00:00Z');
  const before = sandbox.cloud.count('usage cost');
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(sandbox, 'Unusual')).toEqual([]);

  await scanAt(sandbox, '2026-11-24T07:20:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
});

test('two replicas on one database announce it once', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const organization = withSpike(MONDAY);
  const sandbox = await startTestSandbox({ databaseUrl, organization, yaml });
  const second = await sandbox.replica();
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  for (const day of ['24', '25']) {
    sandbox.clock.now = new Date(`2026-11-${day}T07:00:00Z`);
    second.wake();
    await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  }
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
});

test('the digest shows the unusual cost and the state of each budget', async () => {
  const budget = { name: 'production', monthlyCredits: 5_200, notify: '#db-costs' };
  const sandbox = await startTestSandbox({
    organization: withSpike(MONDAY),
    yaml: (file: object) => ({ ...yaml(file), budgets: [budget] }),
  });
  sandbox.clock.now = new Date('2026-11-24T07:00:00Z');
  await sandbox.slack.command(ANA, 'ops', '/cost digest preview');
  const digest = textOf(await sandbox.privateMessage(ANA, 'November over budget'));
  expect(digest).toContain('⚠ analytics-prod');
  expect(digest).toContain('incident.expected');
  expect(digest).toMatch(/production \d+% · November over: [\d,]+ of 5,200 spent/);
});
