import type { Logger } from 'pino';
import { monthOf, monthSpan, type Span } from '../base/calendar.ts';
import { TimeoutError, withTimeout } from '../base/errors.ts';
import { addDays, DAY_MS, type Day, dayOf, daysBetween } from '../base/time.ts';
import { readWeeklyPlan, stoppedHours, type WeeklyPlan } from '../base/weekly-times.ts';
import { countWords, utcStamp } from '../domain/answer.ts';
import {
  type Change,
  type CostEffect,
  type CostSummary,
  type EstimateCost,
  type Plan,
  type Timing,
  targetKey,
} from '../domain/change.ts';
import { timesOf } from '../domain/schedules.ts';
import type { Service } from '../domain/targets.ts';
import { spanText } from '../domain/timing.ts';
import { type CostChange, type EffectBasis, measuredEffect } from '../maths/effect.ts';
import {
  type Money,
  moneyOver,
  moneyText,
  type PriceList,
  signedMoneyText,
} from '../maths/money.ts';
import {
  bracketed,
  changeText,
  figure,
  mean,
  signedCredits,
  signedFigure,
} from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import { type DayValue, microOf } from '../maths/rows.ts';
import { HISTORY_DAYS, historyOf, LEVEL_DAYS } from '../maths/statistics.ts';
import type { Database } from '../storage/old/database.ts';
import {
  type CommandEffects,
  type CostEstimate,
  computeOf,
  type EstimatedKind,
  estimate,
  estimatedKind,
  historySpan,
  lastCostChanges,
  lastResize,
  lastTimes,
  type StorageCost,
  type UnknownReason,
} from './estimate.ts';

/** The measured effect of a change, in credits of compute per day. */
export interface MeasuredAfter {
  readonly days: 3 | 7;
  readonly before: number;
  readonly after: number;
  /** `after / before`, with an 80% interval; null where it cost nothing before. */
  readonly ratio: { readonly about: number; readonly low: number; readonly high: number } | null;
}

/**
 * Measures a change over its first 3 or 7 days. Null while some of them are not settled, and with
 * nothing to compare with. Days up to `heldFrom` do not count: another change ran on that day.
 */
export function measureAfter(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
  heldFrom: Day | null,
): MeasuredAfter | null {
  const held = series.filter(({ day }) => heldFrom === null || day > heldFrom);
  const measured = measuredEffect(held, changedOn, days);
  if (measured.ok && measured.before > 0) {
    const { before, after, ratio: about, low, high } = measured;
    return { days, before, after, ratio: { about, low, high } };
  }
  if (!measured.ok && measured.why !== 'nothing-to-compare') return null;
  return fromNothing(held, changedOn, days);
}

/** A service that was stopped before has no ratio, only the cost since. */
function fromNothing(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
): MeasuredAfter | null {
  const before = mean(historyOf(series, changedOn).slice(-LEVEL_DAYS).map(creditsOn));
  const last = addDays(changedOn, days);
  const since = series.filter(({ day }) => day > changedOn && day <= last);
  const after = mean(since.map(creditsOn));
  return after > 0 ? { days, before, after, ratio: null } : null;
}

function creditsOn({ value }: DayValue): number {
  return value;
}

const UNKNOWN: Readonly<Record<UnknownReason, string>> = {
  'too-few-settled-days': 'needs 7 settled days',
  'size-not-known': 'Signalbox learns the size from the first change of this service',
  'price-not-known': 'needs 3 settled days at a fixed size without idling',
  'no-costs-yet': 'the usage report has no costs of this service yet',
  'only-the-timeout': 'depends on how often the service is idle',
  'scaled-recently': 'needs 7 settled days since the last change of its size',
  'report-silent': 'the usage report did not answer',
};

export const CREATION_TEXT = 'unknown: depends on the load';

const BASES: Readonly<Record<EffectBasis, (days: string) => string>> = {
  'past-days': (days) => `from ${days}`,
  'fixed-size': (days) => `from ${days} and both sizes`,
  'unit-price': (days) => `from ${days} and the size limits; autoscaling decides`,
};

/** The prices with which an estimate is shown, and the UTC day of their use. */
export interface EstimatePrices {
  readonly prices: PriceList | null;
  readonly today: Day;
}

/**
 * `−18.0 credits (−€6.30) per day (−9.0 to −26.0, −€3.15 to −€9.10), from 14 settled days; −180.4 (−€63.14) by month
 * end`: the money per day with the current price, and until the end of the month with those of its days.
 */
export function estimateText(
  kind: EstimatedKind,
  estimated: CostEstimate,
  timing: Timing | undefined,
  pricing: EstimatePrices,
): string {
  if (!estimated.known) return `unknown: ${UNKNOWN[estimated.why]}`;
  const { perDay, basis, days } = estimated.effect;
  const count = countWords(days, 'settled day');
  const between = betweenText(perDay, pricing);
  const clauses = [
    `${perDayText(perDay, pricing)}${between}, ${BASES[basis](count)}`,
    ...horizon(estimated.effect, timing, pricing),
    ...(kind === 'start' ? ['no change if it already runs'] : []),
    ...(kind === 'stop' ? [storageText(estimated.storage, pricing)] : []),
  ];
  return clauses.join('; ');
}

const WEEK_HOURS = 7 * 24;

/**
 * `−41.0 credits (−€14.35) per week (−30.0 to −52.0), from 14 settled days; stopped 60 of 168 h; storage continues`: what a
 * stop saves in the stopped hours of a week.
 */
export function weeklySavingText(
  estimated: CostEstimate,
  hours: number,
  pricing: EstimatePrices,
): string {
  if (!estimated.known) return `not available: ${UNKNOWN[estimated.why]}`;
  const { perWeek, between } = weeklyTexts(estimated.effect, hours, pricing);
  return [
    `${perWeek}${between}, from ${countWords(estimated.effect.days, 'settled day')}`,
    `stopped ${+hours.toFixed(1)} of ${WEEK_HOURS} h`,
    'storage continues',
  ].join('; ');
}

/** The saving in few words; undefined where it is unknown. */
export function weeklySummary(
  estimated: CostEstimate,
  hours: number,
  pricing: EstimatePrices,
): CostSummary | undefined {
  if (!estimated.known) return undefined;
  const { perWeek, between } = weeklyTexts(estimated.effect, hours, pricing);
  return { perDay: perWeek, withRange: `${perWeek}${between} · storage continues` };
}

/** `−41.0 credits (−€14.35) per week`, and its range. */
function weeklyTexts(
  { perDay }: CostChange & { known: true },
  hours: number,
  pricing: EstimatePrices,
) {
  const [about = 0, low = 0, high = 0] = [perDay.about, perDay.low, perDay.high].map(
    (credits) => (credits * hours) / 24,
  );
  const credits = signedCredits(microOf(about), moneyPerDay(about, pricing));
  return {
    perWeek: `${credits} per week`,
    between: betweenText({ about, low, high }, pricing),
  };
}

/** The estimate in few words; undefined where it is unknown. */
export function estimateSummary(
  kind: EstimatedKind,
  estimated: CostEstimate,
  pricing: EstimatePrices,
): CostSummary | undefined {
  if (!estimated.known) return undefined;
  const { effect, storage } = estimated;
  const perDay = perDayText(effect.perDay, pricing);
  const hasBackups = (storage?.backupCredits ?? 0) > 0;
  const stored = hasBackups ? 'storage and backups continue' : 'storage continues';
  const rest = kind === 'stop' ? ` · ${stored}` : '';
  return { perDay, withRange: `${perDay}${betweenText(effect.perDay, pricing)}${rest}` };
}

type PerDay = (CostChange & { known: true })['perDay'];

/** `−18.0 credits (−€6.30) per day` */
function perDayText({ about }: PerDay, pricing: EstimatePrices): string {
  return `${signedCredits(microOf(about), moneyPerDay(about, pricing))} per day`;
}

/** The range, the end nearer to zero first; empty where both ends read the same. */
function betweenText({ low, high }: PerDay, pricing: EstimatePrices): string {
  const range = [low, high].toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const [from = 0, to = 0] = low < 0 && high > 0 ? [low, high] : range;
  return signed(from) === signed(to) ? '' : rangeText([from, to], pricing);
}

/** ` (−9.0 to −26.0, −€3.15 to −€9.10)` */
function rangeText(ends: readonly number[], pricing: EstimatePrices): string {
  const money = ends.flatMap((end) => moneyPerDay(end, pricing) ?? []);
  const inMoney = money.length > 0 ? money.map(signedMoneyText).join(' to ') : null;
  return bracketed(ends.map(signed).join(' to '), inMoney);
}

/** At the current price; null without one. */
function moneyPerDay(credits: number, { prices, today }: EstimatePrices): Money | null {
  return moneyOver(microOf(credits), [today], prices);
}

// The total by month end is shown only for a change that starts now and is not reverted.
function horizon(
  { perDay, byMonthEnd }: CostChange & { known: true },
  timing: Timing | undefined,
  { prices, today }: EstimatePrices,
): readonly string[] {
  const inMoney = (credits: number, days: readonly Day[]) =>
    signedFigure(microOf(credits), moneyOver(microOf(credits), days, prices));
  if (timing?.revert) {
    const { afterMs } = timing.revert;
    const total = inMoney((perDay.about * afterMs) / DAY_MS, [today]);
    return [`${total} in the ${spanText(afterMs)} until the revert`];
  }
  if (timing || byMonthEnd.about === 0) return [];
  const rest = daysBetween(addDays(today, 1), monthSpan(monthOf(today)).last);
  return [`${inMoney(byMonthEnd.about, rest)} by month end`];
}

function storageText(storage: StorageCost | null, pricing: EstimatePrices): string {
  if (storage === null) return 'storage continues';
  const [stored, backups] = [storage.storageCredits, storage.backupCredits].map((credits) => {
    const money = moneyPerDay(credits, pricing);
    return [`${amount(credits)} credits`, ...(money ? [moneyText(money)] : [])].join(', ');
  });
  if (storage.backupCredits <= 0) return `storage (${stored} per day) continues`;
  return `storage (${stored}) and backups (${backups} per day) continue`;
}

function signed(credits: number): string {
  return signedFigure(microOf(credits));
}

/**
 * `7 settled days later: compute 26.1 → 12.9 per day (€9.14 → €4.52, −51%, 80% interval −46 to −55);
 * estimate −48%.`, with the current price.
 */
export function measuredText(
  { days, before, after, ratio }: MeasuredAfter,
  estimate: Estimate,
  pricing: EstimatePrices,
): string {
  const later = `${days} settled days later: compute ${amount(before)} → ${amount(after)} per day`;
  const money = changeInMoney(before, after, pricing);
  if (!ratio) {
    const own = estimate.perDay === null ? null : estimatePerDay(estimate.perDay, pricing);
    return `${later}${bracketed(money)}${estimateNote(own)}.`;
  }
  const ends = [ratio.low, ratio.high].map((each) => changeText(each - 1));
  const [from = '', to = ''] = ratio.high < 1 ? ends.toReversed() : ends;
  const interval = from === to ? null : `80% interval ${bare(from)} to ${bare(to)}`;
  const share = estimate.share === null ? null : changeText(estimate.share);
  const notes = bracketed(money, changeText(ratio.about - 1), interval);
  return `${later}${notes}${estimateNote(share)}.`;
}

/** `−18.0 (−€6.30) per day` */
function estimatePerDay(credits: number, pricing: EstimatePrices): string {
  return `${signedFigure(microOf(credits), moneyPerDay(credits, pricing))} per day`;
}

/** `€9.14 → €4.52`; null without a price. */
function changeInMoney(before: number, after: number, pricing: EstimatePrices): string | null {
  const money = [before, after].map((credits) => moneyPerDay(credits, pricing));
  const texts = money.flatMap((each) => (each ? [moneyText(each)] : []));
  return texts.length === 2 ? texts.join(' → ') : null;
}

interface Estimate {
  readonly perDay: number | null;
  readonly share: number | null;
}

function estimateNote(estimate: string | null): string {
  return estimate === null ? '' : `; estimate ${estimate}`;
}

function amount(credits: number): string {
  return figure(microOf(credits));
}

/** The percent sign is shown once, with the measured change. */
function bare(percent: string): string {
  return percent.replace(/ ?%/, '');
}

/** The requester waits for the preview: after this long the cost is shown as unknown. */
const TIMEOUT_MS = 2_000;

const NO_REPORT: CostEstimate = { known: false, why: 'report-silent' };

interface EstimatorContext {
  readonly database: Database;
  readonly commands: CommandEffects;
  readonly services: () => readonly Service[];
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly prices: PriceList | null;
  readonly log: Logger;
  readonly now: () => Date;
}

/** Returns the function that estimates the cost effect of a plan; see docs/costs.md. */
export function createCostEstimator(context: EstimatorContext): EstimateCost {
  return async ({ effect }, plan) => {
    if (effect === undefined) return undefined;
    if (effect === 'create') return withoutFigures(CREATION_TEXT);
    const never = effect === 'schedule' ? neverText(weeklyPlanIn(plan)) : null;
    if (never !== null) return withoutFigures(never);
    // After the timeout the work continues, and the next estimate uses what it has read.
    const estimated = await withTimeout(TIMEOUT_MS, estimateNow(context, effect, plan)).catch(
      (error: unknown) => {
        if (error instanceof TimeoutError) return null;
        context.log.warn({ err: error }, 'the cost of a change could not be estimated');
        return null;
      },
    );
    if (estimated) return estimated;
    return withoutFigures(effectText(effect, NO_REPORT, plan, context));
  };
}

function withoutFigures(text: string): CostEffect {
  return { text, perDay: null, share: null };
}

function stoppedIn(plan: Plan, now: Date): number {
  return stoppedHours(weeklyPlanIn(plan), now);
}

function weeklyPlanIn({ body }: Plan): WeeklyPlan {
  return readWeeklyPlan(timesOf({ fields: body }));
}

/** Why a week with this schedule saves no fixed amount; null if it does. */
function neverText({ stop, start }: WeeklyPlan): string | null {
  if (stop.length === 0) return 'not available: the schedule has no stop';
  return start.length === 0 ? 'not available: without a start, the service stays stopped' : null;
}

type EstimatedEffect = EstimatedKind | 'schedule';

function effectText(
  effect: EstimatedEffect,
  estimated: CostEstimate,
  plan: Plan,
  { prices, now }: Pick<EstimatorContext, 'prices' | 'now'>,
): string {
  const pricing = { prices, today: dayOf(now()) };
  if (effect !== 'schedule') return estimateText(effect, estimated, plan.timing, pricing);
  return weeklySavingText(estimated, stoppedIn(plan, now()), pricing);
}

async function estimateNow(
  context: EstimatorContext,
  effect: EstimatedEffect,
  plan: Plan,
): Promise<CostEffect> {
  const kind = effect === 'schedule' ? 'stop' : effect;
  const today = dayOf(context.now());
  const span = historySpan(today);
  const { db } = context.database;
  const [read, changes, sizedAt] = await Promise.all([
    context.costs(span),
    lastCostChanges(db, span.first, context.commands),
    kind === 'scale' ? lastResize(db, span.first, plan.target, context.commands) : null,
  ]);
  const { rows, gaps } = read;
  const ranAt = lastTimes(changes);
  const estimated = estimate(kind, plan, {
    rows,
    today,
    services: context.services(),
    ranAt,
    sizedAt,
  });
  // With a month missing, too few days is a property of the report and not of the service.
  const shown = !estimated.known && gaps.length > 0 ? NO_REPORT : estimated;
  const text = effectText(effect, shown, plan, context);
  const pricing = { prices: context.prices, today };
  if (effect === 'schedule') {
    const summary = weeklySummary(shown, stoppedIn(plan, context.now()), pricing);
    const whole = shown.known ? `${text}${ageText(read)}` : text;
    return { ...withoutFigures(whole), ...(summary && { summary }) };
  }
  const summary = estimateSummary(effect, shown, pricing);
  return { ...costEffect(text, shown, ageText(read)), ...(summary && { summary }) };
}

function costEffect(text: string, estimated: CostEstimate, age: string): CostEffect {
  if (!estimated.known) return withoutFigures(text);
  const { effect, share } = estimated;
  return { text: `${text}${age}`, perDay: effect.perDay.about, share };
}

/** For each month that was not read now: the time of the stored copy, or that it is missing. */
function ageText({ gaps }: CostReading): string {
  if (gaps.length === 0) return '';
  const parts = gaps.map(({ month, from }) =>
    from ? `${month} as of ${utcStamp(from)}` : `without ${month}`,
  );
  return `; the usage report did not answer (${parts.join(', ')})`;
}

/** The longer first: the shorter one is shown until the days of the longer one are settled. */
const AFTER_DAYS = [7, 3] as const;

interface MeasureContext {
  readonly database: Database;
  readonly commands: CommandEffects;
  readonly prices: PriceList | null;
  readonly now: () => Date;
  /** Reads the stored usage report. */
  readonly costs: (span: Span) => Promise<CostReading>;
}

/** Returns the measured cost effect of a change as a sentence; null while there is none. */
type MeasureEffect = (change: Change) => Promise<string | null>;

/** Returns the function that measures the cost effect of a change. Source: docs/costs.md#measured-effect. */
export function createEffectMeasurement(context: MeasureContext): MeasureEffect {
  return async ({ id, state, command, plan, outcome }) => {
    const kind = estimatedKind(context.commands, command);
    // The run of a schedule lasts some hours, so it has no effect on whole days.
    if (state !== 'succeeded' || !outcome || !kind || plan.timing?.schedule) return null;
    const changedOn = dayOf(outcome.at);
    const today = dayOf(context.now());
    const first = addDays(changedOn, -HISTORY_DAYS);
    const ofAll = await lastCostChanges(context.database.db, first, context.commands);
    const [last, before] = ofAll.filter((one) => one.targetKey === targetKey(plan.target));
    if (last?.id !== id) return null;

    const end = addDays(changedOn, Math.max(...AFTER_DAYS));
    const yesterday = addDays(today, -1);
    const span = { first, last: end < yesterday ? end : yesterday };
    const { rows, gaps } = await context.costs(span);
    if (gaps.length > 0) return null;
    const series = computeOf(kind, plan.target.id, rows, span);
    const heldFrom = before ? dayOf(before.at) : null;
    const [measured] = AFTER_DAYS.flatMap(
      (days) => measureAfter(series, changedOn, days, heldFrom) ?? [],
    );
    const { perDay = null, share = null } = plan.cost ?? {};
    const pricing = { prices: context.prices, today };
    return measured ? measuredText(measured, { perDay, share }, pricing) : null;
  };
}
