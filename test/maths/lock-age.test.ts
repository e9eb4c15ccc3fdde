import { expect, test } from 'vitest';
import { addDays, type Day, dayNumber, dayOf } from '../../src/base/time.ts';
import {
  type DaySnapshot,
  type LockAge,
  learnLockAge,
  lockAgeText,
  longestWait,
  snapshotHistory,
} from '../../src/maths/days.ts';
import { FIRST, fetchedReports, stored, usualShare } from './fetched-reports.ts';
import { chance } from './synthetic.ts';

const DAYS = 70;

function learn(lockAge: (day: Day) => number, more = {}): LockAge | null {
  const reports = fetchedReports({ lockAge, share: usualShare }, { days: DAYS, ...more });
  return learnLockAge(snapshotHistory(stored(reports)));
}

const weekly = (age: number) => (day: Day) => age + ((7 - ((dayNumber(day) + age) % 7)) % 7);
const straggling = (age: number) => (day: Day) => {
  const random = chance(dayNumber(day));
  return age + (random() < 0.2 ? 1 + Math.floor(7 * random()) : 0);
};

test.for([1, 2, 5, 9, 12, 14])('a lock age of %i days is learned from snapshots', (age) => {
  expect(learn(() => age)).toEqual({ usual: age, low: age, high: age, days: 28 });
});

test.for<[string, (day: Day) => number]>(
  [1, 2, 5, 9, 12, 14].flatMap((age) => [
    [`${age} days`, () => age],
    [`${age} days, in weekly batches`, weekly(age)],
    [`${age} days, with stragglers`, straggling(age)],
  ]),
)('the learned lock age is that of an independent computation: %s', ([, lockAge]) => {
  const reports = fetchedReports({ lockAge, share: usualShare }, { days: DAYS });
  expect(learnLockAge(snapshotHistory(stored(reports)))).toEqual(recomputed(reports));
});

/** From every report, in plain loops: the first fetch after which a day was always final. */
function recomputed(reports: readonly DaySnapshot[]): LockAge {
  const locked: number[] = [];
  const open: number[] = [];
  for (let index = DAYS; index >= 0; index -= 1) {
    const day = addDays(FIRST, index);
    let wasOpen = false;
    let age: number | null = null;
    let now = 0;
    for (const report of reports) {
      if (report.day !== day) continue;
      now = dayNumber(dayOf(report.fetchedAt)) - dayNumber(day);
      if (!report.final) [wasOpen, age] = [true, null];
      else if (wasOpen && age === null) age = now;
    }
    if (age === null) open.push(now);
    else if (locked.length < 28) locked.push(age);
  }
  const middle = rank(locked, 50);
  const ages = [...open.filter((one) => one > middle), ...locked].slice(0, 28);
  const [usual, low, high] = [rank(ages, 50), rank(ages, 10), rank(ages, 90)];
  return { usual, low, high, days: locked.length };
}

/** The smallest age that at least so many percent do not exceed. */
function rank(ages: readonly number[], percent: number): number {
  for (let age = 0; ; age += 1) {
    const count = ages.filter((one) => one <= age).length;
    if (count * 100 >= percent * ages.length) return age;
  }
}

test('days that were final in the first report have an unknown lock age', () => {
  const from = 40;
  expect(learn(() => 12, { from, days: from + 2 })).toBeNull();
  expect(learn(() => 12, { from, days: from + 4 })).toMatchObject({ usual: 12, high: 12, days: 3 });
});

test('days that locked while Signalbox did not run have an unknown lock age', () => {
  const week = (hours: number) => hours >= 50 * 24 && hours < 57 * 24;
  expect(learn(() => 12, { isDown: week })).toMatchObject({ usual: 12, low: 12, high: 12 });
  const day = (hours: number) => hours >= 50 * 24 && hours < 51 * 24 + 8;
  const short = learn(() => 12, { isDown: day });
  expect(short).toMatchObject({ usual: 12, high: 12, days: 28 });
});

test('a server that begins to lock later is noticed before its days lock', () => {
  const change = addDays(FIRST, 60);
  expect(learn((day) => (day < change ? 2 : 12))).toMatchObject({ usual: 2, high: 7 });
});

test('a day that is unlocked again counts when it locks for good', () => {
  const day = addDays(FIRST, 10);
  const at = (hours: number) => new Date(Date.parse(`${day}T00:00:00Z`) + hours * 3_600_000);
  const flips = [1, 2, 3].flatMap((more) => {
    const of = addDays(day, more);
    return [30, 54, 78, 102].map((hours, index) => ({
      day: of,
      fetchedAt: at(hours + more * 24),
      total: 1,
      final: index % 2 === 1,
    }));
  });
  expect(learnLockAge(snapshotHistory(flips))).toMatchObject({ usual: 4, low: 4, high: 4 });
});

test.for<[string, LockAge | null, number, string | null]>([
  ['unknown', null, 21, null],
  ['one age', { usual: 1, low: 1, high: 1, days: 3 }, 8, 'days usually become final after 1 day'],
  [
    'a range',
    { usual: 12, low: 11, high: 14, days: 28 },
    21,
    'days usually become final after 12 days (11–14)',
  ],
])('what follows from the lock age: %s', ([, age, wait, text]) => {
  expect(longestWait(age)).toBe(wait);
  expect(lockAgeText(age)).toBe(text);
});
