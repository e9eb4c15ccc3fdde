import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

test('/cost shows the month to date, the days that are not final, and buttons', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.ask(DORA, '/cost', 'credits so far');
  expect(textOf(answer)).toContain('1–19 Nov');
  expect(textOf(answer)).toContain('data_visualization');
  expect(textOf(answer)).toContain('analytics-prod');
  expect(textOf(answer)).toContain('warehouse main: storage + backup');
  expect(textOf(answer)).toContain('not final ');
  expect(buttonsOf(answer)).toContain('command.0');
});

const UNCLEAR: readonly (readonly [line: string, words: string, offer: string])[] = [
  ['/cost lastmonth', "There's no period", '/cost last-month'],
  ['/cost analytics-prd by day', 'service called “analytics-prd”', '/cost analytics-prod by day'],
  ['/cost tag prd 7d', 'no tag called “prd”', '/cost tag prod 7d'],
  ['/cost team=analytic', 'no team called “analytic”', '/cost team analytics'],
  ['/cost by service by metric', 'by service” and “by metric” can', '/cost by metric'],
  ['/cost csv 7d by day by month', "can't be combined. Choose one.", '/cost csv 7d by month'],
  ['/cost by teem', "Can't group by “teem”, only by service,", '/cost by team'],
  ['/cost csv 7d tag', 'end of the question is missing', '/cost csv 7d tag dev'],
  ['/cost 2026-11-05..2026-11-01', 'ends before it begins', '/cost 2026-11-01..2026-11-05'],
  ['/cost 2027-01', 'is in the future', '/cost 2026-11'],
  ['/cost 500d by day', 'too long: at most 400 days', '/cost 400d by day'],
  ['/cost qzxw by day', 'tag, team or service called “qzxw”', '/cost by day'],
];

test('the button to refresh an average asks for the average', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.answer(ANA, '/cost average last-week', 'credits per day');
  expect(answer).toMatch(/"cost [^"]*average[^"]* refresh"/);
});

test('an unclear question gets suggestions instead of a guess', async () => {
  const sandbox = await startTestSandbox();
  for (const [line, words, offer] of UNCLEAR) {
    const answer = await sandbox.nextAnswer(ANA, line, "I didn't understand that");
    expect(answer, line).toContain(words);
    expect(answer, line).toContain(`${offer.replace(/^\//, '')}"`);
  }
});

test('an overlong line is refused and repeated only in part', async () => {
  const sandbox = await startTestSandbox();
  const line = `/cost ${'x'.repeat(210)}`;
  const answer = await sandbox.answer(ANA, line, 'at most 200 characters');
  expect(answer).toContain(`${'x'.repeat(59)}…)`);
});

test('the rows come as a file that only the requester sees', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(ANA, '/cost csv 7d', 'costs-2026-11-13-2026-11-19.csv');
  const files = () => sandbox.slack.clientState(ANA).messages.flatMap((message) => message.files);
  await expect
    .poll(() => files().map(({ name }) => name))
    .toContain('costs-2026-11-13-2026-11-19.csv');
  expect(sandbox.slack.clientState(DORA).messages.flatMap((message) => message.files)).toEqual([]);
});
