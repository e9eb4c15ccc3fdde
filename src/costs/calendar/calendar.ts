import { addDays, type Day, dayNumber, weekdayOf } from './day.ts';

/** Days of the calendar one after another, both ends included. */
export interface Span {
  readonly first: Day;
  readonly last: Day;
}

/** A calendar month, written `2026-11`. */
export type Month = string;

/** What a day belongs to when days are grouped; weeks begin on Monday. */
export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

const DAY = /^2\d{3}-\d\d-\d\d$/;

/** Whether the text is a day that the calendar has, from the year 2000 on. */
export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(dayNumber(text)) && addDays(text, 0) === text;
}

export function lengthOf({ first, last }: Span): number {
  return Math.max(0, dayNumber(last) - dayNumber(first) + 1);
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

export function monthSpan(month: Month): Span {
  const first = `${month}-01`;
  return { first, last: addDays(addMonths(first, 1), -1) };
}

/** The same day of another month, or the last that this month has: 31 October → 30 September. */
export function addMonths(day: Day, count: number): Day {
  const months = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 + count;
  const month = `${Math.floor(months / 12)}-${padded((months % 12) + 1)}`;
  const next = (months + 1) % 12;
  const after = `${Math.floor((months + 1) / 12)}-${padded(next + 1)}-01`;
  const lengthInDays = dayNumber(after) - dayNumber(`${month}-01`);
  return `${month}-${padded(Math.min(Number(day.slice(8)), lengthInDays))}`;
}

/** The first day of the week, month, quarter or year in which the day lies. */
export function startOf(unit: Unit, day: Day): Day {
  if (unit === 'day') return day;
  if (unit === 'week') return addDays(day, -weekdayOf(day));
  if (unit === 'month') return `${monthOf(day)}-01`;
  if (unit === 'year') return `${day.slice(0, 4)}-01-01`;
  return `${day.slice(0, 4)}-${padded(quarterOf(day) * 3 - 2)}-01`;
}

export function quarterOf(day: Day): number {
  return Math.ceil(Number(day.slice(5, 7)) / 3);
}

function padded(number: number): string {
  return String(number).padStart(2, '0');
}
