import { describe, expect, test } from 'vitest';
import { addDays, daysBetween } from '../../src/base/time.ts';
import { batchFactor, followDays, knownDays, levelOf } from '../../src/maths/statistics.ts';
import { chance, finalDays } from './rows.ts';

const FIRST = '2026-03-02';

/** Credits with a noise of 3%. */
function noisy(level: number, days: number, seed = 1): readonly number[] {
  const random = chance(seed);
  return Array.from({ length: days }, () => level * (1 + 0.06 * (random() - 0.5)));
}

function tracked(values: readonly number[], restart: string | null = null) {
  return followDays(knownDays(finalDays(values, FIRST)), { restart });
}

test('a steady line has its mean as level, and no run', () => {
  expect(tracked(noisy(100, 60))).toMatchObject({ run: null, batch: null });
  expect(tracked(noisy(100, 60)).level).toBeCloseTo(100, -0.5);
});

describe('days that are not usual', () => {
  test('are a run, and leave the level as it was', () => {
    const { run, level } = tracked([...noisy(100, 50), ...noisy(300, 4)]);
    expect(run?.days.length).toBe(4);
    expect(level).toBeCloseTo(100, -0.5);
  });

  test('are the new level after seven alike ones', () => {
    const { run, level, usualDays } = tracked([...noisy(100, 50), ...noisy(170, 7)]);
    expect(run).toBeNull();
    expect(level).toBeCloseTo(170, -1);
    expect(usualDays).toBe(7);
  });

  test('end with a usual day', () => {
    expect(tracked([...noisy(100, 50), ...noisy(300, 2), 100]).run).toBeNull();
  });

  test('two of them do not hide what comes weeks later', () => {
    const values = [...noisy(100, 50), 400, 390, ...noisy(100, 20), 370];
    expect(tracked(values).run?.days.length).toBe(1);
    expect(tracked(values).run?.days[0]?.level).toBeCloseTo(100, -0.5);
  });

  test('are the level at once where a user expected them', () => {
    const since = addDays(FIRST, 50);
    const { run, level } = tracked([...noisy(100, 50), ...noisy(170, 3)], since);
    expect(run).toBeNull();
    expect(level).toBeCloseTo(170, -1);
  });
});

test('after a holiday, two days at the old level restore it', () => {
  const { level, run } = tracked([...noisy(100, 50), ...noisy(35, 9), ...noisy(100, 2)]);
  expect(run).toBeNull();
  expect(level).toBeCloseTo(100, -1);
});

test('a line that grows by 1% a day is expected to go on', () => {
  const values = noisy(100, 70).map((value, index) => value * 1.01 ** index);
  expect(tracked(values).growth).toBeGreaterThan(0.006);
  expect(tracked(noisy(100, 70)).growth).toBeLessThan(0.001);
});

describe('a batch at the ends of months', () => {
  const days = daysBetween('2026-03-10', '2026-06-20');
  const isBatch = (day: string) => /-(29|30|31|01)$/.test(day);
  const values = (months: readonly string[]) =>
    noisy(100, days.length).map((value, index) => {
      const day = days[index] ?? '';
      const end = day.endsWith('-01') ? addDays(day, -1).slice(0, 7) : day.slice(0, 7);
      return isBatch(day) && months.includes(end) ? value * 3 : value;
    });
  const batchOf = (months: readonly string[]) =>
    followDays(knownDays(finalDays(values(months), '2026-03-10'))).batch;

  test('recurs almost certainly after two months, and probably after one', () => {
    expect(batchOf(['2026-03', '2026-04', '2026-05'])?.weight).toBe(0.97);
    expect(batchOf(['2026-05'])?.weight).toBe(0.6);
    expect(batchFactor(batchOf(['2026-04', '2026-05']), '2026-06-30')).toBeCloseTo(3, 0);
    expect(batchFactor(batchOf(['2026-04', '2026-05']), '2026-06-20')).toBe(1);
  });

  test('is not expected after a month without it', () => {
    expect(batchOf(['2026-03', '2026-04'])).toBeNull();
  });
});

test('a refund is in no level', () => {
  const days = finalDays([...noisy(100, 30), -500, ...noisy(100, 5)], FIRST);
  expect(knownDays(days).length).toBe(35);
  expect(levelOf(knownDays(days)).value).toBeCloseTo(100, -0.5);
});
