import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import {
  completed,
  type DaySnapshot,
  learnCompleteness,
  openDayOf,
  snapshotHistory,
} from '../../src/maths/days.ts';
import { type Fetches, FIRST, fetchedReports, stored } from './fetched-reports.ts';

/** A day has 80% of its cost on the next morning, 95% on the one after, then all of it. */
function share(age: number): number {
  return age < 1 ? 0.4 * age : age < 2 ? 0.8 : age < 3 ? 0.95 : 1;
}

function readsOf(fetches: Fetches) {
  const reports = stored(
    fetchedReports({ lockAge: () => 12, share }, { everyHours: 24, ...fetches }),
  );
  const at = reports.at(-1)?.fetchedAt ?? new Date(0);
  return { reports, at, learned: learnCompleteness(snapshotHistory(reports), at) };
}

test('the share of each age is learned from daily reads, the later ones are complete', () => {
  const { learned } = readsOf({ days: 40 });
  expect(learned.get(1)).toMatchObject({ share: expect.closeTo(0.8, 3) });
  expect(learned.get(2)?.share).toBeCloseTo(0.95, 3);
  expect(learned.get(5)).toMatchObject({ share: 1, error: 0 });
});

test('it is known from the second daily read on, with a larger error', () => {
  const { learned, at } = readsOf({ days: 40, from: 38 });
  expect(learned.get(1)).toMatchObject({ share: expect.closeTo(0.8, 3) });
  expect(learned.get(1)?.error).toBeCloseTo(0.2 * (0.2 + 0.5), 3);
  const open = openDayOf(addDays(at.toISOString().slice(0, 10), -1), at, learned);
  expect(completed({ value: 80, final: false, openDay: open })?.value).toBeCloseTo(100, 1);
});

test('after a single read nothing is known, and no day counts as complete', () => {
  const { learned, at } = readsOf({ days: 40, from: 39 });
  expect(learned.size).toBe(0);
  const openDay = openDayOf('2026-09-08', at, learned);
  expect(openDay.completeness).toBeNull();
  expect(completed({ value: 80, final: false, openDay })).toBeNull();
});

test('reads that are not a day apart show nothing', () => {
  expect(readsOf({ days: 40, everyHours: 48 }).learned.size).toBe(0);
});

test('reads in between do not count, so that every ratio is that of one day', () => {
  expect(readsOf({ days: 40, everyHours: 4 }).learned.get(1)?.share).toBeCloseTo(0.8, 2);
});

test('a pause teaches nothing, and what was learned before stays', () => {
  const isDown = (hours: number) => hours > 30 * 24 && hours < 36 * 24;
  expect(readsOf({ days: 40, isDown }).learned.get(1)?.share).toBeCloseTo(0.8, 3);
});

test('a day with less than 40% of its cost is used for nothing', () => {
  const openDay = { age: 1, completeness: { share: 0.39, error: 0.1, common: 0 } };
  expect(completed({ value: 39, final: false, openDay })).toBeNull();
});

test('totals that fall are expected to fall, but not by more than 5%', () => {
  const day = (index: number) => addDays(FIRST, index);
  const reports = [0, 1, 2, 3].flatMap((morning): DaySnapshot[] => {
    const fetchedAt = new Date(Date.parse(`${day(morning + 1)}T07:00:00Z`));
    return [0, 1, 2, 3]
      .filter((index) => index <= morning)
      .map((index) => {
        const total = index === morning ? 120 : 100;
        return { day: day(index), fetchedAt, total, final: false };
      });
  });
  const learned = learnCompleteness(snapshotHistory(reports), new Date(`${day(4)}T07:00:00Z`));
  expect(learned.get(1)?.share).toBe(1.05);
});
