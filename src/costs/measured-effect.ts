import { addDays, type Day, dayOf } from '../base/time.ts';
import type { Change, CostEffect } from '../domain/change.ts';
import { measuredEffect } from '../maths/effect.ts';
import { moneyText } from '../maths/money.ts';
import { bracketed, changeText, mean, signedFigure } from '../maths/numbers.ts';
import { type DayValue, microOf } from '../maths/rows.ts';
import { HISTORY_DAYS, historyOf, LEVEL_DAYS } from '../maths/statistics.ts';
import {
  amount,
  computeOf,
  type EstimatePrices,
  type EstimatorContext,
  estimatedKind,
  lastCostChanges,
  moneyPerDay,
} from './estimate.ts';

/** The longer first: the shorter one is shown until the days of the longer one are settled. */
const AFTER_DAYS = [7, 3] as const;

/** `costs` reads the stored usage report. */
type MeasureContext = Pick<
  EstimatorContext,
  'events' | 'organization' | 'commands' | 'prices' | 'now' | 'costs'
>;

/**
 * Returns the function that measures the cost effect of a change: as one sentence, null while there
 * is none. Source: docs/costs.md#measured-effect.
 */
export function createEffectMeasurement(
  context: MeasureContext,
): (change: Change) => Promise<string | null> {
  return async ({ id, state, command, plan, outcome }) => {
    const kind = estimatedKind(context.commands, command);
    // The run of a schedule lasts some hours, so it has no effect on whole days.
    if (state !== 'succeeded' || !outcome || !kind || plan.timing?.schedule) return null;
    const changedOn = dayOf(outcome.at);
    const today = dayOf(context.now());
    const first = addDays(changedOn, -HISTORY_DAYS);
    const [last, before] = await lastCostChanges(context, plan.target);
    if (last?.id !== id) return null;

    const end = addDays(changedOn, Math.max(...AFTER_DAYS));
    const yesterday = addDays(today, -1);
    const span = { first, last: end < yesterday ? end : yesterday };
    const { rows, gaps } = await context.costs(span);
    if (gaps.length > 0) return null;
    const series = computeOf(kind, plan.target.id, rows, span);
    const beforeOn = before?.outcome ? dayOf(before.outcome.at) : null;
    const heldFrom = beforeOn !== null && beforeOn >= first ? beforeOn : null;
    const [measured] = AFTER_DAYS.flatMap(
      (days) => measureAfter(series, changedOn, days, heldFrom) ?? [],
    );
    const { perDay = null, share = null } = plan.cost ?? {};
    const pricing = { prices: context.prices, today };
    return measured ? measuredText(measured, { perDay, share }, pricing) : null;
  };
}

/** The measured effect of a change, in credits of compute per day. */
interface MeasuredAfter {
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
  const before = mean(
    historyOf(series, changedOn)
      .slice(-LEVEL_DAYS)
      .map(({ value }) => value),
  );
  const last = addDays(changedOn, days);
  const since = series.filter(({ day }) => day > changedOn && day <= last);
  const after = mean(since.map(({ value }) => value));
  return after > 0 ? { days, before, after, ratio: null } : null;
}

/**
 * `7 settled days later: compute 26.1 → 12.9 per day (€9.14 → €4.52, −51%, 80% interval −46 to −55);
 * estimate −48%.`, with the current price.
 */
export function measuredText(
  { days, before, after, ratio }: MeasuredAfter,
  estimate: Pick<CostEffect, 'perDay' | 'share'>,
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

function estimateNote(estimate: string | null): string {
  return estimate === null ? '' : `; estimate ${estimate}`;
}

/** The percent sign is shown once, with the measured change. */
function bare(percent: string): string {
  return percent.replace(/ ?%/, '');
}
