import { expect, test } from 'vitest';
import { chartPart } from '../../src/cost-reports/cost-chart.ts';
import type { TimeUnit } from '../../src/costs/calendar/bucket.ts';
import type { Span } from '../../src/costs/calendar/calendar.ts';
import { addDays } from '../../src/costs/calendar/day.ts';
import { dayStates } from '../../src/costs/ledger/ledger.ts';
import type { CostRow } from '../../src/costs/ledger/row.ts';
import { daily, TODAY } from '../costs/rows.ts';

function chartOf(rows: readonly CostRow[], span: Span) {
  const part = chartPart(dayStates(rows, span), span, TODAY);
  return part?.kind === 'chart' ? part : null;
}

function labelsOf(rows: readonly CostRow[], span: Span) {
  return chartOf(rows, span)?.points.map(({ label }) => label);
}

const YEAR = daily('2025-10-01', Array(416).fill(1));

test('days that can still change are marked, and the axis says what the mark means', () => {
  const rows = [...daily('2026-11-14', [1, 2, 3]), ...daily('2026-11-17', [4], { locked: false })];
  expect(chartOf(rows, { first: '2026-11-14', last: '2026-11-17' })).toMatchObject({
    title: 'Credits per day',
    axis: '14–17 Nov (UTC) · * not final: 17',
    points: [
      { label: '14', value: 1 },
      { label: '15', value: 2 },
      { label: '16', value: 3 },
      { label: '17*', value: 4 },
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

test('no bar is lost and no label comes twice, however long the period', () => {
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

test('who asks for weeks or months gets bars of them, where that is more than one', () => {
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

test('days that are open here and there are marked in their labels alone', () => {
  const rows = [
    ...daily('2026-11-14', [1], { locked: false }),
    ...daily('2026-11-15', [2]),
    ...daily('2026-11-16', [3], { locked: false }),
  ];
  expect(chartOf(rows, { first: '2026-11-14', last: '2026-11-16' })).toMatchObject({
    axis: '14–16 Nov (UTC) · * not final',
    points: [{ label: '14*' }, { label: '15' }, { label: '16*' }],
  });
});
