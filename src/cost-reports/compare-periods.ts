import { lengthOf, type Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { spanLabel } from '../costs/calendar/span-label.ts';
import { type Comparison, compare } from '../costs/comparison/comparison.ts';
import { paired, type Unpaired } from '../costs/comparison/pairing.ts';
import { dayAgainst } from '../costs/comparison/standing.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import { type By, isOfTime } from '../costs/ledger/grouping.ts';
import type { RowSelector } from '../costs/ledger/ledger.ts';
import { changeText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { type CostRow, type DayValue, type Micro, microOf } from '../costs/ledger/row.ts';
import { sumBy } from '../costs/ledger/summary.ts';
import { countWords } from '../intent/answers/texts.ts';

/** Two compared spans, and the value of each day of both. */
export interface PeriodComparison {
  readonly now: Span;
  readonly before: Span;
  readonly series: readonly DayValue[];
}

/** `rows`: all rows of the report, because a day is only final when all its rows are. */
export function preparePeriods(
  rows: readonly CostRow[],
  selector: RowSelector,
  now: Span,
  before: Span,
): PeriodComparison {
  const first = before.first < now.first ? before.first : now.first;
  const last = before.last > now.last ? before.last : now.last;
  return { now, before, series: seriesOf(rows, selector, { first, last }) };
}

/** One sentence: the comparison on the days that are final in both spans, or why there is none. */
export function comparisonText(periods: PeriodComparison, today: Day): string {
  const { now, before, series } = periods;
  const comparison = compare(series, now, before);
  if (!comparison.ok) return alreadyAbove(periods, today) ?? INCOMPARABLE[comparison.why];
  const weekdays = comparison.sameWeekdays ? '' : ' The weekdays differ.';
  return `${changeOf(comparison)} vs ${sumsText(comparison, periods, today)}.${weekdays}`;
}

type Compared = Extract<Comparison, { ok: true }>;

function changeOf({ delta, relative }: Compared): string {
  return relative === null ? signedFigure(delta) : changeText(relative);
}

/** If only some days are compared, both totals are shown, because they differ from the headline. */
function sumsText(
  { days, now: is, before: was }: Compared,
  periods: PeriodComparison,
  today: Day,
): string {
  const label = spanLabel(periods.before, today);
  const part = pairedDaysText(days, periods.now, periods.before);
  return part === ''
    ? `${label} (${figure(was)})`
    : `${label}${part}: ${figure(is)}, was ${figure(was)}`;
}

/** The number of compared days; empty if all days of both spans are compared. */
export function pairedDaysText(days: number, now: Span, before: Span): string {
  if (days === Math.max(lengthOf(now), lengthOf(before))) return '';
  return `, on the ${countWords(days, 'day')} final in both`;
}

const INCOMPARABLE: Readonly<Record<Unpaired, string>> = {
  'unequal-lengths': "Can't compare: one period is longer.",
  'unequal-weekdays': "Can't compare: the periods have different weekdays.",
  'no-common-final-days': "Can't compare yet: no day is final in both periods.",
};

/** An increase of a single day is shown before the day is final. Source: docs/costs.md#single-days. */
function alreadyAbove({ now, before, series }: PeriodComparison, today: Day): string | null {
  const on = (wanted: Day) => series.find(({ day }) => day === wanted);
  const [is, was] = [on(now.first), on(before.first)];
  if (lengthOf(now) !== 1 || lengthOf(before) !== 1 || !is || !was?.final) return null;
  const verdict = dayAgainst(is, was.value);
  if (verdict.state !== 'already-above') return null;
  const sum = figure(microOf(was.value));
  return `Already ${signedFigure(verdict.delta)} vs ${spanLabel(before, today)} (${sum}).`;
}

/** The change of a line between two spans, in millionths of a credit. */
export interface LineChange {
  readonly delta: Micro;
  /** Whether the line has no rows in the earlier span. */
  readonly isNew: boolean;
}

/**
 * The change of each line on the days that are final in both spans, so that the changes add up to
 * the change in the headline. Null if nothing can be compared, and for lines by day, week or month.
 */
export function lineChanges(
  rows: readonly CostRow[],
  by: By,
  { now, before, series }: PeriodComparison,
): ReadonlyMap<string, LineChange> | null {
  if (isOfTime(by)) return null;
  const final = new Set(series.filter((value) => value.final).map(({ day }) => day));
  const pairing = paired(now, before, (day) => final.has(day));
  if (!pairing.ok) return null;
  const on = (days: readonly Day[]) => {
    const among = new Set(days);
    return rows.filter(({ day }) => among.has(day));
  };
  const changes = new Map<string, LineChange>();
  for (const { key, total } of sumBy(on(pairing.pairs.map((pair) => pair.now)), by, now)) {
    changes.set(key, { delta: total, isNew: true });
  }
  for (const { key, total } of sumBy(on(pairing.pairs.map((pair) => pair.before)), by, before)) {
    changes.set(key, { delta: (changes.get(key)?.delta ?? 0) - total, isNew: false });
  }
  return changes;
}
