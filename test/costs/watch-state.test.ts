import { expect, test } from 'vitest';
import type { Day } from '../../src/base/time.ts';
import { isScanDue, judgedThrough } from '../../src/costs/watch.ts';
import type { DayState } from '../../src/maths/days.ts';

const state = (lastSettled: Day, ranOn: Day) => ({
  ...{ through: lastSettled, lastSettled, ranOn, at: '2026-11-20T07:00:00.000Z' },
  ...{ lines: 1, version: 1 },
});

test.for<[string, ReturnType<typeof state> | null, string, string, boolean]>([
  ['nothing was scanned yet', null, '2026-11-17', '2026-11-20T12:00Z', true],
  [
    'the day was looked at',
    state('2026-11-17', '2026-11-20'),
    '2026-11-17',
    '2026-11-20T12:00Z',
    false,
  ],
  [
    'one more day is final',
    state('2026-11-16', '2026-11-20'),
    '2026-11-17',
    '2026-11-20T12:00Z',
    true,
  ],
  [
    'a day has just ended',
    state('2026-11-17', '2026-11-20'),
    '2026-11-17',
    '2026-11-21T05:59Z',
    false,
  ],
  [
    'it ended six hours ago',
    state('2026-11-17', '2026-11-20'),
    '2026-11-17',
    '2026-11-21T06:00Z',
    true,
  ],
])('when %s', ([, before, lastSettled, now, isDue]) => {
  expect(isScanDue(before, { lastSettled, now: new Date(now) })).toBe(isDue);
});

function days(states: string): readonly DayState[] {
  const kinds = { f: 'final', p: 'preliminary', '-': 'no-data' } as const;
  return [...states].map((letter, index) => ({
    day: `2026-11-${String(index + 1).padStart(2, '0')}`,
    state: kinds[letter as keyof typeof kinds],
    ...{ rows: 1, openRows: 0, total: 0, preliminary: 0 },
  }));
}

test.for<[string, string, Day | null]>([
  ['all are final', 'fffff', '2026-11-05'],
  ['the last two are not', 'fffpp', '2026-11-03'],
  ['a day in between is still open', 'ffpff', '2026-11-02'],
  ['a day in between has no data yet', 'ff-ff', '2026-11-02'],
  ['the first is open', 'pffff', null],
])('judged through, when %s', ([, states, through]) => {
  expect(judgedThrough(days(states), '2026-11-06', null)).toBe(through);
});

test('a day that stays open a week longer than usual does not delay others', () => {
  const late = { usual: 4, low: 3, high: 5, days: 28 };
  const states = days('fpffffffffffff');
  expect(judgedThrough(states, '2026-11-15', late)).toBe('2026-11-14');
  expect(judgedThrough(states, '2026-11-15', { ...late, high: 6 })).toBe('2026-11-01');
  expect(judgedThrough(states, '2026-11-15', null)).toBe('2026-11-01');
});
