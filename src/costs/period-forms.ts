import leven from 'leven';
import { isDay, monthOf, quarterOf } from './calendar.ts';
import { addDays, type Day } from './day.ts';

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

/** One of every form in which a period can be said, as it reads today. */
export function periodForms(today: Day): readonly string[] {
  const year = today.slice(0, 4);
  const week = `${addDays(today, -7)}..${addDays(today, -1)}`;
  const dated = [year, monthOf(today), `${year}-Q${quarterOf(today)}`, addDays(today, -1), week];
  return [...WORDS, ...dated, `${addDays(today, -7)}..`];
}

/** What a refused word may have meant: the repairs of its own figures first, then like words. */
export function nearestForms(word: string, today: Day): readonly string[] {
  const forms = [...repairs(word, today), ...alike(word, periodForms(today))];
  return [...new Set(forms)].slice(0, OFFERED);
}

/** The words most like the typed one, the likest first; a beginning is as good as one letter off. */
export function alike(typed: string, known: readonly string[]): readonly string[] {
  const wanted = typed.toLowerCase();
  const distance = (form: string) => {
    const word = form.toLowerCase();
    return wanted !== '' && word.startsWith(wanted) ? 0.5 : leven(wanted, word);
  };
  return known
    .map((word) => ({ word, distance: distance(word) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ word }) => word);
}

function repairs(word: string, today: Day): readonly string[] {
  const [, count, letters] = /^(\d+)\s*([a-z]+)$/.exec(word) ?? [];
  if (count !== undefined) return ofCount(Number(count), letters?.startsWith('w') ?? false);
  const [, first = '', last = ''] = /^([\d-]+)(?:\.+|…)([\d-]*)$/.exec(word) ?? [];
  return isDay(first) && (isDay(last) || last === '') ? ofRange(first, last, today) : [];
}

function ofCount(count: number, weeks: boolean): readonly string[] {
  if (count === 0) return [];
  const days = `${Math.min(count, 400)}d`;
  const whole = `${Math.min(count, 57)}w`;
  return weeks ? [whole, days] : [days, whole];
}

function ofRange(first: Day, last: Day, today: Day): readonly string[] {
  const [from, to] = last !== '' && last < first ? [last, first] : [first, last || today];
  const end = to < today ? to : today;
  const earliest = addDays(end, -399);
  return from > end ? [] : [`${from < earliest ? earliest : from}..${end}`];
}
