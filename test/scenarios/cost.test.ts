import { expect, test } from 'vitest';
import { empty } from './asking.ts';
import { ANA, buttonsOf, DORA, openStage, textOf } from './stage.ts';

test('/cost shows the month so far, says what is not final, and offers more', async () => {
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
  ['/cost 2026-Q3 by month', '2026-08'],
  ['/cost mtd analytics-prod', 'analytics-prod · 1–19 Nov'],
  ['/cost 7d top 2', 'Other'],
])('%s is understood', async ([line = '', words = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  await stage.privateWord(ANA, words);
});

test.for([
  ['/cost lastmonth', 'last-month'],
  ['/cost 2026-11-05..2026-11-01', 'ends before it begins'],
  ['/cost 2027-01', 'lies in the future'],
  ['/cost 500d', 'more than 400 days'],
])('%s is not guessed at', async ([line = '', words = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  const answer = (await stage.privateWord(ANA, 'That is not clear')) ?? empty;
  expect(textOf(answer)).toContain(words);
});

test('the rows come as a file, to nobody but whoever asked', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/cost csv 7d');
  await stage.privateWord(ANA, 'costs-2026-11-13-2026-11-19.csv');
  const files = () => stage.slack.screen(ANA).messages.flatMap((message) => message.files);
  await expect
    .poll(() => files().map(({ name }) => name))
    .toContain('costs-2026-11-13-2026-11-19.csv');
  expect(stage.slack.screen(DORA).messages.flatMap((message) => message.files)).toEqual([]);
});

test('while the report cannot be read it says so, and never shows a zero', async () => {
  const stage = await openStage();
  stage.cloud.arm({ operation: 'usage cost', fault: '403', times: 20 });
  await stage.slack.command(ANA, 'ops', '/cost 2026-08');
  const answer = textOf((await stage.privateWord(ANA, 'cannot be read just now')) ?? empty);
  expect(answer).toContain('FORBIDDEN');
  expect(answer).not.toContain('0 credits');
});
