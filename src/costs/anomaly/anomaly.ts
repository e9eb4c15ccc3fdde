import type { Day } from '../calendar/day.ts';
import { median } from '../forecast/robust.ts';
import { HISTORY_DAYS, historyOf, isCost, LEAST_DAYS, settledDays } from '../forecast/series.ts';
import type { DayValue } from '../ledger/row.ts';
import { type Baseline, baselineOf, deviationOf, expectedOn } from './baseline.ts';

/** A notice belongs into the digest, an alert is worth a message of its own. */
export type AnomalyTier = 'notice' | 'alert';
export type Direction = 'up' | 'down';

export type AnomalyVerdict =
  | { readonly kind: 'usual'; readonly expected: number }
  | {
      readonly kind: 'unusual';
      readonly tier: AnomalyTier;
      readonly direction: Direction;
      /** Credits, as is `excess`: value − expected, negative for a drop. */
      readonly expected: number;
      readonly excess: number;
      /** How many sigmas the day lies off. */
      readonly z: number;
    }
  /** A line that costs seldom, or never before, and now more than it ever did. */
  | {
      readonly kind: 'rare-cost' | 'new-cost';
      readonly expected: number;
      readonly excess: number;
    }
  | { readonly kind: 'untested'; readonly why: 'too-new' | 'not-a-cost' };

export const NOTICE_Z = 3.5;
export const ALERT_Z = 5;
const LEAST_IMPACT = 2;
const IMPACT_SHARE = 0.005;
const LEAST_SHARE = 0.25;
const SPARSE_SHARE = 0.5;
const SPARSE_FACTOR = 1.5;

/**
 * Credits below which nobody is told: max(2, 0.5% of the median of the organisation's last 56
 * final days), so that it grows with what is spent.
 */
export function minImpactOf(organization: readonly DayValue[]): number {
  const days = settledDays(organization).slice(-HISTORY_DAYS);
  if (days.length === 0) return LEAST_IMPACT;
  return Math.max(LEAST_IMPACT, IMPACT_SHARE * median(days.map(({ value }) => value)));
}

/**
 * Whether one day of one line is unusual beside the final days before it, at most 56.
 * r = ln((v + a) / (expected + a)), z = r / sigma (baseline.ts); unusual means |z| > 3.5 (alert: 5)
 * and |v − expected| ≥ minImpact, and ≥ 25% of what was expected, and |r| beyond the second
 * largest of the past. A day that is not final is tested upwards only: it may be incomplete, and
 * 13% of normal lines would count as dropped. Drops are notices. A line with cost on less than
 * half of its days is not tested but told when v ≥ 2 · minImpact and v > 1.5 · its largest. Less
 * than 10 final days: too new. minImpact in credits, above 0.
 * Source: docs/costs.md#anomalies; false alarms: docs/costs.md#tests-on-synthetic-data.
 */
export function judge(
  series: readonly DayValue[],
  day: DayValue,
  minImpact: number,
): AnomalyVerdict {
  if (!isCost(day.value)) return { kind: 'untested', why: 'not-a-cost' };
  const history = historyOf(series, day.day);
  if (history.length < LEAST_DAYS) return { kind: 'untested', why: 'too-new' };
  if (isSparse(history)) return judgeSparse(history, day, minImpact);
  return judgeBeside(baselineOf(history, minImpact), day, minImpact);
}

function isSparse(history: readonly DayValue[]): boolean {
  return history.filter(({ value }) => value > 0).length < SPARSE_SHARE * history.length;
}

function judgeSparse(
  history: readonly DayValue[],
  { value }: DayValue,
  minImpact: number,
): AnomalyVerdict {
  const most = Math.max(...history.map((day) => day.value));
  if (value < 2 * minImpact || value <= SPARSE_FACTOR * most) return { kind: 'usual', expected: 0 };
  return { kind: most > 0 ? 'rare-cost' : 'new-cost', expected: 0, excess: value };
}

function judgeBeside(baseline: Baseline, { day, value, final }: DayValue, minImpact: number) {
  const expected = expectedOn(baseline, day);
  const excess = value - expected;
  const usual = { kind: 'usual', expected } as const;
  if (Math.abs(excess) < leastExcess(baseline, expected, minImpact)) return usual;
  if (excess < 0 && !final) return usual;

  const { sigma, before } = deviationOf(baseline);
  const r = Math.log((value + baseline.offset) / (expected + baseline.offset));
  const z = r / sigma;
  if (Math.abs(z) <= NOTICE_Z || Math.abs(r) <= before) return usual;

  const direction = excess > 0 ? 'up' : 'down';
  const tier = direction === 'up' && z > ALERT_Z ? 'alert' : 'notice';
  return { kind: 'unusual', tier, direction, expected, excess, z } as const;
}

function leastExcess({ offset }: Baseline, expected: number, minImpact: number): number {
  return Math.max(minImpact, LEAST_SHARE * Math.max(expected, offset));
}

export interface Range {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The values of that day that would not be unusual, in credits: where all conditions of `judge`
 * turn. Null where it does not test by range: a new line, or a sparse one.
 */
export function usualRange(series: readonly DayValue[], day: Day, minImpact: number): Range | null {
  const history = historyOf(series, day);
  if (history.length < LEAST_DAYS || isSparse(history)) return null;
  const baseline = baselineOf(history, minImpact);
  const { sigma, before } = deviationOf(baseline);
  const { offset } = baseline;
  const expected = expectedOn(baseline, day);
  const factor = Math.exp(Math.max(NOTICE_Z * sigma, before));
  const context = leastExcess(baseline, expected, minImpact);
  const low = Math.min((expected + offset) / factor - offset, expected - context);
  const high = Math.max((expected + offset) * factor - offset, expected + context);
  return { expected, low: Math.max(0, low), high };
}
