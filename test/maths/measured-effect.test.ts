import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { type MeasuredEffect, measuredEffect } from '../../src/maths/effect.ts';
import { median, quantile } from '../../src/maths/numbers.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { finalDays, type Kind } from './synthetic.ts';
import { gauged, hodgesLehmann } from './synthetic-effects.ts';

const CHANGED = '2026-10-15';
const FIRST = addDays(CHANGED, -56);

/** 56 days before, the day of the change, and seven after. */
function changed(
  before: (day: number) => number,
  after: (day: number) => number,
): readonly DayValue[] {
  const values = Array.from({ length: 64 }, (_, day) => (day > 56 ? after(day) : before(day)));
  return finalDays(values.with(56, 999), FIRST);
}

function known(measured: MeasuredEffect) {
  if (!measured.ok) throw new Error(measured.why);
  return measured;
}

test.for<3 | 7>([3, 7])('a service that costs half is measured as half after %s days', (days) => {
  const measured = known(
    measuredEffect(
      changed(
        () => 26,
        () => 13,
      ),
      CHANGED,
      days,
    ),
  );
  expect(measured).toEqual({
    ok: true,
    ratio: expect.closeTo(0.5),
    low: expect.closeTo(0.5),
    high: expect.closeTo(0.5),
    before: expect.closeTo(26),
    after: expect.closeTo(13),
    beforeDays: 14,
    afterDays: days,
  });
});

test('weekends after the change do not count as a saving', () => {
  const isWeekend = (day: number) => (day + 4) % 7 >= 5;
  const usual = (day: number) => (isWeekend(day) ? 8 : 20);
  const start = new Date(`${FIRST}T00:00:00Z`).getUTCDay();
  expect(start).toBe(4);
  expect(known(measuredEffect(changed(usual, usual), CHANGED, 3)).ratio).toBeCloseTo(1, 1);
});

test('one unusual day after the change does not change the result', () => {
  const series = changed(
    () => 20,
    (day) => (day === 58 ? 90 : 10),
  );
  expect(known(measuredEffect(series, CHANGED, 7)).ratio).toBeCloseTo(0.5);
});

test('a service that was stopped costs nothing', () => {
  expect(
    known(
      measuredEffect(
        changed(
          () => 20,
          () => 0,
        ),
        CHANGED,
        3,
      ),
    ),
  ).toMatchObject({ ratio: 0, after: 0 });
});

const halved = changed(
  () => 20,
  () => 10,
);

test('a service that was stopped sometimes before, and always since, is measured', () => {
  const rested = changed(
    (day) => (day % 3 === 0 ? 0 : 20),
    () => 0,
  ).slice(49);
  expect(known(measuredEffect(rested, CHANGED, 3))).toMatchObject({ ratio: 0, high: 1 });
});

test.for<[string, readonly DayValue[], string]>([
  [
    'a day after is not final',
    halved.map((day, index) => ({ ...day, final: index !== 58 })),
    'not-settled-yet',
  ],
  ['a day after has no data', halved.toSpliced(58, 1), 'not-settled-yet'],
  [
    'a day after shows what is no cost',
    halved.with(58, { day: addDays(FIRST, 58), value: Number.NaN, final: true }),
    'not-settled-yet',
  ],
  ['there were six days before', halved.slice(50), 'too-few-days-before'],
  [
    'it cost nothing before',
    changed(
      () => 0,
      () => 10,
    ),
    'nothing-to-compare',
  ],
])('nothing is measured when %s', ([, series, why]) => {
  expect(measuredEffect(series, CHANGED, 3)).toEqual({ ok: false, why });
});

test('a week before is enough, in any order of days', () => {
  const short = halved.slice(49);
  expect(known(measuredEffect(short, CHANGED, 3))).toMatchObject({ beforeDays: 7 });
  expect(measuredEffect(halved.toReversed(), CHANGED, 7)).toEqual(
    measuredEffect(halved, CHANGED, 7),
  );
});

test.for<[Kind, 3 | 7, number, number]>([
  ['steady', 3, 0.05, 0.12],
  ['steady', 7, 0.04, 0.1],
  ['business', 3, 0.06, 0.16],
  ['business', 7, 0.05, 0.13],
  ['weekly-job', 7, 0.055, 0.14],
  ['bursty', 7, 0.2, 0.45],
])('of a %s line %i days after the error is small', ([kind, days, middle, most]) => {
  const found = gauged(8, 200, kind, hodgesLehmann(days));
  const errors = found.map(({ error }) => error);
  expect(median(errors)).toBeLessThan(middle);
  expect(quantile(errors, 0.9)).toBeLessThan(most);
  expect(found.filter(({ within }) => within).length / found.length).toBeGreaterThan(0.7);
});
