import { expect, test } from 'vitest';
import { empty } from './asking.ts';
import { ANA, buttonsOf, DORA, openStage, textOf } from './stage.ts';

test('/cost shows the current month, its days that are not final, and more commands', async () => {
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
  ['/cost 7d vs prev', 'against'],
  ['/cost yesterday by metric', 'compute'],
  ['/cost 2026-Q3 by month', 'Aug 2026'],
  ['/cost mtd analytics-prod', 'analytics-prod · 1–19 Nov'],
  ['/cost 7d top 2', 'Other'],
  ['/cost october', 'October 2026'],
  ['/cost last month by day', 'October 2026'],
])('%s is parsed', async ([line = '', words = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  await stage.privateWord(ANA, words);
});

test.for([
  ['/cost lastmonth', 'I know no period', '/cost last-month'],
  ['/cost analytics-prd by day', 'service “analytics-prd”', '/cost analytics-prod by day'],
  ['/cost only analytics-prd', 'no service “analytics-prd”', '/cost analytics-prod'],
  ['/cost staging analytics-prod', 'are two services', '/cost staging'],
  ['/cost by servce 7d', 'cannot group by “servce”', '/cost by service 7d'],
  ['/cost 7d vs', 'After “vs” comes', '/cost 7d vs prev'],
  ['/cost 7d 30d by day', 'cannot both be', '/cost 30d by day'],
  ['/cost 2026-11-05..2026-11-01', 'ends before it begins', '/cost 2026-11-01..2026-11-05'],
  ['/cost 2027-01', 'lies in the future', '/cost 2026-11'],
  ['/cost 500d by day', 'too long: at most 400 days', '/cost 400d by day'],
  ['/cost frob by day', 'no period, grouping or service “frob”', '/cost by day'],
  ['/cost zone=Mars/Phobos 7d', 'always UTC days', '/cost 7d'],
  ['/cost 7d vs 2020-01', 'more than 800 days back', 'by service vs prev'],
  ['/cost -1', 'no period, grouping or service “-1”', 'cost mtd'],
  ['/cost 6 months by day', '“6 months”', '/cost 2026-05..2026-10 by day'],
  ['/cost budgets', 'I know no', '/cost budget'],
  ['/cost csv 500d', 'too long: at most 400 days', '/cost csv 400d'],
  ['/cost csv stagin 7d', 'service “stagin”', '/cost csv staging 7d'],
  ['/cost anomalies backtest 5000d', 'too long: at most 200 days', 'anomalies backtest 200d'],
  ['/cost anomalies backtst 30d', 'I do not understand', 'anomalies backtest 30d'],
])('for %s the nearest command is offered', async ([line = '', words = '', offer = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  const answer = (await stage.privateWord(ANA, 'That is not clear')) ?? empty;
  expect(textOf(answer)).toContain(words);
  expect(textOf(answer)).toContain(`${offer.replace(/^\//, '')}"`);
});

test('a command line that is too long is refused and repeated only in part', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', `/cost ${'x'.repeat(210)}`);
  const answer = textOf((await stage.privateWord(ANA, 'at most 200 characters')) ?? empty);
  expect(answer).toContain(`${'x'.repeat(59)}…)`);
});

test('the CSV file is sent only to the user who requested it', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/cost csv 7d');
  await stage.privateWord(ANA, 'costs-2026-11-13-2026-11-19.csv');
  const files = () => stage.slack.clientState(ANA).messages.flatMap((message) => message.files);
  await expect
    .poll(() => files().map(({ name }) => name))
    .toContain('costs-2026-11-13-2026-11-19.csv');
  expect(stage.slack.clientState(DORA).messages.flatMap((message) => message.files)).toEqual([]);
});

test('while the usage report cannot be read, an error is shown and never a zero', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  await stage.slack.command(ANA, 'ops', '/cost 2026-08');
  const answer = textOf((await stage.privateWord(ANA, 'The usage report cannot be read')) ?? empty);
  expect(answer).toContain('FORBIDDEN');
  expect(answer).not.toContain('0 credits');
});
