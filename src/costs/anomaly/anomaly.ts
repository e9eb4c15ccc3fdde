import type { Day } from '../../base/time.ts';
import { median } from '../forecast/robust.ts';
import {
  daysBefore,
  HISTORY_DAYS,
  isCost,
  LEAST_DAYS,
  type SettledDay,
  settledDays,
} from '../forecast/series.ts';
import type { DayValue } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';
import { type Baseline, baselineOf, deviationOf, expectedOn } from './baseline.ts';

/** A notice is part of the digest; an alert gets a message of its own. */
export type AnomalyTier = 'notice' | 'alert';
export type Direction = 'up' | 'down';

export type AnomalyVerdict =
  | { readonly kind: 'usual'; readonly expected: number }
  | {
      readonly kind: 'unusual';
      readonly tier: AnomalyTier;
      readonly direction: Direction;
      /** In credits, like `excess`: value − expected, negative for a drop. */
      readonly expected: number;
      readonly excess: number;
      /** The deviation in sigmas. */
      readonly z: number;
    }
  /** A line that rarely or never had costs, and now costs more than ever. */
  | {
      readonly kind: 'rare-cost' | 'new-cost';
      readonly expected: number;
      readonly excess: number;
    }
  | { readonly kind: 'untested'; readonly why: 'too-new' | 'not-a-cost' };

const NOTICE_Z = 3.5;
const ALERT_Z = 5;
const LEAST_IMPACT = 2;
const IMPACT_SHARE = 0.005;
const LEAST_SHARE = 0.25;
const SPARSE_SHARE = 0.5;
const SPARSE_FACTOR = 1.5;

/**
 * The minimum impact of an anomaly, in credits: max(2, 0.5% of the median of the organization's last
 * 56 settled days), so that it grows with the total cost.
 */
export function minImpactOf(organization: readonly DayValue[]): number {
  const days = settledDays(organization).slice(-HISTORY_DAYS);
  if (days.length === 0) return LEAST_IMPACT;
  return Math.max(LEAST_IMPACT, IMPACT_SHARE * median(days.map(({ value }) => value)));
}

/**
 * Whether one day of one line is unusual, compared with at most 56 days before it. `days`: the settled
 * days of the line, in order.
 * r = ln((v + a) / (expected + a)), z = r / sigma (baseline.ts); unusual means |z| > 3.5 (alert: 5)
 * and |v − expected| ≥ minImpact, and ≥ 25% of the expected cost, and |r| above the second largest
 * of the past. A day that is not settled is tested for increases only: it may be incomplete, and
 * 13% of normal lines would count as dropped. Drops are notices. A line with costs on less than half of
 * its days is reported if v ≥ 2 · minImpact and v > 1.5 · its maximum. With fewer than 10
 * settled days it is too new. minImpact is in credits, above 0.
 * Source: docs/costs.md#anomalies; false alarms: docs/costs.md#tests-on-synthetic-data.
 */
export function judge(
  days: readonly SettledDay[],
  day: DayValue,
  minImpact: number,
): AnomalyVerdict {
  if (!isCost(day.value)) return { kind: 'untested', why: 'not-a-cost' };
  const history = daysBefore(days, day.day);
  if (history.length < LEAST_DAYS) return { kind: 'untested', why: 'too-new' };
  if (isSparse(history)) return judgeSparse(history, day, minImpact);
  return judgeByBaseline(baselineOf(history, minImpact), day, minImpact);
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

function judgeByBaseline(baseline: Baseline, judged: DayValue, minImpact: number) {
  const { day, value } = judged;
  const expected = expectedOn(baseline, day);
  const excess = value - expected;
  const usual = { kind: 'usual', expected } as const;
  if (Math.abs(excess) < leastExcess(baseline, expected, minImpact)) return usual;
  if (excess < 0 && !isSettled(judged)) return usual;

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
 * The range of usual values of a day, in credits: the limits of the conditions of `judge`. Null for
 * a line that is new or rarely has costs, which is not tested by range.
 */
export function usualRange(days: readonly SettledDay[], day: Day, minImpact: number): Range | null {
  const history = daysBefore(days, day);
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
