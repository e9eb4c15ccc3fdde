import { addMonths, isDay, monthOf, monthSpan, type Span, startOf, type Unit } from './calendar.ts';
import { addDays, type Day } from './day.ts';

export type PeriodProblem =
  | 'unknown-words'
  | 'no-such-day'
  | 'reversed'
  | 'in-the-future'
  | 'no-days'
  | 'too-long';

export const LONGEST_DAYS = 400;
/** How far back the latest final day is looked for. */
const FINAL_WITHIN_DAYS = 14;

/** The days that a word means, before today cuts them. */
export interface Draft extends Span {
  readonly unit?: Unit;
  readonly lastFinalOnly?: boolean;
}
type Form = readonly [RegExp, (found: readonly string[], today: Day) => Draft | PeriodProblem];

const FORMS: readonly Form[] = [
  [/^today$/, (_, today) => ({ first: today, last: today })],
  [/^yesterday$/, (_, today) => ending(1, today)],
  [/^final$/, (_, today) => ({ ...ending(FINAL_WITHIN_DAYS, today), lastFinalOnly: true })],
  [/^(\d{1,5})d$/, ([count], today) => lastDays(Number(count), today)],
  [/^(\d{1,5})w$/, ([count], today) => lastDays(Number(count) * 7, today)],
  [/^this-week$/, (_, today) => toDate('week', today)],
  [/^last-week$/, (_, today) => lastWeek(today)],
  [/^mtd$/, (_, today) => toDate('month', today)],
  [/^last-month$/, (_, today) => wholeMonth(monthOf(addMonths(today, -1)))],
  [/^qtd$/, (_, today) => toDate('quarter', today)],
  [/^ytd$/, (_, today) => toDate('year', today)],
  [/^(2\d{3})$/, ([year]) => months(`${year}-01-01`, 12, 'year')],
  [/^(2\d{3}-(?:0[1-9]|1[0-2]))$/, ([month = '']) => wholeMonth(month)],
  [/^(2\d{3})-q([1-4])$/, ([year, quarter]) => wholeQuarter(year, Number(quarter))],
  [/^(\d{4}-\d\d-\d\d)$/, ([day = '']) => range(day, day)],
  [/^(\d{4}-\d\d-\d\d)(?:\.\.\.?|…)(\d{4}-\d\d-\d\d)$/, ([a = '', b = '']) => range(a, b)],
  [/^(\d{4}-\d\d-\d\d)(?:\.\.\.?|…)$/, ([first = ''], today) => since(first, today)],
];

/** The days that a word means as of a UTC day, or why it means none; the word in lower case. */
export function understood(word: string, today: Day): Draft | PeriodProblem {
  for (const [pattern, read] of FORMS) {
    const found = pattern.exec(word);
    if (found !== null) return read(found.slice(1), today);
  }
  return 'unknown-words';
}

/** Whether a word would be read as a period, be it a possible one or not. */
export function isPeriodLike(text: string): boolean {
  const word = text.trim().toLowerCase();
  return /^\d/.test(word) || FORMS.some(([pattern]) => pattern.test(word));
}

function ending(days: number, today: Day): Draft {
  return { first: addDays(today, -days), last: addDays(today, -1) };
}

function lastDays(count: number, today: Day): Draft | PeriodProblem {
  if (count === 0) return 'no-days';
  return count > LONGEST_DAYS ? 'too-long' : ending(count, today);
}

function toDate(unit: Unit, today: Day): Draft {
  const first = startOf(unit, today);
  return { first, last: first === today ? today : addDays(today, -1), unit };
}

function lastWeek(today: Day): Draft {
  const first = addDays(startOf('week', today), -7);
  return { first, last: addDays(first, 6), unit: 'week' };
}

function wholeMonth(month: string): Draft {
  return { ...monthSpan(month), unit: 'month' };
}

function wholeQuarter(year: string | undefined, quarter: number): Draft {
  return months(`${year}-${String(quarter * 3 - 2).padStart(2, '0')}-01`, 3, 'quarter');
}

function months(first: Day, count: number, unit: Unit): Draft {
  return { first, last: addDays(addMonths(first, count), -1), unit };
}

function range(first: Day, last: Day): Draft | PeriodProblem {
  if (!isDay(first) || !isDay(last)) return 'no-such-day';
  return first > last ? 'reversed' : { first, last };
}

function since(first: Day, today: Day): Draft | PeriodProblem {
  const yesterday = addDays(today, -1);
  return range(first, first > yesterday ? first : yesterday);
}
