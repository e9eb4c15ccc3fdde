import {
  addMonths,
  formatSpan,
  isDay,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  startOf,
  type Unit,
} from '../base/calendar.ts';
import { nearest } from '../base/text.ts';
import { addDays, type Day } from '../base/time.ts';

// Periods as users write them, as days of UTC, and the periods that they are compared with.

export interface Period extends Span {
  /** The period as text, without "UTC". Its days are UTC days. */
  readonly label: string;
  /** Selects the previous period: whole weeks for days, or the previous month, quarter or year. */
  readonly unit: Unit;
}

export type PeriodProblem =
  | 'unknown-words'
  | 'no-such-day'
  | 'reversed'
  | 'in-the-future'
  | 'no-days'
  | 'too-long';

type PeriodReading =
  | { readonly ok: true; readonly period: Period }
  /** `nearest`: valid suggestions, the best first; often none. */
  | { readonly ok: false; readonly problem: PeriodProblem; readonly nearest: readonly string[] };

export const LONGEST_DAYS = 400;

/**
 * Reads one word as a period: its UTC days, both ends included, as of the UTC day `today`.
 *
 * Periods of whole days (`7d`, `4w`, `mtd`, `november` while it lasts, `a..`) end yesterday; on the
 * first day of a week, month, quarter or year, the current one is today only. Another period with a
 * future end ends today. At most 400 days. An unknown word is never guessed. Source: docs/costs.md#periods.
 */
export function readPeriod(text: string, today: Day): PeriodReading {
  const word = text.trim().toLowerCase();
  const read = parsePeriod(word, today);
  if (typeof read === 'string') return refused(read, word, today);
  if (read.first > today) return refused('in-the-future', word, today);

  const period = periodOf(read, today);
  if (lengthOf(period) > LONGEST_DAYS) return refused('too-long', word, today);
  return { ok: true, period };
}

function periodOf(draft: PeriodDraft, today: Day): Period {
  const { unit = 'day' } = draft;
  // The current month has one total, whether it is written `mtd` or `november`.
  const isSoFar = unit !== 'day' && draft.last >= today && draft.first <= today;
  const { last } = isSoFar ? toDate(unit, today) : draft;
  const span = { first: draft.first, last: last > today ? today : last };
  return { ...span, label: formatSpan(span, today), unit };
}

/** The current month so far. */
export function monthToDate(today: Day): Period {
  return periodOf(toDate('month', today), today);
}

function refused(problem: PeriodProblem, word: string, today: Day): PeriodReading {
  const ordered = word.replace(new RegExp(`^(.*?)${TO}(.*)$`), '$2..$1');
  const isMeant = problem === 'reversed' && readPeriod(ordered, today).ok;
  const longest = problem === 'too-long' ? [`${LONGEST_DAYS}d`] : [];
  const near = isMeant ? [ordered] : nearest(word, periodForms(today));
  return { ok: false, problem, nearest: [...longest, ...near] };
}

const MOST_WORDS = 3;

/** The first words as a period, valid or not; null if they do not have the form of a period. */
export function periodAt(
  words: readonly string[],
  today: Day,
): { readonly reading: PeriodReading; readonly taken: number } | null {
  for (let taken = Math.min(MOST_WORDS, words.length); taken > 1; taken -= 1) {
    const reading = readPeriod(words.slice(0, taken).join('-'), today);
    if (reading.ok || reading.problem !== 'unknown-words') return { reading, taken };
  }
  const [word = ''] = words;
  const reading = readPeriod(word, today);
  return reading.ok || isPeriodLike(word) ? { reading, taken: 1 } : null;
}

/** The days of a word, including future days. */
interface PeriodDraft extends Span {
  readonly unit?: Unit;
}

/** The English names of the months, in lower case. */
const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

// A range that begins or ends with a month includes the whole month.
const EDGE = String.raw`(\d{4}-\d\d(?:-\d\d)?)`;
const TO = String.raw`(?:\.\.\.?|\u2026)`;
const MONTH = `(${MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})`;
const NAMED = new RegExp(`^(?:(2\\d{3})-)?${MONTH}(?:-(2\\d{3}))?$`, 'i');

type Form = readonly [
  RegExp,
  (found: readonly string[], today: Day) => PeriodDraft | PeriodProblem,
];

const FORMS: readonly Form[] = [
  [/^today$/, (_, today) => ({ first: today, last: today })],
  [/^yesterday$/, (_, today) => ending(1, today)],
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
  [
    /^(2\d{3})-q([1-4])$/,
    ([year, of]) => months(addMonths(`${year}-01-01` as Day, Number(of) * 3 - 3), 3, 'quarter'),
  ],
  [/^(2\d{3})$/, ([year]) => months(`${year}-01-01`, 12, 'year')],
  [/^(2\d{3}-(?:0[1-9]|1[0-2]))$/, ([month = '']) => wholeMonth(month)],
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
function parsePeriod(word: string, today: Day): PeriodDraft | PeriodProblem {
  for (const [pattern, read] of FORMS) {
    const found = pattern.exec(word);
    if (found !== null) return read(found.slice(1), today);
  }
  return 'unknown-words';
}

/** Whether a word has the form of a period, valid or not. */
function isPeriodLike(text: string): boolean {
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
function firstOf(edge: string): Day {
  return edge.length === 7 ? `${edge}-01` : edge;
}

/** The last day of the end of a range; an invalid day stays invalid. */
function lastOf(edge: string): Day {
  return isDay(`${edge}-01`) ? monthSpan(edge).last : edge;
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

const WORDS = [
  'today',
  'yesterday',
  '7d',
  '30d',
  '4w',
  'this-week',
  'last-week',
  'mtd',
  'last-month',
  'qtd',
  'ytd',
] as const;

/** One example of each form of a period, relative to `today`. */
export function periodForms(today: Day): readonly string[] {
  const year = today.slice(0, 4);
  const week = `${addDays(today, -7)}..${addDays(today, -1)}`;
  const dated = [year, monthOf(today), addDays(today, -1), week];
  return [...WORDS, ...dated, `${addDays(today, -7)}..`, ...MONTHS];
}

/** What a period is compared with: the previous one, or another. */
export type Versus = 'prev' | Period;

/**
 * The period to compare with. `prev` of a month, quarter or year is the previous one, whole or through
 * the same day. `prev` of other periods is the same weekdays, the smallest number of whole weeks
 * earlier without overlap, because different weekdays cannot be compared. Source: docs/costs.md#comparisons.
 */
export function comparisonPeriod(period: Period, how: Versus, today: Day): Period {
  if (how !== 'prev') return how;
  const span = previousOf(period);
  return { ...span, label: formatSpan(span, today), unit: period.unit };
}

/**
 * The word after `vs` for the same days when the period is written as a range: the previous month,
 * quarter or year of a range would be whole weeks.
 */
export function versusWord(period: Period, how: Versus): string {
  if (how === 'prev' && MONTHS_OF_UNIT[period.unit] === undefined) return how;
  const { first, last } = how === 'prev' ? previousOf(period) : how;
  return `${first}..${last}`;
}

const MONTHS_OF_UNIT: Readonly<Partial<Record<Unit, number>>> = {
  month: 1,
  quarter: 3,
  year: 12,
};

function previousOf(period: Period): Span {
  const months = MONTHS_OF_UNIT[period.unit];
  return months === undefined ? spanBefore(period) : monthsBefore(period, months);
}

/** The same weekdays before a span: the smallest number of whole weeks earlier without overlap. */
export function spanBefore({ first, last }: Span): Span {
  const days = 7 * Math.ceil(lengthOf({ first, last }) / 7);
  return { first: addDays(first, -days), last: addDays(last, -days) };
}

/** A whole month is compared with a whole month, even if that one is longer. */
function monthsBefore({ first, last }: Span, months: number): Span {
  const end = addMonths(last, -months);
  const isWhole = first.endsWith('-01') && last === monthSpan(monthOf(last)).last;
  return { first: addMonths(first, -months), last: isWhole ? monthSpan(monthOf(end)).last : end };
}
