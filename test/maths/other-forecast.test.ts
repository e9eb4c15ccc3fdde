import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, daysBetween, weekdayOf } from '../../src/base/time.ts';
import { forecastSpan } from '../../src/maths/forecast.ts';
import { otherForecast } from './other-forecast.ts';
import { chance } from './synthetic.ts';

const TODAY = '2026-11-20';
const SPANS = {
  month: { first: '2026-11-01', last: '2026-11-30' },
  week: { first: '2026-11-16', last: '2026-11-22' },
  quarter: { first: '2026-10-01', last: '2026-12-31' },
  year: { first: '2026-01-01', last: '2026-12-31' },
};

/** Weekdays with a shape, noise, spikes, a shift of the level, and days without data. */
const history = fc.record({
  days: fc.integer({ min: 24, max: 400 }),
  level: fc.integer({ min: 5, max: 5_000 }),
  weekend: fc.constantFrom(1, 1, 0.4, 0.05),
  noise: fc.constantFrom(0.03, 0.4),
  shift: fc.record({ days: fc.integer({ min: 0, max: 14 }), factor: fc.constantFrom(0.6, 1.1, 2) }),
  // Noise in all values: without any, rounding decides whether half of them are equal.
  seed: fc.nat(1_000_000),
  open: fc.integer({ min: 0, max: 4 }),
  unit: fc.constantFrom(...(['month', 'week', 'quarter', 'year'] as const)),
});

test('the forecast and its range are those of another computation from the page of formulas', () => {
  fc.assert(
    fc.property(history, ({ days, level, weekend, noise, shift, seed, open, unit }) => {
      const random = chance(seed);
      const reported = daysBetween(addDays(TODAY, -days), addDays(TODAY, -1 - open)).flatMap(
        (day, index, all) => {
          const draw = random();
          if (draw > 0.97) return [];
          const factor = index >= all.length - shift.days ? shift.factor : 1;
          const usual = level * (weekdayOf(day) > 4 ? weekend : 1) * factor;
          const spike = draw > 0.94 ? 3 : 1;
          return [{ day, value: usual * spike * (1 + noise * (draw - 0.5)), final: true }];
        },
      );
      const values = new Map(reported.map(({ day, value }) => [day, value]));
      const others = (first: string, last: string) =>
        daysBetween(first, last).map((day) => ({
          weekday: weekdayOf(day),
          value: values.get(day),
        }));
      const span = SPANS[unit];
      const begin = reported[0]?.day ?? TODAY;
      const forecast = forecastSpan(reported, span, TODAY);
      if (!forecast.ok) throw new Error(forecast.why);
      const expected = otherForecast(
        others(begin, addDays(TODAY, -1)),
        others(begin > span.first ? begin : span.first, span.last),
      );
      for (const figure of ['total', 'low', 'high'] as const) {
        // A low figure of 0 has no ratio.
        if (forecast[figure] === expected[figure]) continue;
        expect(forecast[figure] / expected[figure]).toBeCloseTo(1, 9);
      }
    }),
    { numRuns: 150, endOnFailure: true },
  );
});
