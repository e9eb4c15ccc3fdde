import type { Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import type { By } from '../ledger/grouping.ts';
import { type DayState, dayStates } from '../ledger/ledger.ts';
import type { CostRow, Micro } from '../ledger/row.ts';
import { type SummaryLine, sumBy } from '../ledger/summary.ts';
import { relativeOf } from './comparison.ts';
import { type Pair, paired, type Unpaired } from './pairing.ts';

/** A line that changed, money in millionths of a credit. */
export interface Mover {
  readonly key: string;
  readonly name: string;
  /** `new`: no row at all on the days before; `vanished`: none on the days now. */
  readonly kind: 'changed' | 'new' | 'vanished';
  readonly now: Micro;
  readonly before: Micro;
  readonly delta: Micro;
  /** Null for what is new, and where what was is below a credit: never "+∞ %". */
  readonly relative: number | null;
}

export type Movers =
  | {
      readonly ok: true;
      /** How many days of each side were held against each other. */
      readonly days: number;
      readonly movers: readonly Mover[];
    }
  | { readonly ok: false; readonly why: Unpaired };

export interface MoversAsked {
  readonly by: Exclude<By, 'day' | 'week' | 'month'>;
  /** A smaller change is not worth a line. */
  readonly minimum: Micro;
}

const MOST = 5;
const EXPLAINED = 0.8;

/**
 * What made the difference between two spans, on the days that are final in both: the lines with
 * the largest `|Δ|` first, until they explain 80% of `Σ|Δ|` over all lines, at most five, each of
 * at least the minimum. Refused as `compare` does. Source: docs/costs.md#movers.
 */
export function moversOf(
  rows: readonly CostRow[],
  now: Span,
  before: Span,
  { by, minimum }: MoversAsked,
): Movers {
  const final = new Set([...finalDays(rows, now), ...finalDays(rows, before)]);
  const pairing = paired(now, before, (day) => final.has(day));
  if (!pairing.ok) return pairing;

  const linesOn = (span: Span, side: keyof Pair) => {
    const days = new Set(pairing.pairs.map((pair) => pair[side]));
    return sumBy(
      rows.filter(({ day }) => days.has(day)),
      by,
      span,
    );
  };
  const all = differences(linesOn(now, 'now'), linesOn(before, 'before'));
  return { ok: true, days: pairing.pairs.length, movers: largest(all, minimum) };
}

function finalDays(rows: readonly CostRow[], span: Span): readonly Day[] {
  const isFinal = ({ state }: DayState) => state === 'final';
  return dayStates(rows, span)
    .filter(isFinal)
    .map(({ day }) => day);
}

function differences(
  now: readonly SummaryLine[],
  before: readonly SummaryLine[],
): readonly Mover[] {
  const earlier = new Map(before.map((line) => [line.key, line]));
  const present = new Set(now.map(({ key }) => key));
  const gone = before.filter(({ key }) => !present.has(key));
  return [
    ...now.map((line) => moverOf(line, line, earlier.get(line.key))),
    ...gone.map((line) => moverOf(line, undefined, line)),
  ];
}

function moverOf(
  { key, name }: SummaryLine,
  now: SummaryLine | undefined,
  before: SummaryLine | undefined,
): Mover {
  const sums = { now: now?.total ?? 0, before: before?.total ?? 0 };
  const kind = before === undefined ? 'new' : now === undefined ? 'vanished' : 'changed';
  const relative = relativeOf(sums.now, sums.before);
  return { key, name, kind, ...sums, delta: sums.now - sums.before, relative };
}

function largest(all: readonly Mover[], minimum: Micro): readonly Mover[] {
  const size = ({ delta }: Mover) => Math.abs(delta);
  const sorted = [...all].sort((a, b) => size(b) - size(a) || (a.key < b.key ? -1 : 1));
  const enough = EXPLAINED * all.reduce((sum, mover) => sum + size(mover), 0);
  const movers: Mover[] = [];
  let explained = 0;
  for (const mover of sorted) {
    if (size(mover) < minimum || explained >= enough || movers.length === MOST) break;
    movers.push(mover);
    explained += size(mover);
  }
  return movers;
}
