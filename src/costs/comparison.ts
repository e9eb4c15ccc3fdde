import { formatSpan, lengthOf, type Span, spanOfBoth } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import { countWords } from '../domain/answer.ts';
import {
  type Comparison,
  changesOn,
  compare,
  type Mover,
  type PairingProblem,
  pairDays,
  relativeOf,
} from '../maths/compare.ts';
import { isSettled, type RowSelector } from '../maths/days.ts';
import { type By, isOfTime, seriesOf } from '../maths/lines.ts';
import { moneyDifference, moneyOf, signedMoneyText } from '../maths/money.ts';
import { bracketed, changeText, figure, figureNote, signedFigure } from '../maths/numbers.ts';
import { type CostRow, type DayValue, type Micro, microOf, moneyOfDay } from '../maths/rows.ts';

/** Two compared spans, and the value of each day of both. */
export interface PeriodComparison {
  readonly now: Span;
  readonly before: Span;
  readonly series: readonly DayValue[];
}

/** `rows`: all rows of the report, because a day is only settled when all its rows are. */
export function preparePeriods(
  rows: readonly CostRow[],
  selector: RowSelector,
  now: Span,
  before: Span,
): PeriodComparison {
  return { now, before, series: seriesOf(rows, selector, spanOfBoth(now, before)) };
}

export function isComparable({ now, before, series }: PeriodComparison): boolean {
  return compare(series, now, before).ok;
}

/** One sentence: the comparison on the days that are settled in both spans, or why there is none. */
export function comparisonText(periods: PeriodComparison, today: Day): string {
  const { now, before, series } = periods;
  const comparison = compare(series, now, before);
  if (!comparison.ok) return alreadyAbove(periods, today) ?? incomparableText(comparison.why);
  const weekdays = comparison.sameWeekdays ? '' : ' The weekdays differ.';
  return `${changeOf(comparison)} vs ${sumsText(comparison, periods, today)}.${weekdays}`;
}

type Compared = Extract<Comparison, { ok: true }>;

/** `+3%`; in credits where a percentage has no meaning. */
export function changeOf({
  delta,
  money,
  relative,
}: Pick<Compared, 'delta' | 'money' | 'relative'>): string {
  return relative === null ? signedFigure(delta, money.delta) : changeText(relative);
}

/** If only some days are compared, both totals are shown, because they differ from the headline. */
function sumsText(compared: Compared, periods: PeriodComparison, today: Day): string {
  const { now: is, before: was, money } = compared;
  const label = formatSpan(periods.before, today);
  const part = pairedDaysText(compared, periods.now, periods.before);
  return part === ''
    ? `${label}${figureNote(was, money.before)}`
    : `${label}${part}: ${figure(is, money.now)}, was ${figure(was, money.before)}`;
}

/** The number of compared days, if it is not all days of both spans, and how many are not final. */
export function pairedDaysText(
  { days, notLocked }: Pick<Compared, 'days' | 'notLocked'>,
  now: Span,
  before: Span,
): string {
  const isAll = days === Math.max(lengthOf(now), lengthOf(before));
  const compared = countWords(days, 'day');
  if (notLocked === 0) return isAll ? '' : `, on the ${compared} final in both`;
  const open = openDaysText(notLocked, days);
  return isAll ? open : `, on ${compared}${open}`;
}

/** ` (2 not final, but unchanged for 2 days)`: settled days are compared as well; empty without any. */
export function openDaysText(open: number, days: number): string {
  if (open === 0) return '';
  const count = open < days ? `${open} ` : days > 1 ? 'all ' : '';
  return ` (${count}not final, but unchanged for 2 days)`;
}

const INCOMPARABLE: Readonly<Record<PairingProblem, string>> = {
  'unequal-lengths': "Can't compare: one period is longer.",
  'unequal-weekdays': "Can't compare: the periods have different weekdays.",
  'no-common-settled-days': "Can't compare yet: no day is final in both periods.",
};

export function incomparableText(problem: PairingProblem): string {
  return INCOMPARABLE[problem];
}

/** An increase of a single day is shown before the day is settled. Source: docs/costs.md#single-days. */
function alreadyAbove({ now, before, series }: PeriodComparison, today: Day): string | null {
  const on = (wanted: Day) => series.find(({ day }) => day === wanted);
  const [is, was] = [on(now.first), on(before.first)];
  if (lengthOf(now) !== 1 || lengthOf(before) !== 1 || !is || !was || !isSettled(was)) return null;
  const verdict = compareDay(is, was.value);
  if (verdict.state === 'settled' || verdict.state === 'not-settled') return null;
  const start = verdict.state === 'already-above' ? 'Already' : 'Heading for';
  const value = microOf(was.value);
  const expected = moneyOf([[is.price, value + verdict.delta]]);
  const change = signedFigure(verdict.delta, moneyDifference(expected, moneyOfDay(was)));
  return `${start} ${change} vs ${formatSpan(before, today)}${figureNote(value, moneyOfDay(was))}.`;
}

/**
 * The change of each line on the days that are settled in both spans, so that the changes add up to
 * the change in the headline. Null if nothing can be compared, and for lines by day, week or month.
 */
export function lineChanges(
  rows: readonly CostRow[],
  by: By,
  { now, before, series }: PeriodComparison,
): ReadonlyMap<string, Mover> | null {
  if (isOfTime(by)) return null;
  const settled = new Set(series.filter(isSettled).map(({ day }) => day));
  const pairing = pairDays(now, before, (day) => settled.has(day));
  if (!pairing.ok) return null;
  return new Map(changesOn(rows, by, pairing.pairs).map((change) => [change.key, change]));
}

/** `analytics-us · compute +55.1 (+€19.29, ×3.1)` */
export function moverText({ name, kind, delta, money, relative }: Mover): string {
  const change = relative === null ? null : changeText(relative);
  const note = kind === 'changed' ? change : kind === 'new' ? 'new' : 'gone';
  return `${name} ${signedFigure(delta)}${bracketed(money && signedMoneyText(money), note)}`;
}

type DayComparison =
  | { readonly state: 'settled'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled, and already above the baseline: reported at once. */
  | { readonly state: 'already-above'; readonly delta: Micro }
  /** Not settled, and above the baseline if the day is as complete as other days at its age. */
  | { readonly state: 'heading-above'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled and not above the baseline: not reported, because the day may be incomplete. */
  | { readonly state: 'not-settled' };

/**
 * Compares one day with a baseline in credits. Increases are reported early, decreases only when the
 * day is settled. With a completion factor, value / factor is compared: the value that the day has
 * when it is final, if it is as complete as other days at its age. Source: docs/costs.md#single-days.
 */
export function compareDay(day: DayValue, baseline: number): DayComparison {
  const before = microOf(baseline);
  const delta = microOf(day.value) - before;
  if (isSettled(day)) {
    return { state: 'settled', delta, relative: relativeOf(microOf(day.value), before) };
  }
  const { typical } = day.openDay?.completion ?? { typical: null };
  const expected = typical === null ? null : microOf(day.value / typical);
  if (expected !== null && expected > before) {
    const relative = relativeOf(expected, before);
    return { state: 'heading-above', delta: expected - before, relative };
  }
  return delta > 0 ? { state: 'already-above', delta } : { state: 'not-settled' };
}
