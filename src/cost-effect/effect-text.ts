import { monthOf, monthSpan } from '../base/calendar.ts';
import { addDays, type Day, daysBetween } from '../base/time.ts';
import { countWords } from '../domain/answer.ts';
import type { CostSummary, Timing } from '../domain/change.ts';
import { spanText } from '../domain/timing.ts';
import type { CostChange, EffectBasis } from '../maths/effect.ts';
import type { PriceList } from '../maths/money.ts';
import { type Money, moneyOver, moneyText, signedMoneyText } from '../maths/money.ts';
import { bracketed, changeText, figure, signedCredits, signedFigure } from '../maths/numbers.ts';
import { microOf } from '../maths/rows.ts';
import type { CostEstimate, StorageCost, UnknownReason } from './estimate.ts';
import type { EstimatedKind } from './executed-changes.ts';
import type { MeasuredAfter } from './measured-after.ts';

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

const DAY_MS = 86_400_000;

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
