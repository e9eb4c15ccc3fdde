import leven from 'leven';
import { addMonths, isDay, monthOf, monthSpan, quarterOf } from '../../base/calendar.ts';
import { addDays, type Day } from '../../base/time.ts';
import { firstOf, lastOf, MONTHS } from './period-grammar.ts';

const WORDS = [
  'today',
  'yesterday',
  'final',
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

const OFFERED = 3;

/** One example of each form of a period, relative to `today`. */
export function periodForms(today: Day): readonly string[] {
  const year = today.slice(0, 4);
  const week = `${addDays(today, -7)}..${addDays(today, -1)}`;
  const dated = [year, monthOf(today), `${year}-Q${quarterOf(today)}`, addDays(today, -1), week];
  return [...WORDS, ...dated, `${addDays(today, -7)}..`, ...MONTHS];
}

/** Suggestions for an invalid word: repairs of its numbers first, then similar words. */
export function nearestForms(word: string, today: Day): readonly string[] {
  const forms = [...repairs(word, today), ...bySimilarity(word, periodForms(today))];
  return [...new Set(forms)].slice(0, OFFERED);
}

/** All words, the most similar first. A prefix counts as less than one wrong letter. */
export function bySimilarity(typed: string, known: readonly string[]): readonly string[] {
  return ranked(typed, known).map(({ word }) => word);
}

/** The words that the typed one could be with a typing error; often none. */
export function similarWords(typed: string, known: readonly string[]): readonly string[] {
  const limit = typed.length < 4 ? 1 : Math.max(2, Math.ceil(typed.length / 4));
  const near = ranked(typed, known).filter(({ distance }) => distance <= limit);
  return near.map(({ word }) => word);
}

function ranked(typed: string, known: readonly string[]) {
  const wanted = typed.toLowerCase();
  const distance = (form: string) => {
    const word = form.toLowerCase();
    return wanted !== '' && word.startsWith(wanted) ? 0.5 : leven(wanted, word);
  };
  return known
    .map((word) => ({ word, distance: distance(word) }))
    .sort((a, b) => a.distance - b.distance);
}

/** Valid periods with the days, weeks or dates of an invalid one. */
function repairs(word: string, today: Day): readonly string[] {
  const [, count, letters] = /^(?:last-)?(\d+)[-\s]*([a-z]+)$/.exec(word) ?? [];
  if (letters?.startsWith('mo')) return ofMonths(Number(count), today);
  if (count !== undefined) return ofCount(Number(count), letters?.startsWith('w') ?? false);
  const [, first, to, last = ''] = /^([\d-]+)(\.{2,}|…)([\d-]*)$/.exec(word) ?? [];
  if (to !== undefined && first !== undefined) return ofRange(first, last, today);
  return [...datesIn(word), ...existing(word)].filter((day) => isDay(day) && day <= today);
}

/** A day after the end of its month becomes the last day: 30 February → 28 February. */
function existing(text: string): readonly string[] {
  const month = text.slice(0, 7);
  const isOfMonth = /^\d{4}-\d\d-\d\d$/.test(text) && isDay(`${month}-01`);
  return isOfMonth ? [isDay(text) ? text : monthSpan(month).last] : [];
}

/** `5.11.2026` has the day first; `5/11/2026` is ambiguous, so both days are suggested. */
function datesIn(text: string): readonly string[] {
  const [, a = '', sign, b = '', year] = /^(\d\d?)([./])(\d\d?)\2(\d{4})$/.exec(text) ?? [];
  if (year === undefined) return [];
  const [one, other] = [a.padStart(2, '0'), b.padStart(2, '0')];
  const days = [`${year}-${other}-${one}`, `${year}-${one}-${other}`];
  return sign === '.' ? days.slice(0, 1) : days;
}

/** The whole months before this one, at most 12. */
function ofMonths(count: number, today: Day): readonly string[] {
  if (count === 0) return [];
  const first = monthOf(addMonths(today, -Math.min(count, 12)));
  return [`${first}..${monthOf(addMonths(today, -1))}`];
}

function ofCount(count: number, weeks: boolean): readonly string[] {
  if (count === 0) return [];
  const days = `${Math.min(count, 400)}d`;
  const whole = `${Math.min(count, 57)}w`;
  return weeks ? [whole, days] : [days, whole];
}

function ofRange(from: string, to: string, today: Day): readonly string[] {
  const whole = (edge: string) =>
    [firstOf(edge), lastOf(edge)].map((day) => existing(day)[0] ?? '');
  const days = [...whole(from), ...(to === '' ? [today] : whole(to))].sort();
  const [first = '', last = ''] = [days[0], days.at(-1)];
  if (first === '' || firstOf(from) > today) return [];
  const end = last < today ? last : today;
  const earliest = addDays(end, -399);
  return first > end ? [] : [`${first < earliest ? earliest : first}..${end}`];
}
