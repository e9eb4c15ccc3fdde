import { cached } from '../base/cache.ts';
import { dayOfMonth, monthOf, monthSpan, startOf } from '../base/calendar.ts';
import { addDays, type Day, weekdayOf } from '../base/time.ts';
import { completed } from './days.ts';
import { MAD_TO_SIGMA, mad, mean, median, sum } from './numbers.ts';
import type { DayValue } from './rows.ts';

// The days that statistics use, and one pass over them: weekdays, level, shifts and month ends.

/** Eight weeks: the days of effects and of the noise. */
export const HISTORY_DAYS = 56;
/** The days to read for a forecast: with them, three ends of months are complete. */
export const MODEL_DAYS = 98;
/** The days of an average: two whole weeks. */
export const LEVEL_DAYS = 14;
/** With fewer final days, days that were read once count as seen. */
export const LEAST_DAYS = 10;

/** Whether a value can be a cost: finite and not negative. A refund is in the sum, not in the level. */
export function isCost(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** A day with its cost as it is expected when the day is final. */
export interface KnownDay extends DayValue {
  readonly weekday: number;
  /** The relative standard error of the value; 0 for a final day. */
  readonly error: number;
}

/** How days count whose completeness is not learned yet: as seen, or not at all. */
export type Unlearned = 'as-seen' | 'left-out';

/**
 * The days that statistics use, in order: final ones, and open ones with their completed cost.
 * Refunds are left out, like days without data. By default, days of unknown completeness count as
 * seen with fewer than 10 final days, else not at all. Source: docs/forecasts.md#completeness.
 */
export function knownDays(series: readonly DayValue[], unlearned?: Unlearned): readonly KnownDay[] {
  const how = unlearned ?? (countFinal(series) < LEAST_DAYS ? 'as-seen' : 'left-out');
  const known = series.flatMap((one): readonly KnownDay[] => {
    if (!isCost(one.value)) return [];
    const isUnlearned = !one.final && !one.openDay?.completeness;
    const seen = how === 'as-seen' ? { value: one.value, error: 0 } : null;
    const cost = isUnlearned ? seen : completed(one);
    return cost ? [{ ...one, ...cost, weekday: weekdayOf(one.day) }] : [];
  });
  return known.sort((a, b) => (a.day < b.day ? -1 : 1));
}

export function countFinal(series: readonly DayValue[]): number {
  return series.filter(({ final }) => final).length;
}

/** The last known days before this day, at most `HISTORY_DAYS`. */
export function historyOf(series: readonly DayValue[], before: Day): readonly KnownDay[] {
  return knownDays(series.filter(({ day }) => day < before)).slice(-HISTORY_DAYS);
}

/** The relative cost of each weekday, from Monday to Sunday; the mean of the seven is 1. */
export type WeekdayProfile = readonly number[];

export const FLAT: WeekdayProfile = [1, 1, 1, 1, 1, 1, 1];
/** Two whole weeks: with less, every factor would depend on one day. */
const LEAST_PROFILE_DAYS = 14;
const PROFILE_DAYS = 70;

/**
 * The weekday profile f, without units. From r = ln(y / mean of the seven days around y):
 * m = median of r on that weekday, s = the larger of its own and the pooled 1.4826 · MAD, n = its
 * days; ln f = m · m² / (m² + s²/n). A weekday that differs clearly from noise keeps its factor;
 * another gets a factor near 1. Flat with fewer than 14 days. Source: docs/forecasts.md#weekdays.
 */
export function profileOf(all: readonly KnownDay[]): WeekdayProfile {
  const days = all.slice(-PROFILE_DAYS);
  if (days.length < LEAST_PROFILE_DAYS) return FLAT;

  const groups = ratiosByWeekday(days).map((ratios) => ({ ratios, middle: median(ratios) }));
  const pooled = mad(groups.flatMap(({ ratios, middle }) => ratios.map((ratio) => ratio - middle)));
  const factors = groups.map((group) => Math.exp(shrunk(group, pooled)));
  const middle = mean(factors);
  return factors.map((factor) => factor / middle);
}

/** The factor of a weekday without usage: division by a smaller one would exaggerate small values. */
const LEAST_RATIO = 0.02;

function ratiosByWeekday(days: readonly KnownDay[]): readonly (readonly number[])[] {
  const values = days.map(({ value }) => value);
  const groups: number[][] = FLAT.map(() => []);
  days.forEach(({ weekday, value }, index) => {
    const around = meanAround(values, index);
    const ratio = around > 0 ? Math.max(value / around, LEAST_RATIO) : 1;
    groups[weekday]?.push(Math.log(ratio));
  });
  return groups;
}

const WEEK = 7;

/** The mean of the seven days around a day; near an end, of the first or last seven. */
function meanAround(values: readonly number[], index: number): number {
  const start = Math.min(Math.max(0, index - 3), values.length - WEEK);
  let total = 0;
  for (let at = start; at < start + WEEK; at += 1) total += values[at] ?? 0;
  return total / WEEK;
}

/** `middle`: the median of the ratios. */
function shrunk(
  { ratios, middle }: { readonly ratios: readonly number[]; readonly middle: number },
  pooled: number,
): number {
  if (ratios.length < 2 || middle === 0) return 0;
  const sigma = MAD_TO_SIGMA * Math.max(pooled, mad(ratios, middle));
  return middle ** 3 / (middle ** 2 + sigma ** 2 / ratios.length);
}

export function factorOn(profile: WeekdayProfile, day: Day): number {
  return profile[weekdayOf(day)] ?? 1;
}

/** A batch at the ends of months: a factor for each position. */
export interface MonthEndBatch {
  /** How sure it is that it recurs: 0.6 after one month end, 0.97 after two. */
  readonly weight: number;
  readonly factors: ReadonlyMap<number, number>;
  /** The relative error of the excess of the batch. */
  readonly error: number;
}

/** −4 … −1: the last four days of a month; 1 and 2: the first two of the next. */
const POSITIONS = [-4, -3, -2, -1, 1, 2] as const;

const MOST_CACHED_DAYS = 1_000;

/** The position of a day at the end of a month; null for other days. The same few days are asked often. */
const positionOf = cached(MOST_CACHED_DAYS, (day: Day): number | null => {
  const number = dayOfMonth(day);
  if (number <= 2) return number;
  const left = dayOfMonth(monthSpan(monthOf(day)).last) - number;
  return left < 4 ? -1 - left : null;
});

/** The factor of the batch on a day; 1 for other days. */
export function batchFactor(batch: MonthEndBatch | null, day: Day): number {
  const position = batch === null ? null : positionOf(day);
  return position === null ? 1 : (batch?.factors.get(position) ?? 1);
}

const HIGH = 1.3;
const CALM_AFTER = 1.2;
const LEAST_FACTOR = 1.15;
const WEIGHTS = [0.6, 0.97];

/**
 * The batch at the ends of months. A month end is high if two neighbouring positions are above 1.3
 * times the median of the 14 days before, and the days 3 to 7 after are below 1.2 times it. Without a
 * high newest one, there is none. Source: docs/forecasts.md#month-ends.
 */
function batchOf(days: readonly KnownDay[], xs: readonly number[]): MonthEndBatch | null {
  const last = days.at(-1)?.day;
  if (last === undefined) return null;
  const values = new Map(days.map(({ day }, index) => [day, xs[index] ?? 0]));
  // Complete: four days of the next month are known.
  const newest =
    dayOfMonth(last) >= 4 ? startOf('month', last) : monthBefore(startOf('month', last));
  const ends = [newest, monthBefore(newest), monthBefore(monthBefore(newest))].map((first) =>
    endRatios(values, first),
  );
  const high: (readonly (number | null)[])[] = [];
  for (const ratios of ends) {
    if (ratios === null || !isHigh(ratios)) break;
    high.push(ratios);
  }
  const weight = WEIGHTS[Math.min(high.length, 2) - 1];
  if (weight === undefined) return null;
  const factors = POSITIONS.map((position, index) => {
    const factor = mean(high.flatMap((ratios) => ratios[index] ?? []));
    return [position, factor > LEAST_FACTOR ? factor : 1] as const;
  });
  return { weight, factors: new Map(factors), error: batchError(high) };
}

/** Before there are two ends to compare. */
const BATCH_ERROR = 0.1;

/** How much the excesses of the ends differ, pulled to 10% with the weight of one end. */
function batchError(ends: readonly (readonly (number | null)[])[]): number {
  const excesses = ends.map((ratios) =>
    sum(ratios.map((one) => ((one ?? 0) > LEAST_FACTOR ? (one ?? 0) - 1 : 0))),
  );
  const middle = mean(excesses);
  const squares = excesses.map((one) => (one / middle - 1) ** 2);
  return Math.sqrt((BATCH_ERROR ** 2 + sum(squares)) / ends.length);
}

/** The first day of the month before. */
function monthBefore(first: Day): Day {
  return startOf('month', addDays(first, -1));
}

/** The ratio of each position to the days before; null unless the days are known. */
function endRatios(values: ReadonlyMap<Day, number>, first: Day): (number | null)[] | null {
  const on = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) =>
      values.get(addDays(first, from + index)),
    ).filter((value) => value !== undefined);
  const before = on(-18, -5);
  const after = on(2, 6);
  const usual = median(before);
  if (before.length < WEEK || after.length < 2 || !(usual > 0)) return null;
  if (median(after) >= CALM_AFTER * usual) return POSITIONS.map(() => 1);
  return POSITIONS.map((position) => {
    const value = values.get(addDays(first, position < 0 ? position : position - 1));
    return value === undefined ? null : value / usual;
  });
}

function isHigh(ratios: readonly (number | null)[]): boolean {
  return ratios.some((one, index) => (one ?? 0) > HIGH && (ratios[index + 1] ?? 0) > HIGH);
}

/** A day of the pass, compared with the level before its run. */
interface FollowedDay {
  readonly day: Day;
  /** Adjusted for weekdays, like the level. */
  readonly x: number;
  readonly level: number;
  /** ln of the day relative to that level. */
  readonly r: number;
  readonly error: number;
  /** The run of days that are not usual; null for a usual one. */
  readonly run: Run | null;
}

/** Successive days that are all above, or all below, the level. */
interface Run {
  readonly days: FollowedDay[];
  /** Seven alike days of it became the new level. */
  isLevel: boolean;
  /** It is back at the level before the last shift. */
  isBack: boolean;
}

/** What the days of a line show: its level, its noise and what it does now. */
export type Track = ReturnType<typeof followDays>;

const LEAST_BAND = 0.14;
const ALIKE_DAYS = 7;
const ANY_DAYS = 10;
const LEAST_SIGMA = 0.01;

interface FollowOptions {
  /** Added before logarithms, so that zeros and small values have little effect. */
  readonly offset?: number;
  /** The day from which a user marked the costs as expected: a new level begins. */
  readonly restart?: Day | null;
}

/**
 * One pass over the days. The level l is the mean of the last 21 usual days, pulled to the mean of the
 * last 7 as far as they differ by more than noise. A day within ± max(3 s, 14%) of l is usual and ends
 * a run; other days of one sign are a run and do not join the level. Seven alike days of a run, or ten
 * of any kind, are the new level, and two days at the old one restore it. Days with a batch of a month
 * end neither open nor end a run. Source: docs/forecasts.md#level.
 */
export function followDays(
  days: readonly KnownDay[],
  { offset = 0, restart = null }: FollowOptions = {},
) {
  const profile = profileOf(days);
  // The costs of the days adjusted for weekdays: x = y / f.
  const xs = days.map(({ weekday, value }) => value / (profile[weekday] ?? 1));
  const a = Math.max(offset, 1e-9);
  const sigma = noiseOf(xs, a);
  const batch = batchOf(days, xs);
  const band = Math.max(3 * sigma, LEAST_BAND);
  const log = (x: number, level: number) => Math.log((x + a) / (level + a));
  let usual = seed(xs, band, a);
  let old: readonly number[] | null = null;
  let run: Run | null = null;
  const followed: FollowedDay[] = [];
  const origins: Origin[] = [];
  days.forEach(({ day, error }, index) => {
    const x = xs[index] ?? 0;
    if (restart !== null && day >= restart && (days[index - 1]?.day ?? '') < restart) {
      [usual, old, run] = [[x], usual, null];
    }
    const level = levelFrom(usual, sigma);
    const one = { day, x, level, r: log(x, level), error, run: null };
    if (batchFactor(batch, day) > 1) {
      followed.push(one);
    } else if (Math.abs(one.r) <= band) {
      run = null;
      if (index >= SEED_DAYS) usual.push(x);
      followed.push(one);
      if (index >= SEED_DAYS && usual.length >= WEEK)
        origins.push({ index, level, growth: growthOf(usual, sigma) });
    } else {
      run = run && Math.sign(run.days[0]?.r ?? 0) === Math.sign(one.r) ? run : emptyRun();
      const own: FollowedDay = { ...one, run };
      followed.push(own);
      run.days.push(own);
      const oldLevel = old && levelFrom(old, sigma);
      run.isBack = oldLevel !== null && Math.abs(log(x, oldLevel)) <= band;
      if (old && run.isBack && run.days.length >= 2) {
        run.isLevel = true;
        [usual, old, run] = [[...old, ...run.days.slice(-2).map((each) => each.x)], null, null];
      } else if (isNewLevel(run, band, a)) {
        run.isLevel = true;
        [usual, old, run] = [alike(run, band, a).map((each) => each.x), usual, null];
      }
    }
  });
  return {
    profile,
    // Credits per day, adjusted for weekdays, of usual days.
    level: levelFrom(usual, sigma),
    // The usual days since the last shift.
    usualDays: usual.length,
    // The noise of a day, in logarithms.
    sigma,
    // The past errors of the level over 1, 7 and 21 days, in logarithms.
    errors: errorsOf(origins, followed, batch, sigma, band),
    // Growth per day, in logarithms.
    growth: growthOf(usual, sigma),
    // The days that are not usual, up to the last known day; null if that one is usual.
    run: run as Readonly<Run> | null,
    batch,
    days: followed as readonly FollowedDay[],
  };
}

function emptyRun(): Run {
  return { days: [], isLevel: false, isBack: false };
}

const SEED_DAYS = 7;

/** The first days that are near their median: one of them may be an outlier. */
function seed(xs: readonly number[], band: number, a: number): number[] {
  const first = xs.slice(0, SEED_DAYS);
  const middle = median(first);
  const near = first.filter((x) => Math.abs(Math.log((x + a) / (middle + a))) <= band);
  return near.length > 0 ? near : first;
}

const AROUND = 7;

/** s = 1.4826 · median |ln x − ln(median of the 15 days around)|, of the last 56 days. */
function noiseOf(xs: readonly number[], a: number): number {
  const from = Math.max(0, xs.length - HISTORY_DAYS);
  const deviations = xs.slice(from).map((x, index) => {
    const at = from + index;
    const middle = median(xs.slice(Math.max(0, at - AROUND), at + AROUND + 1));
    return Math.abs(Math.log((x + a) / (middle + a)));
  });
  return Math.max(LEAST_SIGMA, deviations.length > 0 ? MAD_TO_SIGMA * median(deviations) : 0);
}

export const LONG = 21;
/** How much more noise successive days have than independent ones. */
export const ALIKE = 1.5;

function pull(usual: readonly number[], sigma: number): number {
  const [long, short] = [mean(usual.slice(-LONG)), mean(usual.slice(-WEEK))];
  if (usual.length <= WEEK || !(long > 0) || !(short > 0)) return 0;
  const difference = Math.log(short / long);
  const noise = ALIKE * sigma ** 2 * (1 / WEEK - 1 / Math.min(LONG, usual.length));
  return difference === 0 ? 0 : Math.max(0, 1 - noise / difference ** 2);
}

function levelFrom(usual: readonly number[], sigma: number): number {
  if (usual.length === 0) return 0;
  const [long, short] = [mean(usual.slice(-LONG)), mean(usual.slice(-WEEK))];
  return long + pull(usual, sigma) * (short - long);
}

const MOST_GROWTH = 0.02;
const TREND_DAYS = 28;
/** The days between the middles of the two weeks of a trend. */
const TREND_SPAN = 21;
const DAMPING = 0.97;

function growthOf(usual: readonly number[], sigma: number): number {
  if (usual.length < TREND_DAYS) return 0;
  const [now, before] = [
    mean(usual.slice(-WEEK)),
    mean(usual.slice(-TREND_DAYS, -TREND_DAYS + WEEK)),
  ];
  if (!(now > 0) || !(before > 0) || now === before) return 0;
  const difference = Math.log(now / before);
  const noise = (4 * ALIKE * 2 * sigma ** 2) / WEEK;
  const growth = (difference / TREND_SPAN) * Math.max(0, 1 - noise / difference ** 2);
  return Math.min(MOST_GROWTH, Math.max(-MOST_GROWTH, growth));
}

/** The factor of the growth for a day that is so many days after the last known one. */
export function growthFactor(growth: number, ahead: number): number {
  // The level is that of the middle of its days.
  const lag = (WEEK + 1) / 2;
  const damped = (DAMPING * (1 - DAMPING ** ahead)) / (1 - DAMPING);
  return Math.exp(growth * (lag - 1 + damped));
}

function alike({ days }: Run, band: number, a: number): readonly FollowedDay[] {
  const middle = median(days.map(({ x }) => x));
  return days.filter(({ x }) => Math.abs(Math.log((x + a) / (middle + a))) <= 2 * band);
}

function isNewLevel(run: Run, band: number, a: number): boolean {
  if (run.days.length < ALIKE_DAYS) return false;
  return run.days.length >= ANY_DAYS || alike(run, band, a).length >= ALIKE_DAYS;
}

/** The index of a day, and what it predicted for the days after it. */
interface Origin {
  readonly index: number;
  readonly level: number;
  readonly growth: number;
}

const ORIGINS = 49;
const CLIP = 6;
const PRIOR = 2;
/** The horizons whose errors are measured, in days. */
const HORIZONS = [1, WEEK, LONG] as const;

/**
 * The errors of the level over the next 1, 7 and 21 days at the past origins, without days of runs
 * that returned. Each is pulled to one that follows from the noise; that of 21 days to that of seven.
 */
function errorsOf(
  origins: readonly Origin[],
  days: readonly FollowedDay[],
  batch: MonthEndBatch | null,
  sigma: number,
  band: number,
): readonly number[] {
  const costs = days.map(({ day, x, level, r }) => {
    const limited = Math.abs(r) > band ? level * Math.exp(Math.sign(r) * band) : x;
    return batchFactor(batch, day) === 1 ? [limited] : [];
  });
  const priors = [1.2 * sigma, 0.6 * sigma + 0.005];
  const errors: number[] = [];
  for (const [at, horizon] of HORIZONS.entries()) {
    const squares = origins.slice(-ORIGINS - horizon).flatMap(({ index, level, growth }) => {
      const next = costs.slice(index + 1, index + 1 + horizon);
      const actual = mean(next.flat());
      const expected = level * growthFactor(growth, (horizon + 1) / 2);
      const isKnown = next.length === horizon && actual > 0 && expected > 0;
      return isKnown ? [Math.log(actual / expected) ** 2] : [];
    });
    const limit = squares.length > 0 ? CLIP * median(squares) : 0;
    const own = sum(squares.map((one) => Math.min(one, limit))) / horizon;
    const prior = priors[at] ?? errors.at(-1) ?? 0;
    errors.push(Math.sqrt((own + PRIOR * prior ** 2) / (squares.length / horizon + PRIOR)));
  }
  return errors;
}

const LATER = 0.3;

/** The error of the mean of so many days to come, in logarithms. */
export function errorOver(errors: readonly number[], count: number): number {
  const [day = 0, week = 0, weeks = 0] = errors;
  if (count >= LONG) return weeks * (count / LONG) ** LATER;
  const [from, to, share] =
    count >= WEEK
      ? [week, weeks, Math.log(count / WEEK) / Math.log(LONG / WEEK)]
      : [day, week, Math.log(Math.max(1, count)) / Math.log(WEEK)];
  return from ** (1 - share) * to ** share;
}

/**
 * The current level for estimates, in credits per day without weekdays, and the number of days behind
 * it: two weeks, or those since a shift. Expects known days in order.
 */
export function levelOf(days: readonly KnownDay[]) {
  const { level, profile, usualDays } = followDays(days);
  return { value: level, profile, days: Math.min(LEVEL_DAYS, Math.max(usualDays, 1), days.length) };
}
