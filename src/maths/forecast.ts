import { monthOf, monthSpan, type Span, within } from '../base/calendar.ts';
import { type Day, dayNumber, daysBetween } from '../base/time.ts';
import { isSettled, type LockAge, longestWait } from './days.ts';
import { type Money, moneyOf, moneyOver, moneySum, type PriceList } from './money.ts';
import { quantile, sum } from './numbers.ts';
import { type DayValue, microOf } from './rows.ts';
import {
  factorOn,
  HISTORY_DAYS,
  LEAST_DAYS,
  levelOf,
  type SettledDay,
  type SpendLevel,
  settledDays,
} from './statistics.ts';

// What a span costs in the end, with the interval in which past forecasts were right.

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
  return forecastSpan(series, monthSpan(monthOf(today)), today, lockAge);
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
  const { share: error, isMeasured } = errorOf(known, openDays);
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

/** A day without data counts as not settled: its cost is unknown, not zero. */
function sumsOf(reported: readonly DayValue[], level: SpendLevel, span: Span, today: Day) {
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

/** Half the width of the interval of a forecast. */
interface ForecastError {
  /** A share of the days that are not settled. */
  readonly share: number;
  /** Whether past days show it; with too few of them it is 30%. */
  readonly isMeasured: boolean;
}

const LEAST_ORIGINS = 5;
const LEAST_ERROR = 0.02;
const BLIND_ERROR = 0.3;
const WIDENING = 1.25;
/** The errors of longer spans are extended from this number of days. */
export const LONGEST_HORIZON = 14;
const HORIZONS = [7, LONGEST_HORIZON];

/** r of docs/costs.md#forecast. */
function errorOf(known: readonly SettledDay[], openDays: number): ForecastError {
  const longest = Math.min(LONGEST_HORIZON, Math.max(1, openDays));
  const horizons = new Set(HORIZONS.map((horizon) => Math.min(horizon, longest)));
  const errors = pastErrors(known, [...horizons]);
  if (errors.length < LEAST_ORIGINS) return { share: BLIND_ERROR, isMeasured: false };
  const widened = WIDENING * Math.sqrt(Math.max(1, openDays / LONGEST_HORIZON));
  return { share: Math.max(LEAST_ERROR, quantile(errors, 0.8) * widened), isMeasured: true };
}

/** The past days from which forecasts are repeated, for each horizon. */
const ORIGINS = 35;

function pastErrors(known: readonly SettledDay[], horizons: readonly number[]): readonly number[] {
  const levels = known.map((_, origin) => {
    const isLate = origin > known.length - Math.min(...horizons);
    const isEarly = origin <= known.length - Math.max(...horizons) - ORIGINS;
    return isLate || isEarly || origin < LEAST_DAYS ? null : levelOf(known.slice(0, origin));
  });
  return horizons.flatMap((horizon) => {
    const last = known.length - horizon;
    return levels.slice(Math.max(0, last - ORIGINS + 1), last + 1).flatMap((level, index) => {
      const origin = Math.max(0, last - ORIGINS + 1) + index;
      return level ? [relativeError(level, known.slice(origin, origin + horizon))] : [];
    });
  });
}

function relativeError(level: SpendLevel, ahead: readonly SettledDay[]): number {
  const predicted = sum(ahead.map(({ weekday }) => level.value * (level.profile[weekday] ?? 1)));
  const actual = sum(ahead.map(({ value }) => value));
  if (predicted === 0) return actual === 0 ? 0 : 1;
  return Math.abs(actual / predicted - 1);
}

/**
 * The money of forecast credits of a span: settled days at their own price, and the rest spread
 * evenly over the other days. Source: docs/costs.md#money.
 */
export function forecastMoney(
  credits: number,
  series: readonly DayValue[],
  { first, last }: Span,
  prices: PriceList | null,
): Money | null {
  const settled = within(series, { first, last }).filter(isSettled);
  const known = new Set(settled.map(({ day }) => day));
  // A forecast does not count the days before the first reported one.
  const begin = series.reduce((least, { day }) => (day < least ? day : least), last);
  const open = daysBetween(first, last).filter((day) => day >= begin && !known.has(day));
  const parts = settled.map(({ price, value }) => [price, microOf(value)] as const);
  const rest = parts.reduce((left, [, micro]) => left - micro, microOf(credits));
  return moneySum([
    parts.length > 0 ? moneyOf(parts) : undefined,
    open.length > 0 ? moneyOver(rest, open, prices) : undefined,
  ]);
}

/** All days of the month of a day. */
export function daysOfMonth(day: Day): readonly Day[] {
  const { first, last } = monthSpan(monthOf(day));
  return daysBetween(first, last);
}
