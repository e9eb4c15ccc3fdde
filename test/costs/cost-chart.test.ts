import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { addDays } from '../../src/base/time.ts';
import { chartPart } from '../../src/costs/table.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { TimeUnit } from '../../src/maths/lines.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily, TODAY } from '../maths/rows.ts';

function chartOf(rows: readonly CostRow[], span: Span) {
  const part = chartPart(dayStates(rows, span), span, TODAY);
  return part?.kind === 'chart' ? part : null;
}

function labelsOf(rows: readonly CostRow[], span: Span) {
  return chartOf(rows, span)?.points.map(({ label }) => label);
}

const YEAR = daily('2025-10-01', Array(416).fill(1));

test('a day without data has no bar', () => {
  const rows = [...daily('2026-11-10', [1, 2]), ...daily('2026-11-13', [0, 3])];
  const chart = chartOf(rows, { first: '2026-11-10', last: '2026-11-14' });
  expect(chart?.points.map(({ label }) => label)).toEqual(['10', '11', '13', '14']);
});

test.for<[string, Span, string, readonly string[]]>([
  [
    'six weeks and two days are weeks',
    { first: '2026-10-07', last: '2026-11-19' },
    'Credits per week',
    ['7–11 Oct', '12 Oct', '19 Oct', '26 Oct', '2 Nov', '9 Nov', '16–19 Nov'],
  ],
  [
    'half a year is months',
    { first: '2026-06-15', last: '2026-11-19' },
    'Credits per month',
    ['Jun 15–30', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov 1–19'],
  ],
])('%s, and the parts among them say which', ([, span, title, labels]) => {
  expect(chartOf(YEAR, span)?.title).toBe(title);
  expect(labelsOf(YEAR, span)).toEqual(labels);
});

test('every bar has a unique label, for any length of the period', () => {
  for (let length = 2; length <= 400; length += 1) {
    const span = { first: addDays('2026-11-19', 1 - length), last: '2026-11-19' };
    const chart = chartOf(YEAR, span);
    const labels = chart?.points.map(({ label }) => label) ?? [];
    expect(new Set(labels).size).toBe(labels.length);
    expect(labels.length).toBeLessThanOrEqual(20);
    expect(Math.max(...labels.map((label) => label.length))).toBeLessThanOrEqual(20);
    const isPart = chart?.title.startsWith('Credits per day, last 20 of');
    expect(chart?.points.reduce((sum, { value }) => sum + value, 0)).toBe(isPart ? 20 : length);
    expect(chart?.axis.length).toBeLessThanOrEqual(50);
    expect(chart?.title.length).toBeLessThanOrEqual(50);
  }
});

test('a question by week or month has bars of weeks or months, if there are several', () => {
  const autumn = { first: '2026-10-10', last: '2026-11-08' };
  const states = dayStates(YEAR, autumn);
  const titleBy = (unit: TimeUnit, span = autumn) => {
    const part = chartPart(states, span, TODAY, unit);
    return part?.kind === 'chart' ? part.title : null;
  };
  expect((['day', 'week', 'month'] as const).map((unit) => titleBy(unit))).toEqual([
    'Credits per day, last 20 of 30 days',
    'Credits per week',
    'Credits per month',
  ]);
  expect(titleBy('month', { first: '2026-10-12', last: '2026-10-20' })).toBe('Credits per day');
});

test.for<[string, Span, string, string]>([
  [
    'a month to date of 20 days',
    { first: '2026-11-01', last: '2026-11-20' },
    'Credits per day',
    '1–20 Nov',
  ],
  [
    'a month to date of 21 days',
    { first: '2026-11-01', last: '2026-11-21' },
    'Credits per day, last 20 of 21 days',
    '2–21 Nov',
  ],
  [
    'a month',
    { first: '2026-10-01', last: '2026-10-31' },
    'Credits per day, last 20 of 31 days',
    '12–31 Oct',
  ],
  [
    'four weeks',
    { first: '2026-10-19', last: '2026-11-15' },
    'Credits per week',
    '19 Oct – 15 Nov',
  ],
  ['44 days', { first: '2026-10-07', last: '2026-11-19' }, 'Credits per week', '7 Oct – 19 Nov'],
])('%s is one chart of at most 20 bars', ([, span, title, axis]) => {
  const days = dayStates(daily('2026-10-01', Array(60).fill(2)), span);
  const chart = chartPart(days, span, TODAY);
  expect(chart).toMatchObject({ title, axis: `${axis} (UTC)` });
  expect(chart?.kind === 'chart' ? chart.points.length : 99).toBeLessThanOrEqual(20);
});

test('a month by week is bars of weeks', () => {
  const span = { first: '2026-10-01', last: '2026-10-31' };
  expect(chartPart(dayStates(YEAR, span), span, TODAY, 'week')).toMatchObject({
    title: 'Credits per week',
  });
});
