import { monthOf as calendarMonth, monthSpan, type Span } from '../../base/calendar.ts';
import { type Day, dayNumber, daysBetween } from '../../base/time.ts';
import type { DayValue } from '../ledger/row.ts';
import { type LockAge, longestWait } from '../locking/lock-age.ts';
import { isSettled } from '../locking/open-day.ts';
import { errorsOf } from './forecast-error.ts';
import { levelOf, type SpendLevel } from './level.ts';
import { sum } from './robust.ts';
import { HISTORY_DAYS, LEAST_DAYS, type SettledDay, settledDays } from './series.ts';
import { factorOn } from './weekday.ts';

export type Forecast =
  | {
      readonly ok: true;
      /** Credits of the whole span, with the bounds of the interval of about 80%. */
      readonly total: number;
      readonly low: number;
      readonly high: number;
      /** Credits of the span as reported, including today and other days that are not final. */
      readonly soFar: number;
      readonly basis: ForecastBasis;
    }
  | {
      readonly ok: false;
      readonly why: 'too-few-settled-days' | 'settled-days-too-old';
      readonly settledDays: number;
    };

interface ForecastBasis extends Pick<SpendLevel, 'profile' | 'days' | 'shifted'> {
  /** Credits per day. */
  readonly level: number;
  readonly settledDays: number;
  /** Days of the span that are not settled, including future days. */
  readonly openDays: number;
  /** Half the width of the interval, as a share of the days that are not settled. */
  readonly error: number;
  /** Whether past forecasts show the error; with too few past days it is 30%. */
  readonly isMeasured: boolean;
}

/** The forecast of the UTC month of `today`. Source: docs/costs.md#forecast. */
export function forecastMonth(
  series: readonly DayValue[],
  today: Day,
  lockAge: LockAge | null = null,
): Forecast {
  return forecastSpan(series, monthSpan(calendarMonth(today)), today, lockAge);
}

/**
 * The cost of a span that contains `today`, in credits, if usage stays as in the last two weeks: settled
 * days + Σ over the other days of level · weekday factor. A day that is not settled is not part of
 * the level and counts as the larger of its value and its expected cost. `lockAge` limits how old the
 * last settled day may be.
 *
 * Interval of 80%: settled + open · (1 ± r), r = max(2%, Q80(|actual / predicted − 1|) · 1.25 ·
 * √max(1, h/14)), where h is the number of open days. Q80 is over the last 35 days from which this
 * method could have forecast 7 and 14 days (or h, if fewer are open); r is 30% if there are fewer
 * than five such days. The interval does not cover a shift of usage after today.
 * Source: docs/costs.md#forecast.
 */
export function forecastSpan(
  series: readonly DayValue[],
  span: Span,
  today: Day,
  lockAge: LockAge | null = null,
): Forecast {
  const reported = series.filter(({ day, value }) => day <= today && Number.isFinite(value));
  const known = settledDays(reported, HISTORY_DAYS);
  const why = unfit(known, today, lockAge);
  if (why) return { ok: false, why, settledDays: known.length };

  const level = levelOf(known);
  const { sure, open, openDays, soFar } = sumsOf(reported, level, span, today);
  const { share: error, isMeasured } = errorsOf(known)(openDays);
  const { profile, days, shifted } = level;
  return {
    ok: true,
    total: sure + open,
    low: sure + open * Math.max(0, 1 - error),
    high: sure + open * (1 + error),
    soFar,
    basis: {
      level: level.value,
      profile,
      days,
      shifted,
      settledDays: known.length,
      openDays,
      error,
      isMeasured,
    },
  };
}

/** Why these settled days support no forecast; null if they do. */
function unfit(known: readonly SettledDay[], today: Day, lockAge: LockAge | null) {
  const last = known.at(-1);
  if (!last || known.length < LEAST_DAYS) return 'too-few-settled-days';
  const age = dayNumber(today) - dayNumber(last.day);
  return age > longestWait(lockAge) ? 'settled-days-too-old' : null;
}

interface SpanSums {
  readonly sure: number;
  readonly open: number;
  readonly openDays: number;
  readonly soFar: number;
}

/** A day without data counts as not settled: its cost is unknown, not zero. */
function sumsOf(
  reported: readonly DayValue[],
  level: SpendLevel,
  span: Span,
  today: Day,
): SpanSums {
  const days = expectedDays(reported, level, span, today);
  const open = days.filter(({ isOpen }) => isOpen);
  const known = new Set(days.map(({ day }) => day));
  return {
    sure: sum(days.filter(({ isOpen }) => !isOpen).map(({ credits }) => credits)),
    open: sum(open.map(({ credits }) => credits)),
    openDays: open.length,
    soFar: sum(reported.filter(({ day }) => known.has(day)).map(({ value }) => value)),
  };
}

/** A day of a forecast: settled with its value, or open with the credits that are expected. */
interface ExpectedDay {
  readonly day: Day;
  readonly credits: number;
  readonly isOpen: boolean;
}

/** The days of the span from the first reported day on. `reported`: the days up to today. */
function expectedDays(
  reported: readonly DayValue[],
  level: SpendLevel,
  span: Span,
  today: Day,
): readonly ExpectedDay[] {
  const shown = new Map(reported.map((one) => [one.day, one]));
  const first = reported.reduce((least, { day }) => (day < least ? day : least), today);
  const days = daysBetween(span.first, span.last).filter((day) => day >= first);
  return days.map((day) => {
    const own = shown.get(day);
    if (own && isSettled(own)) return { day, credits: own.value, isOpen: false };
    const usual = level.value * factorOn(level.profile, day);
    return { day, credits: Math.max(own?.value ?? 0, usual), isOpen: true };
  });
}

export function daysOfMonth(day: Day): readonly Day[] {
  const { first, last } = monthSpan(calendarMonth(day));
  return daysBetween(first, last);
}
