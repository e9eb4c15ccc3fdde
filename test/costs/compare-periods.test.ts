import { expect, test } from 'vitest';
import { type Span, spanOfBoth } from '../../src/base/calendar.ts';
import { comparisonText } from '../../src/costs/comparison.ts';
import { seriesOf } from '../../src/maths/lines.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily, row, TODAY } from '../maths/rows.ts';

const WEEK = { first: '2026-11-13', last: '2026-11-19' };
const BEFORE = { first: '2026-11-06', last: '2026-11-12' };

const on = (day: string): Span => ({ first: day, last: day });

function said(rows: readonly CostRow[], now: Span = WEEK, before: Span = BEFORE, selector = {}) {
  const series = seriesOf(rows, selector, spanOfBoth(now, before));
  return comparisonText({ now, before, series }, TODAY);
}

const FINAL = daily('2026-11-06', [10, 10, 10, 10, 10, 10, 10, 12, 12, 12, 12, 12]);

test('if all days count, the earlier sum is shown with the change', () => {
  const rows = [...FINAL, ...daily('2026-11-18', [12, 12])];
  expect(said(rows)).toBe('+20% vs 6–12 Nov (70.0).');
});

test('if only some days count, their number and both of their sums are shown', () => {
  const rows = [...FINAL, ...daily('2026-11-18', [90, 90], { locked: false })];
  expect(said(rows)).toBe('+20% vs 6–12 Nov, on 5 of 7 days: 60.0, was 50.0.');
});

test('months are compared with any weekdays, and the answer says so', () => {
  const rows = daily('2026-09-01', Array(61).fill(10));
  const october = { first: '2026-10-01', last: '2026-10-31' };
  const september = { first: '2026-09-01', last: '2026-09-30' };
  expect(said(rows, october, september)).toBe(
    '±0% vs September 2026, on 30 of 31 days: 300.0, was 300.0. The weekdays differ.',
  );
});

test('a comparison always answers: without a day that is final in both, as reported', () => {
  const open = [...FINAL, row({ day: '2026-11-19', credits: 16, locked: false })];
  expect(said(open, on('2026-11-19'), on('2026-11-12'))).toBe(
    '+60% vs Thu 12 Nov, as reported: 16.0, was 10.0.',
  );
  expect(said(FINAL, WEEK, { first: '2026-10-09', last: '2026-10-15' })).toBe(
    'No data of 9–15 Oct to compare with.',
  );
});

test('a day that is not over is a part beside a whole one, and the answer says so', () => {
  const rows = [...FINAL, row({ day: '2026-11-20', credits: 5, locked: false })];
  expect(said(rows, on('2026-11-20'), on('2026-11-13'))).toBe(
    '−58% vs Fri 13 Nov, as reported, today is not over: 5.0, was 12.0.',
  );
});
