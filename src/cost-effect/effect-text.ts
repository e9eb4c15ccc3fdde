import type { Timing } from '../changes/change.ts';
import type { CostChange, EffectBasis } from '../costs/effect/change-effect.ts';
import { changeText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import { countWords } from '../intent/answers/counted.ts';
import { spanText } from '../intent/arguments/timing.ts';
import type { CostEstimate, GoingOn, NotEstimated } from './estimate.ts';
import type { EstimatedKind } from './estimated.ts';
import type { MeasuredAfter } from './measured-after.ts';

const WHY_NOT: Readonly<Record<NotEstimated, string>> = {
  'too-few-final-days': 'fewer than 7 days of it are final',
  'size-not-known': 'its size was in no reply yet; any start, stop or scale of it shows it',
  'price-not-known':
    'the price of a GB-hour is not known yet; 3 final days with min = max and no idling show it',
  'no-costs-yet': 'the usage report has nothing of it yet',
  'only-the-timeout': 'it depends on how often it is idle',
  'scaled-lately': 'its size was changed lately, and fewer than 7 days since then are final',
  'report-silent': 'the usage report did not answer',
};

export const CREATION_TEXT = 'not known: it depends on what it will do';

const BASES: Readonly<Record<EffectBasis, (days: string) => string>> = {
  'past-days': (days) => `from ${days}`,
  'fixed-size': (days) => `from ${days} and both sizes`,
  'unit-price': (days) => `from ${days} and its bounds; the autoscaler decides`,
};

/** `about −18.0 credits a day (−9.0 … −26.0), from 14 final days; −180.4 by month end` */
export function estimateText(
  kind: EstimatedKind,
  estimated: CostEstimate,
  timing?: Timing,
): string {
  if (!estimated.known) return `not known: ${WHY_NOT[estimated.why]}`;
  const { perDay, basis, days } = estimated.effect;
  const range = [perDay.low, perDay.high].toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const mixed = perDay.low < 0 && perDay.high > 0;
  const [from = 0, to = 0] = mixed ? [perDay.low, perDay.high] : range;
  const between = signed(from) === signed(to) ? '' : ` (${signed(from)} … ${signed(to)})`;
  const count = countWords(days, 'final day');
  const clauses = [
    `about ${signed(perDay.about)} credits a day${between}, ${BASES[basis](count)}`,
    ...horizon(estimated.effect, timing),
    ...(kind === 'start' ? ['nothing where it runs already'] : []),
    ...(kind === 'stop' ? [storageText(estimated.storage)] : []),
  ];
  return clauses.join('; ');
}

const DAY_MS = 86_400_000;

// The end of the month is counted from now, and for good.
function horizon(
  { perDay, byMonthEnd }: CostChange & { known: true },
  timing: Timing | undefined,
): readonly string[] {
  if (timing?.revert) {
    const { afterMs } = timing.revert;
    const meanwhile = signed((perDay.about * afterMs) / DAY_MS);
    return [`${meanwhile} in the ${spanText(afterMs)} until it goes back`];
  }
  return timing || byMonthEnd.about === 0 ? [] : [`${signed(byMonthEnd.about)} by month end`];
}

function storageText(storage: GoingOn | null): string {
  if (storage === null) return 'storage goes on';
  const { storageCredits, backupCredits } = storage;
  const backups = backupCredits > 0 ? `, backups ${amount(backupCredits)}` : '';
  return `storage ${amount(storageCredits)} a day goes on${backups}`;
}

export function signed(credits: number): string {
  return signedFigure(microOf(credits));
}

/**
 * `7 final days later: compute 26.1 → 12.9 a day (−51%, about 80% sure between −46 and −55); the
 * estimate was −48%.`
 */
export function measuredText({ days, before, after, ratio }: MeasuredAfter, told: Told): string {
  const later = `${days} final days later: compute ${amount(before)} → ${amount(after)} a day`;
  if (!ratio)
    return `${later}${was(told.perDay === null ? null : `${signed(told.perDay)} a day`)}.`;

  const ends = [ratio.low, ratio.high].map((each) => changeText(each - 1));
  const [from = '', to = ''] = ratio.high < 1 ? ends.toReversed() : ends;
  const sure = from === to ? '' : `, about 80% sure between ${bare(from)} and ${bare(to)}`;
  const share = told.share === null ? null : changeText(told.share);
  return `${later} (${changeText(ratio.about - 1)}${sure})${was(share)}.`;
}

interface Told {
  readonly perDay: number | null;
  readonly share: number | null;
}

function was(estimate: string | null): string {
  return estimate === null ? '' : `; the estimate was ${estimate}`;
}

function amount(credits: number): string {
  return figure(microOf(credits));
}

/** The unit stands once, with the first figure. */
function bare(percent: string): string {
  return percent.replace(' %', '');
}
