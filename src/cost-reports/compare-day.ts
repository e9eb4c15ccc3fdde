import { usualRange } from '../costs/anomaly/anomaly.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { dayAgainst } from '../costs/comparison/standing.ts';
import { changeText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { type DayValue, microOf } from '../costs/ledger/row.ts';

const WEEK = 7;
const LEAST_DAYS = 4;

/** One day compared with the same weekday a week ago, the 7-day average and the usual range. */
export function dayComparisonText(
  series: readonly DayValue[],
  day: DayValue,
  minimum: number,
): string {
  const all = [
    againstWeekday(series, day),
    againstAverage(series, day),
    againstUsual(series, day, minimum),
  ].filter((text) => text !== null);
  if (all.length > 0) return all.join(' · ');
  return day.final ? 'Nothing to compare it with yet' : 'Not final yet, too early to compare';
}

/** `238.4 · +4% vs Tue 10 Nov (229.1)`, for a list of days. */
export function dayLineText(series: readonly DayValue[], day: DayValue): string {
  const so = day.final ? '' : ' so far, not final';
  const compared = againstWeekday(series, day);
  return `${figure(microOf(day.value))}${so}${compared ? ` · ${compared}` : ''}`;
}

function againstWeekday(series: readonly DayValue[], day: DayValue): string | null {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  return before?.final ? againstText(day, before.value, dayLabel(before.day)) : null;
}

function againstAverage(series: readonly DayValue[], day: DayValue): string | null {
  const first = addDays(day.day, -WEEK);
  const week = series.filter((one) => one.day >= first && one.day < day.day && one.final);
  if (week.length < LEAST_DAYS) return null;
  const mean = week.reduce((sum, { value }) => sum + value, 0) / week.length;
  return againstText(day, mean, `${week.length}-day average`);
}

function againstText(day: DayValue, baseline: number, name: string): string | null {
  const verdict = dayAgainst(day, baseline);
  const was = `${name} (${figure(microOf(baseline))})`;
  if (verdict.state === 'already-above') return `already ${signedFigure(verdict.delta)} vs ${was}`;
  if (verdict.state === 'not-final') return null;
  const { relative, delta } = verdict;
  return `${relative === null ? signedFigure(delta) : changeText(relative)} vs ${was}`;
}

function againstUsual(series: readonly DayValue[], day: DayValue, minimum: number): string | null {
  const range = usualRange(series, day.day, minimum);
  if (!range) return null;
  const text = `the usual range ${rangeText(range.low, range.high)}`;
  if (day.value > range.high) return `above ${text}`;
  // A day that is not final can still reach the range.
  if (!day.final) return null;
  return day.value < range.low ? `below ${text}` : `within ${text}`;
}

function rangeText(low: number, high: number): string {
  const whole = (credits: number) => figure(microOf(high < 10 ? credits : Math.round(credits)));
  return `${whole(low).replace(/\.0$/, '')}–${whole(high).replace(/\.0$/, '')}`;
}

/** Whether the day is outside its usual range, so that a quiet digest is posted. */
export function isNotable(series: readonly DayValue[], day: DayValue, minimum: number): boolean {
  const range = usualRange(series, day.day, minimum);
  if (!range) return false;
  return day.value > range.high || (day.final && day.value < range.low);
}

/** Whether the day cost at least `minimum` credits more than the same weekday a week ago. */
export function isRise(series: readonly DayValue[], day: DayValue, minimum: number): boolean {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  return before !== undefined && day.value - before.value >= minimum;
}

export function valueOn(series: readonly DayValue[], day: Day): DayValue | null {
  return series.find((one) => one.day === day) ?? null;
}
