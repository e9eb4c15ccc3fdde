import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { addDays } from '../../src/base/time.ts';
import { chartPart } from '../../src/costs/table.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily, TODAY } from '../maths/rows.ts';

function chartOf(rows: readonly CostRow[], span: Span) {
  const part = chartPart(dayStates(rows, span), span, TODAY);
  return part?.kind === 'chart' ? part : null;
}

const YEAR = daily('2025-10-01', Array(416).fill(1));

test('a day without data has no bar', () => {
  const rows = [...daily('2026-11-10', [1, 2]), ...daily('2026-11-13', [0, 3])];
  const chart = chartOf(rows, { first: '2026-11-10', last: '2026-11-14' });
  expect(chart?.points.map(({ label }) => label)).toEqual(['10', '11', '13', '14']);
});

test('every bar has a unique label, for any length of the period', () => {
  for (let length = 2; length <= 400; length += 1) {
    const span = { first: addDays('2026-11-19', 1 - length), last: '2026-11-19' };
    const chart = chartOf(YEAR, span);
    const labels = chart?.points.map(({ label }) => label) ?? [];
    expect(new Set(labels).size).toBe(labels.length);
    expect(labels.length).toBeLessThanOrEqual(20);
    expect(Math.max(...labels.map((label) => label.length))).toBeLessThanOrEqual(20);
    expect(chart?.points.length).toBe(Math.min(20, length));
    expect(chart?.axis.length).toBeLessThanOrEqual(50);
    expect(chart?.title.length).toBeLessThanOrEqual(50);
  }
});

test.for<[first: string, last: string, title: string, axis: string]>([
  ['2026-11-01', '2026-11-20', 'Credits per day', '1–20 Nov'],
  ['2026-11-01', '2026-11-21', 'Credits per day, last 20 of 21 days', '2–21 Nov'],
  ['2026-10-01', '2026-10-31', 'Credits per day, last 20 of 31 days', '12–31 Oct'],
  ['2026-10-07', '2026-11-19', 'Credits per day, last 20 of 44 days', '31 Oct – 19 Nov'],
])('%s to %s is one chart of at most 20 bars', ([first, last, title, axis]) => {
  const span = { first, last };
  const days = dayStates(daily('2026-10-01', Array(60).fill(2)), span);
  const chart = chartPart(days, span, TODAY);
  expect(chart).toMatchObject({ title, axis: `${axis} (UTC)` });
  expect(chart?.kind === 'chart' ? chart.points.length : 99).toBeLessThanOrEqual(20);
});
