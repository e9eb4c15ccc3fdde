import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { measureAfter, measuredText } from '../../src/costs/measured-effect.ts';
import type { PriceList } from '../../src/maths/money.ts';
import type { DayValue } from '../../src/maths/rows.ts';

const CHANGED = '2026-11-20';

/** Fourteen days before, the day itself, and so many days after it, all of them final. */
function around(before: number, after: number, days = 7): readonly DayValue[] {
  const values = [...wave(before, 14), before, ...wave(after, days)];
  return values.map((value, index) => ({ day: addDays(CHANGED, index - 14), value, final: true }));
}

function wave(level: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => level * ([0.95, 1, 1.05][index % 3] ?? 1));
}

function said(
  series: readonly DayValue[],
  days: 3 | 7,
  estimate: Parameters<typeof measuredText>[1],
  prices: PriceList | null = null,
) {
  const result = measureAfter(series, CHANGED, days, null);
  return result && measuredText(result, estimate, { prices, today: '2026-11-28' });
}

test('half the size is shown with the estimate', () => {
  const estimate = { perDay: -12.5, share: -0.48 };
  expect(said(around(26, 13), 7, estimate)).toMatchInlineSnapshot(
    `"7 settled days later: compute 25.9 → 12.9 per day (−51%, 80% interval −48 to −52); estimate −48%."`,
  );
  expect(said(around(26, 13, 3), 3, { perDay: null, share: null })).toMatchInlineSnapshot(
    `"3 settled days later: compute 25.9 → 13.0 per day (−50%, 80% interval −46 to −54)."`,
  );
});

test('with a price, the compute of a day is shown in money as well', () => {
  const prices = [{ from: '2026-11-28', currency: 'EUR', perCredit: 350_000 }];
  expect(said(around(26, 13), 7, { perDay: -12.5, share: -0.48 }, prices)).toBe(
    '7 settled days later: compute 25.9 → 12.9 per day (€9.07 → €4.52, −51%, 80% interval −48 to −52); estimate −48%.',
  );
  expect(said(around(0, 40), 3, { perDay: 41.2, share: null }, prices)).toBe(
    '3 settled days later: compute 0 → 40.0 per day (€0.00 → €14.00); estimate +41.2 (+€14.42) per day.',
  );
});

test('an increase is shown as an ascending interval, and a multiple as a factor', () => {
  expect(said(around(10, 15), 7, { perDay: 5, share: 0.5 })).toMatchInlineSnapshot(
    `"7 settled days later: compute 10.0 → 14.9 per day (+48%, 80% interval +43 to +56); estimate +50%."`,
  );
  expect(said(around(10, 42), 7, { perDay: null, share: null })).toContain('(×4.2,');
});

test('a service that was stopped has no ratio, only a figure', () => {
  expect(said(around(0, 40), 3, { perDay: 41.2, share: null })).toMatchInlineSnapshot(
    `"3 settled days later: compute 0 → 40.0 per day; estimate +41.2 per day."`,
  );
});

test('a measurement waits for days that are not final', () => {
  const [open, ...others] = around(26, 13).toReversed();
  const series = [...others, ...(open ? [{ ...open, final: false }] : [])];
  expect(measureAfter(series, CHANGED, 7, null)).toBeNull();
  expect(measureAfter(series, CHANGED, 3, null)).toMatchObject({ days: 3 });
});

test('days at another size are not used as the state before', () => {
  expect(measureAfter(around(26, 13), CHANGED, 7, '2026-11-15')).toBeNull();
  const kept = measureAfter(around(26, 13), CHANGED, 7, '2026-11-12');
  expect(kept).toMatchObject({ days: 7 });
});

test('a service without cost before and after is not reported', () => {
  expect(measureAfter(around(0, 0), CHANGED, 7, null)).toBeNull();
});
