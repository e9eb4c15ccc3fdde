import type { Timing } from '../changes/change.ts';
import type { CostChange, EffectBasis } from '../costs/effect/change-effect.ts';
import { changeText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import { countWords } from '../intent/answers/texts.ts';
import { spanText } from '../intent/arguments/timing.ts';
import type { CostEstimate, StorageCost, UnknownReason } from './estimate.ts';
import type { EstimatedKind } from './estimated.ts';
import type { MeasuredAfter } from './measured-after.ts';

const UNKNOWN: Readonly<Record<UnknownReason, string>> = {
  'too-few-final-days': 'needs 7 final days',
  'size-not-known': 'Signalbox learns the size from the first change of this service',
  'price-not-known': 'needs 3 final days at a fixed size without idling',
  'no-costs-yet': 'the usage report has no costs of this service yet',
  'only-the-timeout': 'depends on how often the service is idle',
  'scaled-lately': 'needs 7 final days since the last change of its size',
  'report-silent': 'the usage report did not answer',
};

export const CREATION_TEXT = 'unknown: depends on the load';

const BASES: Readonly<Record<EffectBasis, (days: string) => string>> = {
  'past-days': (days) => `from ${days}`,
  'fixed-size': (days) => `from ${days} and both sizes`,
  'unit-price': (days) => `from ${days} and the size limits; autoscaling decides`,
};

/** `−18.0 credits per day (−9.0 to −26.0), from 14 final days; −180.4 by month end` */
export function estimateText(
  kind: EstimatedKind,
  estimated: CostEstimate,
  timing?: Timing,
): string {
  if (!estimated.known) return `unknown: ${UNKNOWN[estimated.why]}`;
  const { perDay, basis, days } = estimated.effect;
  const range = [perDay.low, perDay.high].toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const mixed = perDay.low < 0 && perDay.high > 0;
  const [from = 0, to = 0] = mixed ? [perDay.low, perDay.high] : range;
  const between = signed(from) === signed(to) ? '' : ` (${signed(from)} to ${signed(to)})`;
  const count = countWords(days, 'final day');
  const clauses = [
    `${signed(perDay.about)} credits per day${between}, ${BASES[basis](count)}`,
    ...horizon(estimated.effect, timing),
    ...(kind === 'start' ? ['no change if it already runs'] : []),
    ...(kind === 'stop' ? [storageText(estimated.storage)] : []),
  ];
  return clauses.join('; ');
}

const DAY_MS = 86_400_000;

// The total by month end is shown only for a change that starts now and is not reverted.
function horizon(
  { perDay, byMonthEnd }: CostChange & { known: true },
  timing: Timing | undefined,
): readonly string[] {
  if (timing?.revert) {
    const { afterMs } = timing.revert;
    const total = signed((perDay.about * afterMs) / DAY_MS);
    return [`${total} in the ${spanText(afterMs)} until the revert`];
  }
  return timing || byMonthEnd.about === 0 ? [] : [`${signed(byMonthEnd.about)} by month end`];
}

function storageText(storage: StorageCost | null): string {
  if (storage === null) return 'storage continues';
  const { storageCredits, backupCredits } = storage;
  if (backupCredits <= 0) return `storage (${amount(storageCredits)} per day) continues`;
  const [stored, backups] = [amount(storageCredits), amount(backupCredits)];
  return `storage (${stored}) and backups (${backups} per day) continue`;
}

function signed(credits: number): string {
  return signedFigure(microOf(credits));
}

/** `7 final days later: compute 26.1 → 12.9 per day (−51%, 80% interval −46 to −55); estimate −48%.` */
export function measuredText(
  { days, before, after, ratio }: MeasuredAfter,
  estimate: Estimate,
): string {
  const later = `${days} final days later: compute ${amount(before)} → ${amount(after)} per day`;
  if (!ratio)
    return `${later}${estimateNote(estimate.perDay === null ? null : `${signed(estimate.perDay)} per day`)}.`;

  const ends = [ratio.low, ratio.high].map((each) => changeText(each - 1));
  const [from = '', to = ''] = ratio.high < 1 ? ends.toReversed() : ends;
  const interval = from === to ? '' : `, 80% interval ${bare(from)} to ${bare(to)}`;
  const share = estimate.share === null ? null : changeText(estimate.share);
  return `${later} (${changeText(ratio.about - 1)}${interval})${estimateNote(share)}.`;
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
