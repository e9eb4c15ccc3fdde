import {
  addMonths,
  isDay,
  monthOf,
  monthSpan,
  type Span,
  startOf,
  type Unit,
} from '../../base/calendar.ts';
import { addDays, type Day } from '../../base/time.ts';

export type PeriodProblem =
  | 'unknown-words'
  | 'no-such-day'
  | 'reversed'
  | 'in-the-future'
  | 'no-days'
  | 'too-long';

export const LONGEST_DAYS = 400;
/** The English names of the months, in lower case. */
export const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );
/** The days in which the last final day is searched. */
const FINAL_WITHIN_DAYS = 56;

/** The days of a word, including future days. */
export interface PeriodDraft extends Span {
  readonly unit?: Unit;
  readonly lastFinalOnly?: boolean;
}
type Form = readonly [
  RegExp,
  (found: readonly string[], today: Day) => PeriodDraft | PeriodProblem,
];

// A range that begins or ends with a month includes the whole month.
const EDGE = String.raw`(\d{4}-\d\d(?:-\d\d)?)`;
const TO = String.raw`(?:\.\.\.?|\u2026)`;
const MONTH = `(${MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})`;
const NAMED = new RegExp(`^(?:(2\\d{3})-)?${MONTH}(?:-(2\\d{3}))?$`, 'i');

const FORMS: readonly Form[] = [
  [/^today$/, (_, today) => ({ first: today, last: today })],
  [/^yesterday$/, (_, today) => ending(1, today)],
  [/^final$/, (_, today) => ({ ...ending(FINAL_WITHIN_DAYS, today), lastFinalOnly: true })],
  [/^(?:last-)?(\d{1,5})-?d(?:ays?)?$/, ([count], today) => lastDays(Number(count), today)],
  [/^(?:last-)?(\d{1,5})-?w(?:eeks?)?$/, ([count], today) => lastDays(Number(count) * 7, today)],
  [/^this-week$/, (_, today) => toDate('week', today)],
  [/^last-week$/, (_, today) => lastWeek(today)],
  [/^(?:mtd|this-month)$/, (_, today) => toDate('month', today)],
  [/^last-month$/, (_, today) => wholeMonth(monthOf(addMonths(today, -1)))],
  [/^(?:qtd|this-quarter)$/, (_, today) => toDate('quarter', today)],
  [/^(?:ytd|this-year)$/, (_, today) => toDate('year', today)],
  [/^last-quarter$/, (_, today) => months(addMonths(startOf('quarter', today), -3), 3, 'quarter')],
  [/^last-year$/, (_, today) => months(addMonths(startOf('year', today), -12), 12, 'year')],
  [/^(2\d{3})$/, ([year]) => months(`${year}-01-01`, 12, 'year')],
  [/^(2\d{3}-(?:0[1-9]|1[0-2]))$/, ([month = '']) => wholeMonth(month)],
  [/^(2\d{3})-q([1-4])$/, ([year, quarter]) => wholeQuarter(year, Number(quarter))],
  [/^(\d{4}-\d\d-\d\d)$/, ([day = '']) => range(day, day)],
  [NAMED, ([before, name = '', after], today) => namedMonth(name, before ?? after, today)],
  [
    new RegExp(`^${EDGE}${TO}${EDGE}$`),
    ([a = '', b = ''], today) => withUnit(range(firstOf(a), lastOf(b)), today),
  ],
  [
    new RegExp(`^${EDGE}${TO}$`),
    ([first = ''], today) => withUnit(since(firstOf(first), today), today),
  ],
];

/** The days of a lower-case word as of a UTC day, or why it is invalid. */
export function parsePeriod(word: string, today: Day): PeriodDraft | PeriodProblem {
  for (const [pattern, read] of FORMS) {
    const found = pattern.exec(word);
    if (found !== null) return read(found.slice(1), today);
  }
  return 'unknown-words';
}

/** Whether a word has the form of a period, valid or not. */
export function isPeriodLike(text: string): boolean {
  const word = text.trim().toLowerCase();
  return /^\d/.test(word) || FORMS.some(([pattern]) => pattern.test(word));
}

function ending(days: number, today: Day): PeriodDraft {
  return { first: addDays(today, -days), last: addDays(today, -1) };
}

function lastDays(count: number, today: Day): PeriodDraft | PeriodProblem {
  if (count === 0) return 'no-days';
  return count > LONGEST_DAYS ? 'too-long' : ending(count, today);
}

function toDate(unit: Unit, today: Day): PeriodDraft {
  const first = startOf(unit, today);
  return { first, last: first === today ? today : addDays(today, -1), unit };
}

function lastWeek(today: Day): PeriodDraft {
  const first = addDays(startOf('week', today), -7);
  return { first, last: addDays(first, 6), unit: 'week' };
}

function wholeMonth(month: string): PeriodDraft {
  return { ...monthSpan(month), unit: 'month' };
}

/** Without a year: the latest month of that name that has begun. */
function namedMonth(name: string, year: string | undefined, today: Day): PeriodDraft {
  const number = MONTHS.findIndex((known) => known.startsWith(name.toLowerCase())) + 1;
  const inYear = (of: number | string) => `${of}-${String(number).padStart(2, '0')}`;
  if (year !== undefined) return wholeMonth(inYear(year));
  const own = Number(today.slice(0, 4));
  return wholeMonth(inYear(own) > monthOf(today) ? inYear(own - 1) : inYear(own));
}

/** The first day of the start of a range; an invalid day stays invalid. */
export function firstOf(edge: string): Day {
  return edge.length === 7 ? `${edge}-01` : edge;
}

/** The last day of the end of a range; an invalid day stays invalid. */
export function lastOf(edge: string): Day {
  return isDay(`${edge}-01`) ? monthSpan(edge).last : edge;
}

function wholeQuarter(year: string | undefined, quarter: number): PeriodDraft {
  return months(`${year}-${String(quarter * 3 - 2).padStart(2, '0')}-01`, 3, 'quarter');
}

function months(first: Day, count: number, unit: Unit): PeriodDraft {
  return { first, last: addDays(addMonths(first, count), -1), unit };
}

function range(first: Day, last: Day): PeriodDraft | PeriodProblem {
  if (!isDay(first) || !isDay(last)) return 'no-such-day';
  return first > last ? 'reversed' : { first, last };
}

const UNITS = ['month', 'quarter', 'year'] as const;

/** A range of exactly a month, quarter or year, whole or so far, is that one. */
function withUnit(draft: PeriodDraft | PeriodProblem, today: Day): PeriodDraft | PeriodProblem {
  if (typeof draft === 'string') return draft;
  const { first, last } = draft;
  const isSoFar = last >= addDays(today, -1);
  const unit = UNITS.find((each) => {
    const isWhole = startOf(each, addDays(last, 1)) !== first;
    return startOf(each, first) === first && startOf(each, last) === first && (isWhole || isSoFar);
  });
  return unit === undefined ? draft : { ...draft, unit };
}

function since(first: Day, today: Day): PeriodDraft | PeriodProblem {
  const yesterday = addDays(today, -1);
  return range(first, first > yesterday ? first : yesterday);
}
