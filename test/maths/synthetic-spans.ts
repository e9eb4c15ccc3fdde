import type { Span } from '../../src/base/calendar.ts';
import { lengthOf } from '../../src/base/calendar.ts';
import { addDays, dayNumber } from '../../src/base/time.ts';
import { forecastSpan } from '../../src/maths/forecast.ts';
import { type Chance, chance, finalDays, mixedKind, syntheticLine, walk } from './synthetic.ts';
import { COMMON, type Guessed, HISTORY, LINES, sum } from './synthetic-months.ts';

/** The quarter and the year of which a forecast is tested. */
export const LONG_SPANS = {
  quarter: { first: '2026-07-01', last: '2026-09-30' },
  year: { first: '2026-01-01', last: '2026-12-31' },
} as const satisfies Readonly<Record<string, Span>>;

/**
 * The forecasts of a quarter or year on one of its days, each for another organisation with at least
 * 56 days of history. `trending`: whether a quarter of the lines grows or shrinks for the whole span.
 */
export function longGuesses(
  seed: number,
  organizations: number,
  { span, elapsed, trending }: { span: Span; elapsed: number; trending: boolean },
): readonly Guessed[] {
  const random = chance(seed);
  const first = addDays(span.first, -HISTORY);
  const today = addDays(span.first, elapsed);
  return Array.from({ length: organizations }, () => {
    const values = organization(random, HISTORY + lengthOf(span), trending);
    const known = finalDays(values.slice(0, dayNumber(today) - dayNumber(first)), first);
    const forecast = forecastSpan(known, span, today);
    if (!forecast.ok) throw new Error(`no forecast: ${forecast.why}`);
    const actual = sum(values.slice(HISTORY));
    const { total, low, high } = forecast;
    return { error: Math.abs(total - actual) / actual, within: low <= actual && actual <= high };
  });
}

function organization(random: Chance, days: number, trending: boolean): readonly number[] {
  const first = addDays(LONG_SPANS.year.first, -HISTORY);
  const lines = Array.from({ length: LINES }, () =>
    syntheticLine(random, mixedKind(random), first, days, trending ? undefined : 0),
  );
  const common = walk(random, COMMON, days);
  return common.map((factor, day) => factor * sum(lines.map(({ values }) => values[day] ?? 0)));
}
