import { type Span, within } from '../base/calendar.ts';
import { type Day, dayNumber, daysBetween } from '../base/time.ts';
import { completed, LONGEST_WAIT_DAYS } from './days.ts';
import { type Money, moneyOf, moneyOver, type PriceList } from './money.ts';
import { median, normalShare, sum } from './numbers.ts';
import { type DayValue, microOf } from './rows.ts';
import {
  ALIKE,
  batchFactor,
  countFinal,
  errorOver,
  factorOn,
  followDays,
  growthFactor,
  isCost,
  knownDays,
  LEAST_DAYS,
  LONG,
  type Track,
  type Unlearned,
} from './statistics.ts';

// What a span costs in the end: a mixture of what its last days may mean.

export type Forecast =
  | (Mixture & {
      readonly ok: true;
      /** Credits of the whole span: the median, and the 10% and 90% quantiles. */
      readonly total: number;
      readonly low: number;
      readonly high: number;
      /** The range is wider than ±20%: it is shown instead of the point. */
      readonly isWide: boolean;
      /** Credits of the span as reported, including today and other days that are not final. */
      readonly soFar: number;
      readonly basis: ReturnType<typeof basisOf>;
    })
  | { readonly ok: false; readonly why: 'too-few-days' | 'days-too-old'; readonly days: number };

/** What the total may be: normal distributions with their weights. */
interface Mixture {
  readonly parts: readonly Part[];
}

interface Part {
  readonly weight: number;
  readonly mean: number;
  readonly deviation: number;
}

const LEAST_FORECAST_DAYS = 3;

/**
 * The cost of a span that contains `today` or begins after it, in credits: reported days, open days
 * completed, and the level for the others, if usage stays as it is. A shift of up to six days returns or
 * stays, and a batch of a month end recurs or not, each with its weight. On a first read, days that
 * are not final are complete or incomplete, each with half. `isExplained`: an applied change explains
 * the shift. Source: docs/forecasts.md#forecast.
 */
export function forecastSpan(
  series: readonly DayValue[],
  span: Span,
  today: Day,
  isExplained = false,
): Forecast {
  const reported = series.filter(({ day, value }) => day <= today && Number.isFinite(value));
  const past = reported.filter(({ day }) => day < today);
  const readings = readingsOf(past);
  const known = knownDays(past, readings[0]);
  const last = known.at(-1);
  if (!last || known.length < LEAST_FORECAST_DAYS) {
    return { ok: false, why: 'too-few-days', days: known.length };
  }
  if (dayNumber(today) - dayNumber(last.day) > LONGEST_WAIT_DAYS) {
    return { ok: false, why: 'days-too-old', days: known.length };
  }
  const forecasts = readings.map((unlearned) => {
    const track = followDays(knownDays(past, unlearned));
    const days = spanDays(reported, track, unlearned, { span, today });
    return { track, days, parts: partsOf(track, days, isExplained) };
  });
  const parts = forecasts.flatMap((one) =>
    one.parts.map((part) => ({ ...part, weight: part.weight / forecasts.length })),
  );
  const [low = 0, total = 0, high = 0] = [0.1, 0.5, 0.9].map((share) => quantileOf(parts, share));
  // Days that were read once may be incomplete, which is no shift.
  const plain = forecasts.at(-1);
  return {
    ok: true,
    parts,
    total,
    low,
    high,
    isWide: high - total > WIDE * total || total - low > WIDE * total,
    soFar: sum(within(reported, span).map(({ value }) => value)),
    basis: basisOf(plain?.track, plain?.days.expected.length ?? 0),
  };
}

const WIDE = 0.2;

/** On a first read, the completeness of open days is not known. */
function readingsOf(past: readonly DayValue[]): readonly Unlearned[] {
  const isUnlearned = past.some((day) => !day.final && !day.openDay?.completeness);
  return isUnlearned && countFinal(past) >= LEAST_DAYS ? ['as-seen', 'left-out'] : ['as-seen'];
}

/** `expectedDays`: those that are not reported: today, future days and days without data. */
function basisOf(track: Track | undefined, expectedDays: number) {
  const run = track?.run;
  const since = run?.days[0]?.day;
  // The days on another level, which may stay or return, and that level.
  const shift =
    run && since !== undefined ? { days: run.days.length, level: runLevel(track), since } : null;
  return { level: track?.level ?? 0, shift, batch: track?.batch?.weight ?? 0, expectedDays };
}

/** The days of a span as sums, in credits. */
type SpanDays = ReturnType<typeof spanDays>;

/** A day whose cost is not known: what it costs at least, and how many days after the last known one. */
interface ExpectedDay {
  readonly day: Day;
  readonly atLeast: number;
  readonly ahead: number;
}

/** The error of a day that may still grow, on a first read. */
const GROWING_ERROR = 0.1;

function spanDays(
  reported: readonly DayValue[],
  track: Track,
  unlearned: Unlearned,
  { span, today }: { readonly span: Span; readonly today: Day },
) {
  const shown = new Map(reported.map((one) => [one.day, one]));
  const first = reported.reduce((least, { day }) => (day < least ? day : least), today);
  const lastKnown = track.days.at(-1)?.day ?? today;
  const usualOn = (day: Day) => track.level * factorOn(track.profile, day);
  // Σ (completed cost · error): that part of the errors of open days moves together. Σ (completed cost · error)²: each
  // grows in its own way, too.
  const sums = { sure: 0, commonError: 0, ownVariance: 0, missing: 0 };
  const expected: ExpectedDay[] = [];
  for (const day of daysBetween(span.first, span.last)) {
    if (day < first) continue;
    const own = shown.get(day);
    const ahead = Math.max(0, dayNumber(day) - dayNumber(lastKnown));
    const cost = own && day < today ? knownCost(own, unlearned) : null;
    if (cost) {
      sums.sure += cost.value;
      sums.commonError += Math.abs(cost.value) * cost.common;
      sums.ownVariance += (cost.value * (cost.error - cost.common)) ** 2;
    } else if (own && day < today && !own.openDay?.completeness) {
      const value = Math.max(own.value, usualOn(day));
      sums.sure += value;
      sums.commonError += value * GROWING_ERROR;
    } else if (own || day >= today) expected.push({ day, atLeast: own?.value ?? 0, ahead });
    // Without rows, the cost is unknown; after the time in which rows come, it is none.
    else if (dayNumber(today) - dayNumber(day) <= LONGEST_WAIT_DAYS)
      sums.missing += usualOn(day) / 2;
  }
  return { ...sums, expected };
}

function knownCost(day: DayValue, unlearned: Unlearned) {
  if (!isCost(day.value)) return { value: day.value, error: 0, common: 0 };
  const isUnlearned = !day.final && !day.openDay?.completeness;
  if (!isUnlearned) return completed(day);
  return unlearned === 'as-seen' ? { value: day.value, error: 0, common: 0 } : null;
}

/** The weight of "the shift stays" after 1 to 6 days of it. */
const STAYS = [0.25, 0.35, 0.45, 0.6, 0.8, 0.85];
const STAYS_BACK = 0.6;
const STAYS_EXPLAINED = 0.95;

function stayWeight({ run }: Track, isExplained: boolean): number {
  if (!run) return 0;
  if (isExplained) return STAYS_EXPLAINED;
  const weight = STAYS[Math.min(run.days.length, STAYS.length) - 1] ?? 0;
  return run.isBack ? Math.max(STAYS_BACK, weight) : weight;
}

function runLevel({ run }: Track, isExplained = false): number {
  const days = run?.days ?? [];
  // The day of a change has only a part of its effect.
  const whole = isExplained && days.length > 1 ? days.slice(1) : days;
  return median(whole.map(({ x }) => x));
}

/** {the level returns, stays} × {the batch recurs, does not}. */
function partsOf(track: Track, days: SpanDays, isExplained: boolean): readonly Part[] {
  const stays = stayWeight(track, isExplained);
  const recurs = track.batch?.weight ?? 0;
  const levels = [
    { weight: 1 - stays, level: track.level, run: 0 },
    { weight: stays, level: runLevel(track, isExplained), run: track.run?.days.length ?? 0 },
  ];
  const batches = [
    { weight: 1 - recurs, batch: null },
    { weight: recurs, batch: track.batch },
  ];
  return levels
    .flatMap((one) =>
      batches.map(({ weight, batch }) => ({ ...one, batch, weight: one.weight * weight })),
    )
    .filter(({ weight }) => weight > 0)
    .map(({ weight, ...hypothesis }) => ({ weight, ...partOf(track, days, hypothesis) }));
}

const WIDENING = 1.1;
const WEEK = 7;

interface Hypothesis {
  readonly level: number;
  /** The days behind the level, if it is that of a run. */
  readonly run: number;
  readonly batch: Track['batch'];
}

function partOf(track: Track, days: SpanDays, { level, run, batch }: Hypothesis) {
  const { sure, commonError, ownVariance, expected, missing } = days;
  let [plain, excess, least] = [0, 0, 0];
  for (const { day, atLeast, ahead } of expected) {
    const usual = level * factorOn(track.profile, day) * growthFactor(track.growth, ahead);
    plain += usual;
    excess += usual * (batchFactor(batch, day) - 1);
    least += Math.max(0, atLeast - usual);
  }
  const count = expected.length;
  const noise = ALIKE * track.sigma ** 2;
  const behind = run > 0 ? run : Math.max(1, track.usualDays);
  // A new level may have other services, with other weekdays.
  const isNew = Math.max(1, 2 - behind / LONG);
  const variance =
    errorOver(track.errors, count) ** 2 * isNew + noise * Math.max(0, 1 / behind - 1 / LONG);
  const blind = track.usualDays < WEEK ? 0.3 / Math.sqrt(Math.max(1, track.usualDays)) : 0;
  const share = Math.max(WIDENING * Math.sqrt(variance), blind);
  const batches = (batch?.error ?? 0) * excess;
  const open = Math.hypot(commonError, Math.sqrt(ownVariance));
  const deviation = Math.hypot(share * plain, open, missing, batches);
  return { mean: sure + plain + excess + least + missing, deviation };
}

/** The chance that the total is above an amount. */
export function chanceAbove({ parts }: Mixture, amount: number): number {
  return sum(
    parts.map(({ weight, mean, deviation }) => weight * normalShare(mean - amount, deviation)),
  );
}

const STEPS = 50;

function quantileOf(parts: readonly Part[], share: number): number {
  let low = Math.min(...parts.map(({ mean, deviation }) => mean - 6 * deviation));
  let high = Math.max(...parts.map(({ mean, deviation }) => mean + 6 * deviation));
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (1 - chanceAbove({ parts }, middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const QUARTER_LESS = 0.75;

/** The total if the rest costs a quarter less than the lower of all hypotheses. */
export function cautiousTotal({ parts, soFar }: Forecast & { ok: true }): number {
  const least = Math.min(...parts.map(({ mean }) => mean));
  return soFar + QUARTER_LESS * Math.max(0, least - soFar);
}

/**
 * The money of forecast credits of a span: final days at their own price, and the rest spread
 * evenly over the other days. Source: docs/costs.md#money.
 */
export function forecastMoney(
  credits: number,
  series: readonly DayValue[],
  { first, last }: Span,
  prices: PriceList | null,
): Money | null {
  const final = within(series, { first, last }).filter((day) => day.final);
  const known = new Set(final.map(({ day }) => day));
  // A forecast does not count the days before the first reported one.
  const begin = series.reduce((least, { day }) => (day < least ? day : least), last);
  const open = daysBetween(first, last).filter((day) => day >= begin && !known.has(day));
  const parts = final.map(({ price, value }) => [price, microOf(value)] as const);
  const rest = parts.reduce((left, [, micro]) => left - micro, microOf(credits));
  const own = moneyOf(parts);
  if (open.length === 0) return own;
  const spread = moneyOver(rest, open, prices);
  if (parts.length === 0) return spread;
  return own && spread && { ...own, trillionths: own.trillionths + spread.trillionths };
}
