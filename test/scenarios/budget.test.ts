import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { DORA } from '../harness/users.ts';
import { announced, scanAt, withSpike } from './anomaly-scan.ts';

const PROD = { name: 'production', on: { tags: ['prod'] }, notify: '#db-costs' };

function withBudget(monthlyCredits: number, more: object = {}) {
  return (file: object) => ({ ...file, budgets: [{ ...PROD, monthlyCredits, ...more }] });
}

async function spentOf(sandbox: TestSandbox): Promise<string> {
  await sandbox.slack.command(DORA, 'ops', '/cost budget');
  return textOf(await sandbox.privateMessage(DORA, 'Budgets ·'));
}

test('/cost budget shows what is spent and the forecast', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(6_000) });
  const answer = await spentOf(sandbox);
  expect(answer).toMatch(/Spent.* \d+% · /);
  expect(answer).toContain('of 6,000');
  expect(answer).toMatch(/Forecast.* heading for [\d,]+ credits \([\d,]+–[\d,]+\)/);
});

test('a budget notifies once per threshold and month', async () => {
  const thresholds = [50, 80, 100];
  const sandbox = await startTestSandbox({
    organization: withSpike(400),
    yaml: withBudget(5_200, { thresholds }),
  });
  const spent = () =>
    announced(sandbox, 'Budget production').map(({ text }) => /(\d+)% spent|over/.exec(text)?.[0]);
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await expect.poll(spent).toEqual(['70% spent']);
  for (let day = 21; day <= 30; day += 1) await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  await expect.poll(() => announced(sandbox, 'November over: ')).toHaveLength(1);
});

test('a budget that is over is announced once, with the fact and without a forecast', async () => {
  const sandbox = await startTestSandbox({ organization: withSpike(400), yaml: withBudget(3_000) });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-21T07:00:00Z');
  await expect.poll(() => announced(sandbox, 'November over: 3,')).toHaveLength(1);
  await scanAt(sandbox, '2026-11-22T07:00:00Z');
  expect(announced(sandbox, 'Budget production')).toHaveLength(1);
});

test('while the report cannot be read no budget notifies', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(100) });
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  sandbox.clock.now = new Date('2026-11-20T12:02:00Z');
  const before = sandbox.cloud.count('usage cost');
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(sandbox, 'Budget')).toEqual([]);
});

test('a channel that is shared with another workspace gets no budget messages', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(100, { notify: '#shared-partners' }) });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-21T07:00:00Z');
  expect(announced(sandbox, 'Budget', 'shared-partners')).toEqual([]);
});
