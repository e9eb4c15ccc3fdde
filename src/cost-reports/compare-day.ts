import { formatDay } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { compareDay } from '../costs/comparison/day-counts.ts';
import { type Range, usualRange } from '../maths/anomalies.ts';
import { isSettled } from '../maths/days.ts';
import { type Money, moneyDifference, moneyOf, roughMoneyText } from '../maths/money.ts';
import {
  bracketed,
  changeText,
  figure,
  figureNote,
  roundedFigure,
  signedFigure,
} from '../maths/numbers.ts';
import { type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import { settledDays } from '../maths/statistics.ts';

const WEEK = 7;

/** One day compared with the same weekday a week ago. */
export function dayComparisonText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  if (compared !== null) return compared;
  return isSettled(day)
    ? 'No comparison: the same weekday of the week before is not final'
    : 'Not final yet, too early to compare';
}

/** `238.4 · +4% vs Tue 10 Nov (229.1)`, for a list of days. */
export function dayLineText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  const value = figure(microOf(day.value), moneyOfDay(day));
  return `${value}${openText(day)}${compared ? ` · ${compared}` : ''}`;
}

/** The label of a day that is not final; a settled one can still change as well. */
export function openText({ final }: Pick<DayValue, 'final'>): string {
  return final ? '' : ', not final';
}

function againstWeekday(series: readonly DayValue[], day: DayValue): string | null {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  if (!before || !isSettled(before)) return null;
  const name = formatDay(before.day);
  return againstText(day, { name, value: before.value, money: moneyOfDay(before) });
}

interface Baseline {
  readonly name: string;
  readonly value: number;
  readonly money: Money | null;
}

function againstText(day: DayValue, { name, value, money }: Baseline): string | null {
  const verdict = compareDay(day, value);
  const was = `${name}${figureNote(microOf(value), money)}`;
  if (verdict.state === 'not-settled') return null;
  const now = moneyOf([[day.price, microOf(value) + verdict.delta]]);
  const difference = signedFigure(verdict.delta, moneyDifference(now, money));
  if (verdict.state === 'already-above') return `already ${difference} vs ${was}`;
  const change = verdict.relative === null ? difference : changeText(verdict.relative);
  return `${verdict.state === 'settled' ? change : `heading for ${change}`} vs ${was}`;
}

/** A day and its usual range, rounded alike, so that the texts show on which side of it the day is. */
export interface UsualText {
  /** `317` */
  readonly value: string;
  /** `€111`, if prices are known. */
  readonly money: string | null;
  /** `233–388`; null for a line that is new or rarely has costs. */
  readonly range: string | null;
  /** `€82–€136`, if prices are known. */
  readonly rangeMoney: string | null;
  /** A day that is not settled can still rise, so that it is never below. */
  readonly side: 'within' | 'above' | 'below';
}

/** In whole credits, with decimals for small ranges and near the ends of a range. */
export function usualText(series: readonly DayValue[], day: DayValue, minimum: number): UsualText {
  const range = usualRange(settledDays(series), day.day, minimum);
  const cost = moneyOfDay(day);
  const money = cost && roughMoneyText(cost);
  if (!range) {
    const value = roundedFigure(day.value, day.value < 10);
    return { value, money, range: null, rangeMoney: null, side: 'within' };
  }
  const { low, high } = range;
  const side = sideOf(day, range);
  const isClose =
    side !== 'within' && [low, high].some((end) => Math.round(end) === Math.round(day.value));
  const text = (credits: number) => roundedFigure(credits, isClose || high < 10);
  const ends = `${text(low)}–${text(high)}`;
  return { value: text(day.value), money, range: ends, rangeMoney: rangeMoney(range, day), side };
}

/** `€82–€136` at the price of the day; null without one. */
function rangeMoney({ low, high }: Range, { price }: DayValue): string | null {
  const ends = [low, high].flatMap((value) => moneyOfDay({ value, price }) ?? []);
  return ends.length > 0 ? ends.map(roughMoneyText).join('–') : null;
}

/** `109–181 credits (€37.99–€63.32)`: the usual range of the day; null if none is known. */
export function usualCreditsText(
  series: readonly DayValue[],
  day: DayValue,
  minimum: number,
): string | null {
  const range = usualRange(settledDays(series), day.day, minimum);
  if (!range) return null;
  const ends = [range.low, range.high];
  const text = ends.map((end) => roundedFigure(end, range.high < 10)).join('–');
  return `${text} credits${bracketed(rangeMoney(range, day))}`;
}

/** A difference that no figure can show is none. */
function sideOf(day: DayValue, { low, high }: Range): UsualText['side'] {
  const isShown = (end: number) => roundedFigure(end, true) !== roundedFigure(day.value, true);
  if (day.value > high && isShown(high)) return 'above';
  return isSettled(day) && day.value < low && isShown(low) ? 'below' : 'within';
}

/** Whether the day cost at least `minimum` credits more than the same weekday a week ago. */
export function isRise(series: readonly DayValue[], day: DayValue, minimum: number): boolean {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  return before !== undefined && day.value - before.value >= minimum;
}

export function valueOn(series: readonly DayValue[], day: Day): DayValue | null {
  return series.find((one) => one.day === day) ?? null;
}
