import { describe, expect, test } from 'vitest';
import { compareDay } from '../../src/costs/comparison.ts';
import { headlineDay } from '../../src/costs/digest-data.ts';
import { dayCountsOf } from '../../src/costs/standing.ts';
import { dayStates } from '../../src/maths/days.ts';
import { revisions } from '../../src/maths/report.ts';
import { microOf } from '../../src/maths/rows.ts';
import { daily, row, TODAY } from '../maths/rows.ts';

const NOVEMBER = { first: '2026-11-01', last: '2026-11-20' };

test('a span has its total and its preliminary part', () => {
  const rows = [
    ...daily('2026-11-01', Array(10).fill(9)),
    row({ day: '2026-11-12', credits: 10, locked: false }),
  ];
  expect(
    dayCountsOf(dayStates(rows, NOVEMBER), { first: '2026-11-01', last: '2026-11-12' }),
  ).toEqual({
    total: microOf(100),
    money: null,
    preliminary: microOf(10),
    share: 0.1,
    days: 12,
    finalDays: 10,
    preliminaryDays: 1,
    missing: ['2026-11-11'],
  });
});

describe('the headline day of a report', () => {
  const open = { locked: false };

  test.for<[string, number, string | null]>([
    ['became final three days ago', 17, '2026-11-17'],
    ['became final five days ago', 15, '2026-11-15'],
    ['became final six days ago: rather yesterday, preliminary', 14, '2026-11-19'],
  ])('%s', ([, finalDays, day]) => {
    const rows = [
      ...daily('2026-11-01', Array(finalDays).fill(1)),
      ...daily(`2026-11-${finalDays + 1}`, Array(20 - finalDays).fill(1), open),
    ];
    expect(headlineDay(dayStates(rows, NOVEMBER), TODAY)?.day).toBe(day);
  });

  test('is never today, which is incomplete', () => {
    const states = dayStates([row({ day: TODAY }), row({ day: '2026-11-10' })], NOVEMBER);
    expect(headlineDay(states, TODAY)?.day).toBe('2026-11-10');
  });

  test('is null without data', () => {
    expect(headlineDay(dayStates([], NOVEMBER), TODAY)).toBeNull();
  });
});

describe('one day compared with a baseline', () => {
  test.for<[string, number, boolean, object]>([
    ['final and above', 12, true, { state: 'settled', delta: microOf(2), relative: 0.2 }],
    ['final and below', 5, true, { state: 'settled', delta: microOf(-5), relative: -0.5 }],
    ['open and already above', 12, false, { state: 'already-above', delta: microOf(2) }],
    ['open and below: not reported', 5, false, { state: 'not-settled' }],
    ['open and just as usual', 10, false, { state: 'not-settled' }],
  ])('%s', ([, value, final, verdict]) => {
    expect(compareDay({ day: '2026-11-19', value, final }, 10)).toEqual(verdict);
  });

  test('a settled day that is not locked is compared in both directions', () => {
    const openDay = { settled: true, completion: null };
    expect(compareDay({ day: '2026-11-16', value: 5, final: false, openDay }, 10)).toEqual({
      state: 'settled',
      delta: microOf(-5),
      relative: -0.5,
    });
  });

  test.for<[string, number, object]>([
    ['heads above', 10, { state: 'heading-above', delta: microOf(2.5), relative: 0.25 }],
    ['is above already', 12, { state: 'heading-above', delta: microOf(5), relative: 0.5 }],
    ['is below: not reported', 7, { state: 'not-settled' }],
  ])('with a completion factor of 0.8, a day that is not settled and %s', ([, value, verdict]) => {
    const openDay = { settled: false, completion: { typical: 0.8, high: 0.9, days: 14 } };
    expect(compareDay({ day: '2026-11-19', value, final: false, openDay }, 10)).toEqual(verdict);
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
      },
    ]);
  });

  test.for<[string, number, number, boolean]>([
    ['it is within 5%', 105, 2, true],
    ['it is within the least that matters', 120, 20, true],
    ['it is not final yet', 150, 2, false],
  ])('is not reported when %s', ([, credits, minimum, locked]) => {
    expect(revised(credits, minimum, locked)).toEqual([]);
  });

  test('as 0 has no percentage', () => {
    const states = dayStates([row({ day: '2026-11-12', credits: 9 })], NOVEMBER);
    const [revision] = revisions([{ day: '2026-11-12', total: 0 }], states, microOf(2));
    expect(revision).toMatchObject({ relative: null });
  });
});
