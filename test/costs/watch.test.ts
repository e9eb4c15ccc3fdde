import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { watchDay, withNewBaseline } from '../../src/costs/judge-lines.ts';
import { expectIncident } from '../../src/maths/anomalies.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { settledDays } from '../../src/maths/statistics.ts';
import { chance, finalDays, normal } from '../maths/synthetic.ts';

const FIRST = '2026-03-02';

function day(index: number): string {
  return addDays(FIRST, index);
}

/** Eighty days around a level, some of them times a factor. */
function line(changed: (index: number) => number): readonly DayValue[] {
  const random = chance(21);
  const values = Array.from(
    { length: 80 },
    (_, index) => 20 * Math.exp(0.03 * normal(random)) * changed(index),
  );
  return finalDays(values, FIRST);
}

const NEW_WATCH = { incident: null, baselineFrom: null };

/** The news of a line, from the 57th day on. */
function newsOf(series: readonly DayValue[]): readonly string[] {
  const days = settledDays(series);
  let watch: Parameters<typeof watchDay>[0] = NEW_WATCH;
  return series.slice(56).flatMap((value) => {
    const judged = watchDay(watch, days, value, 2);
    watch = judged.watch;
    return judged.news === null ? [] : [`${judged.news} ${value.day}`];
  });
}

test('a usual past has no news', () => {
  expect(newsOf(line(() => 1))).toEqual([]);
});

test('a spike is opened and resolved', () => {
  const spike = line((index) => (index === 60 ? 3 : 1));
  expect(newsOf(spike)).toEqual([`opened ${day(60)}`, `resolved ${day(62)}`]);
});

test('the days of a rise do not hide later ones, and seven of them are the new normal', () => {
  const risen = line((index) => (index >= 60 ? 2.1 : 1));
  const news = newsOf(risen);
  expect([news[0], news.at(-1)]).toEqual([`opened ${day(60)}`, `new-normal ${day(66)}`]);
  const between = news.slice(1, -1);
  expect(between.length).toBeGreaterThan(0);
  expect(between.every((one) => one.startsWith('doubled'))).toBe(true);
});

test('after a new normal a day is compared with the time since', () => {
  const risen = line((index) => (index >= 60 ? 2 : 1) * (index === 76 ? 0 : 1));
  expect(newsOf(risen)).toContain(`opened ${day(76)}`);
});

test('an expected incident is the baseline from its first day', () => {
  const series = line((index) => (index >= 60 ? 2 : 1));
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
