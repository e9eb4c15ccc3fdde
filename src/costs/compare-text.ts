import {
  addMonths,
  formatDays,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  spanOfBoth,
  startOf,
} from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { countWords } from '../domain/answer.ts';
import {
  type Comparison,
  changesOn,
  compare,
  type Mover,
  monthToDate,
  type PairingProblem,
  pairDays,
} from '../maths/compare.ts';
import {
  type DayState,
  isSettled,
  type LockAge,
  longestWait,
  type RowSelector,
} from '../maths/days.ts';
import { forecastMoney, forecastMonth } from '../maths/forecast.ts';
import { type By, isOfTime, seriesOf } from '../maths/lines.ts';
import { moneyDifference, moneyOf, type PriceList, roughMoneyText } from '../maths/money.ts';
import {
  changeText,
  creditsText,
  figure,
  figureNote,
  roundedFigure,
  signedFigure,
} from '../maths/numbers.ts';
import { type CostRow, type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import { compareDay, dayCountsOf } from './summary.ts';

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

type Fact = readonly [string, string];

interface KeyFigureInputs {
  readonly today: Day;
  readonly covers: Span;
  readonly lockAge: LockAge | null;
  readonly prices: PriceList | null;
  /** The months without any copy of the report. */
  readonly unread: readonly string[];
}

/** The month to date, the forecast of the month, and the days that are not final. */
export function keyFigures(
  series: readonly DayValue[],
  states: readonly DayState[],
  inputs: KeyFigureInputs,
): readonly Fact[] {
  const { today, covers, lockAge } = inputs;
  return [
    ['Month to date', monthText(series, states, covers.last)],
    ['Forecast', forecastText(series, inputs)],
    ...openDays(states, today, lockAge),
  ];
}

function monthText(series: readonly DayValue[], states: readonly DayState[], last: Day): string {
  const first = startOf('month', last);
  const { total, money, preliminaryDays, missing, days } = dayCountsOf(states, { first, last });
  if (missing.length === days) return 'no data yet';
  const open = preliminaryDays > 0 ? ', not final' : '';
  const count = countWords(missing.length, 'day');
  const none = missing.length > 0 ? `, ${count} without data` : '';
  return `${creditsText(total, money)}${open}${none}${againstLastMonth(series, last)}`;
}

function againstLastMonth(series: readonly DayValue[], last: Day): string {
  const { through, comparison } = monthToDate(series, last);
  if (through === null || !comparison.ok) return '';
  const { delta, relative, before, now, money } = comparison;
  const month = { first: startOf('month', through), last: through };
  const was = { first: addMonths(month.first, -1), last: addMonths(through, -1) };
  const change = relative === null ? signedFigure(delta, money.delta) : changeText(relative);
  const days = `${formatSpan(month, last)}${pairedDaysText(comparison, month, was)}`;
  const sum = figureNote(before, money.before);
  return ` · ${days}: ${figure(now, money.now)}, ${change} vs ${formatSpan(was, last)}${sum}`;
}

function forecastText(
  series: readonly DayValue[],
  { today, lockAge, prices, unread }: KeyFigureInputs,
): string {
  if (unread.length > 0) return `not available: ${unread.join(', ')} could not be read`;
  const forecast = forecastMonth(series, today, lockAge);
  if (!forecast.ok) {
    return forecast.why === 'too-few-settled-days'
      ? 'not available: too few final days'
      : 'not available: the last final day is too long ago';
  }
  const { total, low, high } = forecast;
  const span = monthSpan(monthOf(today));
  const month = formatSpan(span, today);
  const range = `${roundedFigure(low)}–${roundedFigure(high)}`;
  const text = `${month} about ${roundedFigure(total)} (${range}, about 80% sure) if usage does not change`;
  const money = [total, low, high].map((end) => forecastMoney(end, series, span, prices));
  const [inMoney, from, to] = money.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return inMoney ? `${text} · ${inMoney} (${from}–${to})` : text;
}

/** The days before today that are not final or have no data, the former with their sum. */
export function openDays(
  states: readonly DayState[],
  today: Day,
  lockAge: LockAge | null,
): readonly Fact[] {
  const first = addDays(today, -longestWait(lockAge));
  const recent = states.filter(({ day }) => day < today && day >= first);
  const open = recent.filter(({ state }) => state === 'preliminary');
  const none = recent.filter(({ state }) => state === 'no-data');
  return [
    ...sumFact('Not final', open, today),
    ...(none.length > 0 ? [['No data', formatDays(daysOf(none), today)] as const] : []),
  ];
}

function sumFact(label: string, states: readonly DayState[], today: Day): readonly Fact[] {
  if (states.length === 0) return [];
  const sum = states.reduce((all, { total }) => all + total, 0);
  const money = moneyOf(states.map(({ price, total }) => [price, total]));
  return [[label, `${formatDays(daysOf(states), today)}: ${creditsText(sum, money)}`]];
}

function daysOf(states: readonly DayState[]): readonly Day[] {
  return states.map(({ day }) => day);
}
