import { expect, test } from 'vitest';
import { announced, scanAt, withSpike } from './anomaly-scan.ts';
import { empty } from './request.ts';
import { DORA, openStage, type Stage, textOf } from './stage.ts';

const PROD = { name: 'production', on: { tags: ['prod'] }, notify: '#db-costs' };

function withBudget(monthlyCredits: number, more: object = {}) {
  return (file: object) => ({ ...file, budgets: [{ ...PROD, monthlyCredits, ...more }] });
}

async function spentOf(stage: Stage): Promise<string> {
  await stage.slack.command(DORA, 'ops', '/cost budget');
  return textOf((await stage.privateWord(DORA, 'Budgets ·')) ?? empty);
}

test('/cost budget shows the bar, the plan and the forecast', async () => {
  const stage = await openStage({ yaml: withBudget(6_000) });
  const answer = await spentOf(stage);
  expect(answer).toMatch(/█+░* \d+%/);
  expect(answer).toContain('of 6,000');
  expect(answer).toContain('of it not final');
  expect(answer).toContain('if usage does not change');
});

test('without a budget the answer names the configuration file', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/cost budget');
  await stage.privateWord(DORA, 'defines no budgets');
});

test('a budget notifies once per threshold and month', async () => {
  const thresholds = [50, 80, 100];
  const stage = await openStage({
    organization: withSpike(400),
    yaml: withBudget(5_200, { thresholds }),
  });
  const marks = () => announced(stage, ': past ').map(({ text }) => /past (\d+)%/.exec(text)?.[1]);
  await scanAt(stage, '2026-11-20T12:02:00Z');
  for (let day = 21; day <= 30; day += 1) await scanAt(stage, `2026-11-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100']);
  for (const day of ['01', '18', '19']) await scanAt(stage, `2026-12-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100', '50']);
});

test('a forecast above the amount is announced once, not again the next day', async () => {
  const stage = await openStage({ organization: withSpike(400), yaml: withBudget(3_000) });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  await scanAt(stage, '2026-11-21T07:00:00Z');
  await expect.poll(() => announced(stage, 'almost certainly over')).toHaveLength(1);
  await scanAt(stage, '2026-11-22T07:00:00Z');
  expect(announced(stage, 'almost certainly over')).toHaveLength(1);
});

test('while the report cannot be read no budget notifies', async () => {
  const stage = await openStage({ yaml: withBudget(100) });
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  stage.clock.now = new Date('2026-11-20T12:02:00Z');
  const before = stage.cloud.count('usage cost');
  stage.wake();
  await expect.poll(() => stage.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(stage, 'Budget')).toEqual([]);
});

test('a channel that is shared with another workspace gets no budget messages', async () => {
  const stage = await openStage({ yaml: withBudget(100, { notify: '#shared-partners' }) });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  await scanAt(stage, '2026-11-21T07:00:00Z');
  expect(announced(stage, 'Budget', 'shared-partners')).toEqual([]);
});
