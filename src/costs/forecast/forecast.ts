import { addDays, type Day, dayNumber, daysBetween } from '../calendar/day.ts';
import type { DayValue } from '../ledger/row.ts';
import { levelOf, type SpendLevel } from './level.ts';
import { quantile } from './robust.ts';
import { HISTORY_DAYS, isCost, LEAST_DAYS, type SettledDay, settledDays } from './series.ts';
import { factorOn } from './weekday.ts';

export type Forecast =
  | {
      readonly ok: true;
      /** Credits of the whole month, with the bounds of the interval of about 80%. */
      readonly total: number;
      readonly low: number;
      readonly high: number;
      /** Credits of the month's days as reported, not final ones and today included. */
      readonly soFar: number;
      readonly basis: ForecastBasis;
    }
  | {
      readonly ok: false;
      readonly why: 'too-few-final-days' | 'final-days-too-old';
      readonly finalDays: number;
    };

export interface ForecastBasis extends Pick<SpendLevel, 'profile' | 'days' | 'shifted'> {
  /** Credits of a mean day. */
  readonly level: number;
  readonly finalDays: number;
  /** Days of the month that are not final, the future ones among them. */
  readonly openDays: number;
  /** Half the width of the interval as a share of what is still open. */
  readonly error: number;
}

/** The share of its final value that a day shows when it is so many days old; null: not known. */
export type Completeness = readonly (number | null)[];

const OLDEST_FINAL_DAYS = 10;
const ORIGINS = 35;
const LEAST_ORIGINS = 5;
const LEAST_ERROR = 0.02;
const BLIND_ERROR = 0.3;
const WIDENING = 1.25;
const HORIZONS = [7, 14];

/**
 * What the UTC month of `today` will cost, in credits, if usage stays as in the last two weeks:
 * final days as they are + Σ over the open ones of level · weekday factor. A day that is not final
 * counts, and enters the fit, as value / completeness; where that is not known it stays out of the
 * fit and counts as what it shows already or what is expected of it, whichever is more.
 *
 * Interval of 80%: final + open · (1 ± r), r = max(2%, Q80(|actual / predicted − 1|) · 1.25 ·
 * √max(1, h/14)) over the last 35 days from which this very method could have forecast 7 and 14
 * days (or h, if fewer are open); 30% if there are fewer than five. A shift after today is beyond
 * it. Source: docs/costs.md#forecast.
 */
export function forecastMonth(
  series: readonly DayValue[],
  today: Day,
  completeness: Completeness = [],
): Forecast {
  const reported = series.filter(({ day, value }) => day <= today && isCost(value));
  const completed = reported.map((day) => completedDay(day, today, completeness));
  const known = settledDays(completed, HISTORY_DAYS);
  const why = unfit(known, today);
  if (why) return { ok: false, why, finalDays: known.length };

  const level = levelOf(known);
  const { sure, open, openDays, soFar } = monthOf(reported, completed, level, today);
  const error = errorOf(known, openDays);
  const { profile, days, shifted } = level;
  return {
    ok: true,
    total: sure + open,
    low: sure + open * Math.max(0, 1 - error),
    high: sure + open * (1 + error),
    soFar,
    basis: { level: level.value, profile, days, shifted, finalDays: known.length, openDays, error },
  };
}

function unfit(known: readonly SettledDay[], today: Day) {
  const last = known.at(-1);
  if (!last || known.length < LEAST_DAYS) return 'too-few-final-days';
  const age = dayNumber(today) - dayNumber(last.day);
  return age > OLDEST_FINAL_DAYS ? 'final-days-too-old' : null;
}

/** Of today nobody knows how much of it is over, so that it is never completed. */
function completedDay(day: DayValue, today: Day, completeness: Completeness): DayValue {
  const share = completeness[dayNumber(today) - dayNumber(day.day)];
  if (day.final || day.day === today || !share || !(share > 0)) return day;
  return { ...day, value: day.value / share, final: true };
}

interface Month {
  readonly sure: number;
  readonly open: number;
  readonly openDays: number;
  readonly soFar: number;
}

/** A day without data counts as open: it is not known, which is not zero. */
function monthOf(
  reported: readonly DayValue[],
  completed: readonly DayValue[],
  level: SpendLevel,
  today: Day,
): Month {
  const final = new Map(reported.filter((day) => day.final).map((day) => [day.day, day.value]));
  const shown = new Map(completed.map((day) => [day.day, day]));
  const first = reported.reduce((least, { day }) => (day < least ? day : least), today);
  const days = daysOfMonth(today).filter((day) => day >= first);
  const openDays = days.filter((day) => !final.has(day));
  const expected = (day: Day) => {
    const seen = shown.get(day);
    const usual = level.value * factorOn(level.profile, day);
    return seen?.final ? seen.value : Math.max(seen?.value ?? 0, usual);
  };
  return {
    sure: total(days.map((day) => final.get(day) ?? 0)),
    open: total(openDays.map(expected)),
    openDays: openDays.length,
    soFar: total(reported.filter(({ day }) => days.includes(day)).map(({ value }) => value)),
  };
}

function errorOf(known: readonly SettledDay[], openDays: number): number {
  const horizons = new Set(HORIZONS.map((horizon) => Math.min(horizon, Math.max(1, openDays))));
  const errors = pastErrors(known, [...horizons]);
  if (errors.length < LEAST_ORIGINS) return BLIND_ERROR;
  const widened = WIDENING * Math.sqrt(Math.max(1, openDays / 14));
  return Math.max(LEAST_ERROR, quantile(errors, 0.8) * widened);
}

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
  const predicted = total(ahead.map(({ weekday }) => level.value * (level.profile[weekday] ?? 1)));
  const actual = total(ahead.map(({ value }) => value));
  if (predicted === 0) return actual === 0 ? 0 : 1;
  return Math.abs(actual / predicted - 1);
}

export function daysOfMonth(day: Day): readonly Day[] {
  const first = `${day.slice(0, 7)}-01`;
  const next = `${addDays(first, 31).slice(0, 7)}-01`;
  return daysBetween(first, addDays(next, -1));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
