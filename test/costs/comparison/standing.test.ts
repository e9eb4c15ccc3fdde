import { describe, expect, test } from 'vitest';
import { dayAgainst, dayCountsOf, headlineDay } from '../../../src/costs/comparison/standing.ts';
import { dayStates } from '../../../src/costs/ledger/ledger.ts';
import { revisions } from '../../../src/costs/ledger/revision.ts';
import { microOf } from '../../../src/costs/ledger/row.ts';
import { daily, row, TODAY } from '../rows.ts';

const NOVEMBER = { first: '2026-11-01', last: '2026-11-20' };

test('a span says how much of it is known, and how much of that for good', () => {
  const rows = [
    ...daily('2026-11-01', Array(10).fill(9)),
    row({ day: '2026-11-12', credits: 10, locked: false }),
  ];
  expect(
    dayCountsOf(dayStates(rows, NOVEMBER), { first: '2026-11-01', last: '2026-11-12' }),
  ).toEqual({
    total: microOf(100),
    preliminary: microOf(10),
    share: 0.1,
    days: 12,
    finalDays: 10,
    preliminaryDays: 1,
    missing: ['2026-11-11'],
  });
});

describe('the day that a report is about', () => {
  const open = { locked: false };

  test.for<[string, number, string | null]>([
    ['became final three days ago', 17, '2026-11-17'],
    ['became final four days ago', 16, '2026-11-16'],
    ['became final five days ago: rather yesterday, preliminary', 15, '2026-11-19'],
  ])('%s', ([, finalDays, day]) => {
    const rows = [
      ...daily('2026-11-01', Array(finalDays).fill(1)),
      ...daily(`2026-11-${finalDays + 1}`, Array(20 - finalDays).fill(1), open),
    ];
    expect(headlineDay(dayStates(rows, NOVEMBER), TODAY)?.day).toBe(day);
  });

  test('is never today, for today has only begun', () => {
    const states = dayStates([row({ day: TODAY }), row({ day: '2026-11-10' })], NOVEMBER);
    expect(headlineDay(states, TODAY)?.day).toBe('2026-11-10');
  });

  test('is none where nothing is known', () => {
    expect(headlineDay(dayStates([], NOVEMBER), TODAY)).toBeNull();
  });
});

describe('one day against what is usual', () => {
  test.for<[string, number, boolean, boolean, object]>([
    ['final and above', 12, true, false, { state: 'final', delta: microOf(2), relative: 0.2 }],
    ['final and below', 5, true, false, { state: 'final', delta: microOf(-5), relative: -0.5 }],
    ['open and already above', 12, false, false, { state: 'already-above', delta: microOf(2) }],
    ['open and below: nothing is said', 5, false, false, { state: 'not-final' }],
    ['open and just as usual', 10, false, false, { state: 'not-final' }],
    ['open and above where open days were seen to fall', 12, false, true, { state: 'not-final' }],
  ])('%s', ([, value, final, mayFall, verdict]) => {
    expect(dayAgainst({ day: '2026-11-19', value, final }, 10, mayFall)).toEqual(verdict);
  });
});

describe('a day that was posted', () => {
  const posted = [{ day: '2026-11-12', total: microOf(100) }];

  function revised(credits: number, minimum: number, locked = true) {
    const rows = [row({ day: '2026-11-12', credits, locked }), row({ day: '2026-11-13' })];
    return revisions(posted, dayStates(rows, NOVEMBER), microOf(minimum));
  }

  test('is shown with its final value', () => {
    expect(revised(106, 2)).toEqual([
      {
        day: '2026-11-12',
        posted: microOf(100),
        final: microOf(106),
        delta: microOf(6),
        relative: 0.06,
        isLarge: false,
      },
    ]);
  });

  test.for<[string, number, number, boolean]>([
    ['it is within 5%', 105, 2, true],
    ['it is within the least that matters', 120, 20, true],
    ['it is not final yet', 150, 2, false],
  ])('is not told when %s', ([, credits, minimum, locked]) => {
    expect(revised(credits, minimum, locked)).toEqual([]);
  });

  test.for<[number, boolean]>([
    [79, true],
    [80, false],
    [120, false],
    [121, true],
  ])('of 100 credits that became %d, it is a large revision: %s', ([credits, isLarge]) => {
    expect(revised(credits, 2)).toEqual([expect.objectContaining({ isLarge })]);
  });

  test('as nothing has no percent', () => {
    const states = dayStates([row({ day: '2026-11-12', credits: 9 })], NOVEMBER);
    const [revision] = revisions([{ day: '2026-11-12', total: 0 }], states, microOf(2));
    expect(revision).toMatchObject({ relative: null, isLarge: true });
  });
});
