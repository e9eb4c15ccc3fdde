import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { announced, scanAt, withSpike } from './anomaly-scan.ts';

const PROD = { name: 'production', on: { tags: ['prod'] }, notify: '#db-costs' };

function withBudget(monthlyCredits: number, more: object) {
  return (file: object) => ({ ...file, budgets: [{ ...PROD, monthlyCredits, ...more }] });
}

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

test('a channel that is shared with another workspace gets no budget messages', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(100, { notify: '#shared-partners' }) });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-21T07:00:00Z');
  expect(announced(sandbox, 'Budget', 'shared-partners')).toEqual([]);
});
