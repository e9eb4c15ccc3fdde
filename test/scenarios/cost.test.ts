import { expect, test } from 'vitest';
import { empty } from './request.ts';
import { ANA, buttonsOf, DORA, openStage, textOf } from './stage.ts';

test('/cost shows the month to date, the days that are not final, and buttons', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/cost');
  const answer = (await stage.privateWord(DORA, 'credits so far')) ?? empty;
  expect(textOf(answer)).toContain('1–19 Nov');
  expect(textOf(answer)).toContain('data_visualization');
  expect(textOf(answer)).toContain('analytics-prod');
  expect(textOf(answer)).toContain('warehouse main: storage + backup');
  expect(textOf(answer)).toContain('are not final');
  expect(buttonsOf(answer)).toContain('command.0');
});

test.for([
  ['/cost last-month by day', 'October 2026'],
  ['/cost 7d vs prev', ' vs '],
  ['/cost yesterday by metric', 'compute'],
  ['/cost 2026-Q3 by month', 'Aug 2026'],
  ['/cost mtd analytics-prod', 'analytics-prod · 1–19 Nov'],
  ['/cost 7d top 2', 'Other'],
  ['/cost october', 'October 2026'],
  ['/cost last month by day', 'October 2026'],
])('%s is understood', async ([line = '', words = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  await stage.privateWord(ANA, words);
});

test.for([
  ['/cost lastmonth', "There's no period", '/cost last-month'],
  ['/cost analytics-prd by day', 'service called “analytics-prd”', '/cost analytics-prod by day'],
  ['/cost only analytics-prd', 'no service called “analytics-prd”', '/cost analytics-prod'],
  ['/cost staging analytics-prod', 'are two services', '/cost staging'],
  ['/cost by servce 7d', "Can't group by “servce”", '/cost by service 7d'],
  ['/cost 7d vs', '“vs” needs', '/cost 7d vs prev'],
  ['/cost 7d 30d by day', "can't be combined", '/cost 30d by day'],
  ['/cost 2026-11-05..2026-11-01', 'ends before it begins', '/cost 2026-11-01..2026-11-05'],
  ['/cost 2027-01', 'is in the future', '/cost 2026-11'],
  ['/cost 500d by day', 'too long: at most 400 days', '/cost 400d by day'],
  ['/cost frob by day', 'no period, grouping or service called “frob”', '/cost by day'],
  ['/cost zone=Mars/Phobos 7d', 'always UTC days', '/cost 7d'],
  ['/cost 7d vs 2020-01', 'more than 800 days back', 'by service vs prev'],
  ['/cost -1', 'no period, grouping or service called “-1”', 'cost mtd'],
  ['/cost 6 months by day', '“6 months”', '/cost 2026-05..2026-10 by day'],
  ['/cost budgets', "There's no", '/cost budget'],
  ['/cost csv 500d', 'too long: at most 400 days', '/cost csv 400d'],
  ['/cost csv stagin 7d', 'service called “stagin”', '/cost csv staging 7d'],
  ['/cost anomalies backtest 5000d', 'too long: at most 200 days', 'anomalies backtest 200d'],
  ['/cost anomalies backtst 30d', 'is not understood here', 'anomalies backtest 30d'],
])('%s gets suggestions instead of a guess', async ([line = '', words = '', offer = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  const answer = (await stage.privateWord(ANA, "I didn't understand that")) ?? empty;
  expect(textOf(answer)).toContain(words);
  expect(textOf(answer)).toContain(`${offer.replace(/^\//, '')}"`);
});

test('an overlong line is refused and repeated only in part', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', `/cost ${'x'.repeat(210)}`);
  const answer = textOf((await stage.privateWord(ANA, 'at most 200 characters')) ?? empty);
  expect(answer).toContain(`${'x'.repeat(59)}…)`);
});

test('the rows come as a file that only the requester sees', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/cost csv 7d');
  await stage.privateWord(ANA, 'costs-2026-11-13-2026-11-19.csv');
  const files = () => stage.slack.clientState(ANA).messages.flatMap((message) => message.files);
  await expect
    .poll(() => files().map(({ name }) => name))
    .toContain('costs-2026-11-13-2026-11-19.csv');
  expect(stage.slack.clientState(DORA).messages.flatMap((message) => message.files)).toEqual([]);
});

test('while the report cannot be read the answer shows the reason and no zero', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  await stage.slack.command(ANA, 'ops', '/cost 2026-08');
  const answer = textOf((await stage.privateWord(ANA, 'The usage report cannot be read')) ?? empty);
  expect(answer).toContain('FORBIDDEN');
  expect(answer).not.toContain('0 credits');
});
