import type { Span } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import type { By } from '../ledger/grouping.ts';
import { dayStates, isSettledDay } from '../ledger/ledger.ts';
import type { CostRow, Micro } from '../ledger/row.ts';
import { type SummaryLine, sumBy } from '../ledger/summary.ts';
import { type Money, moneyDifference } from '../money/money.ts';
import { relativeOf } from './comparison.ts';
import { type DayPair, type PairingProblem, pairDays } from './day-pairs.ts';

/** A line whose cost changed; amounts in millionths of a credit. */
export interface Mover {
  readonly key: string;
  readonly name: string;
  /** `new`: no row at all on the days before; `vanished`: none on the days now. */
  readonly kind: 'changed' | 'new' | 'vanished';
  readonly now: Micro;
  readonly before: Micro;
  readonly delta: Micro;
  /** Of `delta`: with the prices of the compared days, so that a new price is a change as well. */
  readonly money: Money | null;
  /** Null for a new line, and if `before` is below one credit. */
  readonly relative: number | null;
}

type Movers =
  | {
      readonly ok: true;
      /** The number of compared days of each span. */
      readonly days: number;
      /** The number of these pairs in which a day is not locked. */
      readonly notLocked: number;
      readonly movers: readonly Mover[];
    }
  | { readonly ok: false; readonly why: PairingProblem };

interface MoverOptions {
  readonly by: Exclude<By, 'day' | 'week' | 'month'>;
  /** Smaller changes are left out. */
  readonly minimum: Micro;
}

const MOST = 5;
const EXPLAINED = 0.8;

/**
 * The lines with the largest `|Δ|` between two spans, on the days that are settled in both, until they
 * explain 80% of `Σ|Δ|` over all lines: at most five, each at least the minimum. The spans must be
 * comparable, as in `compare`. Source: docs/costs.md#movers.
 */
export function moversOf(
  rows: readonly CostRow[],
  now: Span,
  before: Span,
  { by, minimum }: MoverOptions,
): Movers {
  const pairing = settledPairs(rows, now, before);
  if (!pairing.ok) return pairing;

  const { pairs, notLocked } = pairing;
  const movers = largest(changesOn(rows, by, pairs), { minimum, top: null });
  return { ok: true, days: pairs.length, notLocked, movers };
}

type SettledPairs =
  | {
      readonly ok: true;
      readonly pairs: readonly DayPair[];
      readonly sameWeekdays: boolean;
      /** The number of pairs in which a day is not locked. */
      readonly notLocked: number;
    }
  | { readonly ok: false; readonly why: PairingProblem };

/** The pairs of days that are settled in both spans. `rows`: all rows decide about a day. */
export function settledPairs(rows: readonly CostRow[], now: Span, before: Span): SettledPairs {
  const states = [...dayStates(rows, now), ...dayStates(rows, before)];
  const settled = new Map(states.filter(isSettledDay).map(({ day, state }) => [day, state]));
  const pairing = pairDays(now, before, (day) => settled.has(day));
  if (!pairing.ok) return pairing;
  const isFinal = (day: Day) => settled.get(day) === 'final';
  const open = pairing.pairs.filter((pair) => !isFinal(pair.now) || !isFinal(pair.before));
  return { ...pairing, notLocked: open.length };
}

/** The change of every line on paired days. */
export function changesOn(
  rows: readonly CostRow[],
  by: By,
  pairs: readonly DayPair[],
): readonly Mover[] {
  const linesOn = (side: keyof DayPair) => {
    const own = rowsOn(rows, pairs, side);
    return sumBy(own.rows, by, own.span);
  };
  return changesBetween(linesOn('now'), linesOn('before'));
}

export type ComparedLine = Pick<SummaryLine, 'key' | 'name' | 'total' | 'money'>;

/** The change of every line of both lists. A line has its current name. */
export function changesBetween(
  nowLines: readonly ComparedLine[],
  beforeLines: readonly ComparedLine[],
): readonly Mover[] {
  const byKey = (lines: readonly ComparedLine[]) => new Map(lines.map((line) => [line.key, line]));
  const [now, before] = [byKey(nowLines), byKey(beforeLines)];
  return [...new Map([...before, ...now]).values()].map(({ key, name }) => {
    const [is, was] = [now.get(key), before.get(key)];
    const sums = { now: is?.total ?? 0, before: was?.total ?? 0 };
    const kind = is === undefined ? 'vanished' : was === undefined ? 'new' : 'changed';
    const relative = relativeOf(sums.now, sums.before);
    const money = moneyDifference(is?.money, was?.money);
    return { key, name, kind, ...sums, delta: sums.now - sums.before, money, relative };
  });
}

/** The rows of the paired days of one side, and the span of these days. */
export function rowsOn(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  side: keyof DayPair,
): { readonly rows: readonly CostRow[]; readonly span: Span } {
  const days = new Set(pairs.map((pair) => pair[side]));
  const span = { first: pairs[0]?.[side] ?? '', last: pairs.at(-1)?.[side] ?? '' };
  return { rows: rows.filter(({ day }) => days.has(day)), span };
}

interface Limits {
  readonly minimum: Micro;
  /** That many lines; null: until they explain 80%, at most five. */
  readonly top: number | null;
}

/** The lines with the largest changes, each at least the minimum, the largest first. */
export function largest(all: readonly Mover[], { minimum, top }: Limits): readonly Mover[] {
  const size = ({ delta }: Mover) => Math.abs(delta);
  const sorted = [...all].sort((a, b) => size(b) - size(a) || (a.key < b.key ? -1 : 1));
  const enough = EXPLAINED * all.reduce((sum, mover) => sum + size(mover), 0);
  const movers: Mover[] = [];
  let explained = 0;
  for (const mover of sorted) {
    const isEnough = top === null ? explained >= enough : false;
    if (size(mover) < minimum || isEnough || movers.length === (top ?? MOST)) break;
    movers.push(mover);
    explained += size(mover);
  }
  return movers;
}
