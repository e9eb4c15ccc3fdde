import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPeriod } from '../../src/costs/period.ts';
import type { Question } from '../../src/costs/question.ts';
import { readQuestion } from '../../src/costs/words.ts';
import { TODAY } from './rows.ts';

const NAMES = ['analytics-prod', '2026-archive', 'two words'];
const isName = (text: string) => NAMES.includes(text);

function read(typed: string) {
  return readQuestion(typed.split(' ').filter(Boolean), TODAY, isName);
}

function period(text: string) {
  const reading = readPeriod(text, TODAY);
  if (!reading.ok) throw new Error(text);
  return reading.period;
}

const PLAIN: Question = {
  period: period('mtd'),
  by: 'service',
  versus: null,
  top: null,
  finalOnly: false,
  only: null,
};

test.for<[string, Partial<Question>]>([
  ['', {}],
  ['7d', { period: period('7d') }],
  ['by day', { by: 'day' }],
  ['By Warehouse MTD', { by: 'warehouse' }],
  ['vs prev', { versus: 'prev' }],
  ['last-week vs last-week', { period: period('last-week'), versus: 'last-week' }],
  ['vs 2026-09 last-month', { period: period('last-month'), versus: period('2026-09') }],
  ['top 5', { top: 5 }],
  ['final', { period: period('final') }],
  ['final 30d', { period: period('30d'), finalOnly: true }],
  ['final by metric', { period: period('final'), by: 'metric' }],
  ['analytics-prod', { only: 'analytics-prod' }],
  ['2026-archive 7d', { only: '2026-archive', period: period('7d') }],
  ['two words by month', { only: 'two words', by: 'month' }],
  ['only unheard-of one top 3', { only: 'unheard-of one', top: 3 }],
  ['only 7d', { only: '7d' }],
  [
    '30d by entity vs prev top 10 final analytics-prod',
    {
      period: period('30d'),
      by: 'entity',
      versus: 'prev',
      top: 10,
      finalOnly: true,
      only: 'analytics-prod',
    },
  ],
])('"%s" is understood', ([typed, question]) => {
  expect(read(typed)).toEqual({ ok: true, question: { ...PLAIN, ...question } });
});

test.for<[string, string, string, readonly string[]]>([
  ['by servcie', 'no-grouping', 'servcie', ['by service']],
  ['by', 'no-grouping', '', []],
  ['vs', 'no-comparison', '', []],
  ['vs previous', 'no-comparison', 'previous', ['vs prev']],
  ['vs final', 'no-comparison', 'final', []],
  ['vs 2026-13', 'unknown-words', '2026-13', ['vs 2026-11']],
  ['top', 'no-number', '', ['top 5']],
  ['top many', 'no-number', 'many', ['top 5']],
  ['top 0', 'no-number', '0', ['top 5']],
  ['top 101', 'no-number', '101', ['top 5']],
  ['only', 'no-name', '', []],
  ['only by day', 'no-name', '', []],
  ['7d 30d', 'said-twice', '30d', []],
  ['by day by week', 'said-twice', 'by week', []],
  ['analytics-prod only other', 'said-twice', 'analytics-prod', []],
  ['2026-11-19..2026-11-01', 'reversed', '2026-11-19..2026-11-01', ['2026-11-01..2026-11-19']],
  ['last month', 'unknown-words', 'last month', ['last-month']],
  ['mtd service', 'unknown-words', 'service', ['by service']],
  ['analytics-prdo', 'unknown-words', 'analytics-prdo', []],
])('"%s" is refused as %s', ([typed, problem, text, nearest]) => {
  const reading = read(typed);
  expect(reading).toMatchObject({ ok: false, problem, text });
  if (reading.ok) return;
  expect(reading.nearest.slice(0, nearest.length)).toEqual(nearest);
});

test('the order of what is said does not matter', () => {
  const parts = ['30d', 'by day', 'vs prev', 'top 4', 'final', 'two words'];
  fc.assert(
    fc.property(fc.shuffledSubarray(parts, { minLength: parts.length }), (said) => {
      expect(read(said.join(' '))).toEqual(read(parts.join(' ')));
    }),
  );
});
