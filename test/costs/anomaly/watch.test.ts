import { expect, test } from 'vitest';
import { expectIncident } from '../../../src/costs/anomaly/incident.ts';
import {
  NEW_WATCH,
  replay,
  type WatchedSeries,
  watchDay,
  withNewBaseline,
} from '../../../src/costs/anomaly/watch.ts';
import { addDays } from '../../../src/costs/calendar/day.ts';
import { settledDays } from '../../../src/costs/forecast/series.ts';
import { chance, finalDays, normal } from '../synthetic.ts';

const FIRST = '2026-03-02';

function day(index: number): string {
  return addDays(FIRST, index);
}

/** Eighty days around a level, some of them times a factor. */
function line(id: string, changed: (index: number) => number, level = 20): WatchedSeries {
  const random = chance(id.length + level);
  const values = Array.from(
    { length: 80 },
    (_, index) => level * Math.exp(0.03 * normal(random)) * changed(index),
  );
  return { id, series: finalDays(values, FIRST) };
}

function postsOf(lines: readonly WatchedSeries[]) {
  const postings = replay(lines, day(56), day(79), 2);
  return postings.map((posting) => `${posting.line} ${posting.news} ${posting.day}`);
}

test('a usual past would have posted nothing', () => {
  expect(postsOf([line('a', () => 1)])).toEqual([]);
});

test('a spike is opened and resolved', () => {
  const spike = line('a', (index) => (index === 60 ? 3 : 1));
  expect(postsOf([spike])).toEqual([`a opened ${day(60)}`, `a resolved ${day(62)}`]);
});

test('the days of a rise do not hide later ones, and seven of them are the new normal', () => {
  const risen = line('a', (index) => (index >= 60 ? 2.1 : 1));
  const postings = postsOf([risen]);
  expect([postings[0], postings.at(-1)]).toEqual([
    `a opened ${day(60)}`,
    `a new-normal ${day(66)}`,
  ]);
  const between = postings.slice(1, -1);
  expect(between.length).toBeGreaterThan(0);
  expect(between.every((posting) => posting.startsWith('a doubled'))).toBe(true);
});

test('after a new normal a day is compared with the time since', () => {
  const risen = line('a', (index) => (index >= 60 ? 2 : 1) * (index === 76 ? 0 : 1));
  expect(postsOf([risen])).toContain(`a opened ${day(76)}`);
});

test('an expected incident is the baseline from its first day', () => {
  const { series } = line('a', (index) => (index >= 60 ? 2 : 1));
  const at = series[60];
  if (!at) throw new Error('there are eighty days');
  const days = settledDays(series);
  const { watch } = watchDay(NEW_WATCH, days, at, 2);
  if (!watch.incident) throw new Error('nothing was opened');
  const expected = withNewBaseline({ ...watch, incident: expectIncident(watch.incident) });
  expect(expected.baselineFrom).toBe(day(60));

  const [soon, later] = [series[65], series[72]];
  if (!soon || !later) throw new Error('there are eighty days');
  // Only five days are left to hold it against.
  expect(watchDay(expected, days, soon, 2)).toMatchObject({ verdict: { kind: 'untested' } });
  expect(watchDay(expected, days, later, 2)).toMatchObject({ verdict: { kind: 'usual' } });
});

test('five lines that rise on one day are one post', () => {
  const lines = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
    line(id, (at) => (at === 60 ? 3 : 1), 20 + index),
  );
  const postings = postsOf(lines);
  expect(postings.filter((posting) => posting.endsWith(day(60)))).toEqual([
    `null common-cause ${day(60)}`,
  ]);
});

test('a day without data is skipped, and one that is not final waits', () => {
  const { id, series } = line('a', (index) => (index === 60 || index === 64 ? 3 : 1));
  const open = series.map((value, index) => (index === 60 ? { ...value, final: false } : value));
  const gap = open.filter((_, index) => index !== 64);
  expect(postsOf([{ id, series: gap }])).toEqual([]);
});
