import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { addDays } from '../../src/base/time.ts';
import { chartPart, chartParts } from '../../src/costs/table.ts';
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

test('days that can still change are not final, and the axis names them', () => {
  const rows = [...daily('2026-11-14', [1, 2, 3]), ...daily('2026-11-17', [4], { locked: false })];
  expect(chartOf(rows, { first: '2026-11-14', last: '2026-11-17' })).toMatchObject({
    title: 'Credits per day',
    axis: '14–17 Nov (UTC) · not final: 17',
    points: [
      { label: '14', value: 1, isFinal: true },
      { label: '15', value: 2, isFinal: true },
      { label: '16', value: 3, isFinal: true },
      { label: '17', value: 4, isFinal: false },
    ],
  });
});

test('a day without data has no bar, and the title says so', () => {
  const rows = [...daily('2026-11-10', [1, 2]), ...daily('2026-11-13', [0, 3])];
  const chart = chartOf(rows, { first: '2026-11-10', last: '2026-11-14' });
  expect(chart?.title).toBe('Credits per day · no data for Thu 12 Nov');
  expect(chart?.points.map(({ label }) => label)).toEqual(['10', '11', '13', '14']);
  const few = daily('2026-11-01', [1, 1]);
  const more = [
    ...few,
    ...[4, 6, 8, 10, 12].flatMap((day) => daily(addDays('2026-11-01', day), [1])),
  ];
  expect(chartOf(more, { first: '2026-11-01', last: '2026-11-13' })?.title).toBe(
    'Credits per day · 6 days without data',
  );
});

test.for<[string, Span, string, readonly string[]]>([
  [
    'three weeks and two days are weeks',
    { first: '2026-10-28', last: '2026-11-19' },
    'Credits per week',
    ['28 Oct–1 Nov', '2 Nov', '9 Nov', '16–19 Nov'],
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
    expect(chart?.points.reduce((sum, { value }) => sum + value, 0)).toBe(length);
    expect(chart?.axis.length).toBeLessThanOrEqual(50);
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
    'Credits per week',
    'Credits per week',
    'Credits per month',
  ]);
  expect(titleBy('month', { first: '2026-10-12', last: '2026-10-20' })).toBe('Credits per day');
});

test('separate open days are not named in the axis', () => {
  const rows = [
    ...daily('2026-11-14', [1], { locked: false }),
    ...daily('2026-11-15', [2]),
    ...daily('2026-11-16', [3], { locked: false }),
  ];
  expect(chartOf(rows, { first: '2026-11-14', last: '2026-11-16' })).toMatchObject({
    axis: '14–16 Nov (UTC)',
    points: [
      { label: '14', isFinal: false },
      { label: '15', isFinal: true },
      { label: '16', isFinal: false },
    ],
  });
});

test.for<[string, Span, readonly string[]]>([
  ['a month to date of 20 days', { first: '2026-11-01', last: '2026-11-20' }, ['1–20 Nov']],
  [
    'a month to date of 21 days',
    { first: '2026-11-01', last: '2026-11-21' },
    ['1–15 Nov', '16–21 Nov'],
  ],
  ['a month', { first: '2026-10-01', last: '2026-10-31' }, ['1–15 Oct', '16–31 Oct']],
  ['30 days', { first: '2026-10-20', last: '2026-11-18' }, ['20 Oct – 3 Nov', '4–18 Nov']],
])('%s is shown by day', ([, span, axes]) => {
  const days = dayStates(daily('2026-10-01', Array(60).fill(2)), span);
  const charts = chartParts(days, span, TODAY).flatMap((part) =>
    part.kind === 'chart' ? [part] : [],
  );
  expect(charts.map(({ title }) => title)).toEqual(axes.map(() => 'Credits per day'));
  expect(charts.map(({ axis }) => axis)).toEqual(axes.map((axis) => `${axis} (UTC)`));
  const points = charts.flatMap((chart) => chart.points);
  expect(points.map(({ value }) => value)).toEqual(days.map(() => 2));
  expect(Math.max(...charts.map((chart) => chart.points.length))).toBeLessThanOrEqual(20);
});

test.for<[string, Span, TimeUnit | undefined]>([
  ['whole weeks', { first: '2026-10-19', last: '2026-11-15' }, undefined],
  ['41 days', { first: '2026-10-10', last: '2026-11-19' }, undefined],
  ['a month by week', { first: '2026-10-01', last: '2026-10-31' }, 'week'],
])('%s are one chart by week', ([, span, unit]) => {
  const days = dayStates(YEAR, span);
  const charts = chartParts(days, span, TODAY, unit);
  expect(charts).toHaveLength(1);
  expect(charts[0]).toMatchObject({ title: 'Credits per week' });
});

test('half a month without data has no chart', () => {
  const span = { first: '2026-11-01', last: '2026-11-21' };
  const days = dayStates(daily('2026-11-17', [1, 2, 3]), span);
  expect(chartParts(days, span, TODAY)).toMatchObject([{ points: [{}, {}, {}] }]);
});
