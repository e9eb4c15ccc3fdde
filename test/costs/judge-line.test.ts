import { expect, test } from 'vitest';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import type { CostAnomaly } from '../../src/maths/anomalies.ts';
import { expectIncident, muteIncident } from '../../src/maths/anomalies.ts';
import { at, line, steady } from './watched-line.ts';

const MIN = { minImpact: 2 };

function judge(
  values: ReturnType<typeof steady>,
  days: readonly [number, number],
  known: readonly CostAnomaly[] = [],
) {
  const watching = { first: at(days[0]), last: at(days[1]), ...MIN };
  return judgeLine(line(values), known, watching);
}

function newsOf(judged: ReturnType<typeof judge>): readonly string[] {
  return judged.found.map(({ day, news }) => `${day} ${news}`);
}

test('a usual line has no incident, and each of its days is judged', () => {
  const judged = judge(steady(60), [40, 59]);
  expect(judged.changed).toEqual([]);
  expect(judged.verdicts).toHaveLength(20);
});

test('a spike opens on its day and is over after two final days', () => {
  const judged = judge(steady(60, { 50: 40 }), [50, 55]);
  expect(newsOf(judged)).toEqual([`${at(50)} opened`, `${at(52)} resolved`]);
  expect(judged.changed.map(({ incident }) => incident.state)).toEqual(['resolved']);
  expect(judged.changed[0]?.peak).toMatchObject({ day: at(50), value: 40 });
  expect(judged.changed[0]?.peak.range?.high).toBeLessThan(20);
});

test('days that are judged in several scans have the same result', () => {
  const values = steady(60, { 50: 40 });
  let known: readonly CostAnomaly[] = [];
  for (let day = 48; day <= 55; day += 1) {
    const { changed } = judge(values, [day, day], known);
    if (changed.length > 0) known = changed;
  }
  expect(known).toEqual(judge(values, [48, 55]).changed);
});

test.for<[string, number, boolean]>([
  ['an increase on a day that is not final is reported', 40, true],
  ['a drop on a day that is not final is not', 1, false],
])('%s', ([, value, isFound]) => {
  expect(newsOf(judge(steady(60, { 59: value }, 59), [59, 59])).length > 0).toBe(isFound);
});

test('an incident that is over does not judge its days a second time', () => {
  const values = steady(60, { 50: 40 });
  const { changed } = judge(values, [50, 53]);
  expect(judge(values, [50, 53], changed).found).toEqual([]);
  expect(judge(values, [50, 53], changed).changed).toEqual([]);
});

test('an expected incident starts a new baseline, and is not reported', () => {
  const shift = Object.fromEntries(Array.from({ length: 20 }, (_, day) => [50 + day, 30]));
  const values = steady(70, shift);
  const opened = judge(values, [50, 50]).changed.map((one) => ({
    ...one,
    incident: expectIncident(one.incident),
  }));
  expect(judge(values, [51, 69], opened).found).toEqual([]);
});

test('a mute outlasts the incident for which it was given', () => {
  const values = steady(60, { 50: 40, 54: 60, 58: 90 });
  const muted = judge(values, [50, 50]).changed.map((one) => ({
    ...one,
    incident: muteIncident(one.incident, at(56)),
  }));
  const judged = judge(values, [51, 59], muted);
  expect(judged.changed.map(({ incident }) => incident.since)).toContain(at(54));
  expect(newsOf(judged).filter((text) => text.includes('opened'))).toEqual([`${at(58)} opened`]);
});

test('a shift becomes the new normal on its seventh day, and only that is reported', () => {
  const shift = Object.fromEntries(Array.from({ length: 20 }, (_, day) => [40 + day, 30]));
  const judged = judge(steady(60, shift), [38, 59]);
  expect(newsOf(judged).at(-1)).toBe(`${at(46)} new-normal`);
  expect(judged.changed).toHaveLength(1);
});
