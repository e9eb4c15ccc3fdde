import { expect, test } from 'vitest';
import { dayCountsOf } from '../../src/costs/standing.ts';
import { dayStates } from '../../src/maths/days.ts';
import { microOf } from '../../src/maths/rows.ts';
import { daily, row } from '../maths/rows.ts';

const NOVEMBER = { first: '2026-11-01', last: '2026-11-20' };

test('a span has its total, and its open and missing days', () => {
  const rows = [
    ...daily('2026-11-01', Array(10).fill(9)),
    row({ day: '2026-11-12', credits: 10, locked: false }),
  ];
  expect(
    dayCountsOf(dayStates(rows, NOVEMBER), { first: '2026-11-01', last: '2026-11-12' }),
  ).toEqual({
    total: microOf(100),
    money: null,
    open: ['2026-11-12'],
    missing: ['2026-11-11'],
  });
});
