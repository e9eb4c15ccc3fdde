import {
  addMonths,
  formatDays,
  formatSpan,
  monthOf,
  monthSpan,
  type Span,
  startOf,
} from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { dayCountsOf } from '../costs/comparison/day-counts.ts';
import { countWords } from '../domain/answer.ts';
import { monthToDate } from '../maths/compare.ts';
import type { DayState } from '../maths/days.ts';
import { type LockAge, longestWait } from '../maths/days.ts';
import { forecastMoney, forecastMonth } from '../maths/forecast.ts';
import type { PriceList } from '../maths/money.ts';
import { moneyOf, roughMoneyText } from '../maths/money.ts';
import {
  changeText,
  creditsText,
  figure,
  figureNote,
  roundedFigure,
  signedFigure,
} from '../maths/numbers.ts';
import type { DayValue } from '../maths/rows.ts';
import { pairedDaysText } from './compare-periods.ts';

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
