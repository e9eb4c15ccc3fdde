import { formatSpan, lengthOf, type Span } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import { countWords } from '../domain/answer.ts';
import { type Comparison, changesOn, compare, type Mover, pairsOf } from '../maths/compare.ts';
import { type Grouping, isOfTime } from '../maths/lines.ts';
import { bracketed, changeText, figure, signedFigure } from '../maths/numbers.ts';
import type { CostRow, DayValue } from '../maths/rows.ts';

/** Two compared spans, and the value of each day of both. */
export interface PeriodComparison {
  readonly now: Span;
  readonly before: Span;
  readonly series: readonly DayValue[];
}

/** One sentence: the comparison on the days that are final in both spans, else as reported. */
export function comparisonText({ now, before, series }: PeriodComparison, today: Day): string {
  const comparison = compare(series, now, before);
  const label = formatSpan(before, today);
  if (!comparison) return `No data of ${label} to compare with.`;
  const { before: was, now: is, sameWeekdays } = comparison;
  const part = comparedDaysText(comparison, { now, before, today });
  const weekdays = sameWeekdays ? '' : ' The weekdays differ.';
  const sums =
    part === ''
      ? `${label}${bracketed(figure(was))}`
      : `${label}${part}: ${figure(is)}, was ${figure(was)}`;
  return `${changeOf(comparison)} vs ${sums}.${weekdays}`;
}

/** `+3%`; in credits where a percentage has no meaning. */
export function changeOf({ delta, relative }: Pick<Comparison, 'delta' | 'relative'>): string {
  return relative === null ? signedFigure(delta) : changeText(relative);
}

/**
 * `, on 5 of 7 days`, of which only the final ones are compared, or `, as reported`; empty for all of both spans. A day
 * that is not over is a part beside a whole one.
 */
export function comparedDaysText(
  { isFinal, days }: { readonly isFinal: boolean; readonly days: number },
  { now, before, today }: Pick<PeriodComparison, 'now' | 'before'> & { readonly today: Day },
): string {
  const all = Math.max(lengthOf(now), lengthOf(before));
  const part = days === all ? '' : `, on ${days} of ${countWords(all, 'day')}`;
  const isOver = now.last < today && before.last < today;
  return isFinal ? part : `${part}, as reported${isOver ? '' : ', today is not over'}`;
}

/**
 * The change of each line on the compared days, so that the changes add up to the change in the
 * headline. Null for lines by day, week or month. `all`: all rows decide which days are final.
 */
export function lineChanges(
  rows: readonly CostRow[],
  all: readonly CostRow[],
  by: Grouping,
  { now, before }: Pick<PeriodComparison, 'now' | 'before'>,
): ReadonlyMap<string, Mover> | null {
  if (isOfTime(by)) return null;
  const { pairs } = pairsOf(all, now, before);
  return new Map(changesOn(rows, by, pairs).map((change) => [change.key, change]));
}

/** `analytics-us · compute +55.1 (×3.1)` */
export function moverText({ name, kind, delta, relative }: Mover): string {
  const change = relative === null ? null : changeText(relative);
  const note = kind === 'changed' ? change : kind === 'new' ? 'new' : 'gone';
  return `${name} ${signedFigure(delta)}${bracketed(note)}`;
}
