import { expect, test } from 'vitest';
import { empty } from './asking.ts';
import { DORA, openStage, type Stage, textOf } from './stage.ts';
import { lookAt, told, withSpike } from './watching.ts';

const PROD = { name: 'production', on: { tags: ['prod'] }, notify: '#db-costs' };

function withBudget(monthlyCredits: number, more: object = {}) {
  return (file: object) => ({ ...file, budgets: [{ ...PROD, monthlyCredits, ...more }] });
}

async function spentOf(stage: Stage): Promise<string> {
  await stage.slack.command(DORA, 'ops', '/cost budget');
  return textOf((await stage.privateWord(DORA, 'Budgets ·')) ?? empty);
}

test('/cost budget shows the bar, the pace and the forecast of the month', async () => {
  const stage = await openStage({ yaml: withBudget(6_000) });
  const answer = await spentOf(stage);
  expect(answer).toMatch(/█+░* \d+%/);
  expect(answer).toContain('of 6,000.0');
  expect(answer).toContain('are not final');
  expect(answer).toContain('if usage stays as it was lately');
});

test('/cost budget without budgets says where to configure one', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/cost budget');
  await stage.privateWord(DORA, 'names no budgets');
});

test('a budget reports each threshold once per month', async () => {
  const thresholds = [50, 80, 100];
  const stage = await openStage({
    organization: withSpike(400),
    yaml: withBudget(5_200, { thresholds }),
  });
  const marks = () =>
    told(stage, '% are spent').map(({ text }) => /(\d+) % are spent/.exec(text)?.[1]);
  await lookAt(stage, '2026-11-20T12:02:00Z');
  for (let day = 21; day <= 30; day += 1) await lookAt(stage, `2026-11-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100']);
  for (const day of ['01', '18', '19']) await lookAt(stage, `2026-12-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100', '50']);
});

test('a forecast above the amount is reported once', async () => {
  const stage = await openStage({ organization: withSpike(400), yaml: withBudget(3_000) });
  await lookAt(stage, '2026-11-20T12:02:00Z');
  await lookAt(stage, '2026-11-21T07:00:00Z');
  await expect.poll(() => told(stage, 'almost certain to be exceeded')).toHaveLength(1);
  await lookAt(stage, '2026-11-22T07:00:00Z');
  expect(told(stage, 'almost certain to be exceeded')).toHaveLength(1);
});

test('no budget is reported while the usage report cannot be read', async () => {
  const stage = await openStage({ yaml: withBudget(100) });
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  stage.clock.now = new Date('2026-11-20T12:02:00Z');
  const before = stage.cloud.count('usage cost');
  stage.wake();
  await expect.poll(() => stage.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(told(stage, 'Budget')).toEqual([]);
});

test('no budget is reported to a channel that is shared with another workspace', async () => {
  const stage = await openStage({ yaml: withBudget(100, { notify: '#shared-partners' }) });
  await lookAt(stage, '2026-11-20T12:02:00Z');
  await lookAt(stage, '2026-11-21T07:00:00Z');
  expect(told(stage, 'Budget', 'shared-partners')).toEqual([]);
});
