import { expect, test } from 'vitest';
import { median } from '../../src/maths/numbers.ts';
import { falseAlarms, naive, recall, recommended, syntheticLines } from './synthetic-alarms.ts';
import {
  type Elapsed,
  type Forecaster,
  recommended as forecaster,
  guesses,
  lastTwoWeeks,
  runRate,
  type Scenario,
} from './synthetic-months.ts';

const lines = syntheticLines(4, 240);
const alarms = falseAlarms(lines, recommended('notice'));

test('few unchanged lines are reported', () => {
  expect(alarms).toBeLessThanOrEqual(13);
  expect(falseAlarms(lines, recommended('alert'))).toBeLessThanOrEqual(4);
});

test('the naive rule has ten times more false alarms', () => {
  expect(falseAlarms(lines, naive)).toBeGreaterThan(10 * alarms);
});

test.for<[Parameters<typeof recall>[3], number]>([
  ['×2', 0.8],
  ['×3', 0.85],
  ['drop to 0', 0.95],
])('a change of %s is reported', ([name, least]) => {
  expect(recall(4, lines, recommended('notice'), name)).toBeGreaterThanOrEqual(least);
});

function error(forecast: Forecaster, scenario: Scenario, elapsed: Elapsed): number {
  return 100 * median(guesses(4, 100, scenario, elapsed)(forecast).map((guess) => guess.error));
}

/** With a hundred organisations the median itself is off by a tenth now and then. */
test.for<[Scenario, Elapsed, number]>([
  ['steady', 7, 3.3],
  ['steady', 18, 1.5],
  ['spike ×2.5', 12, 2.0],
  ['shift +35%', 12, 4.2],
])(
  'in a month that is %s the forecast of day %i is as good as promised',
  ([scenario, elapsed, figure]) => {
    expect(error(forecaster, scenario, elapsed)).toBeLessThan(1.2 * figure);
  },
);

test('after a spike the run rate is three times worse, after a shift two weeks are twice', () => {
  expect(error(runRate, 'spike ×2.5', 12)).toBeGreaterThan(3 * error(forecaster, 'spike ×2.5', 12));
  expect(error(lastTwoWeeks, 'shift +35%', 12)).toBeGreaterThan(
    2 * error(forecaster, 'shift +35%', 12),
  );
});

test('the interval of eighty percent holds in about as many months', () => {
  const found = guesses(4, 150, 'steady', 18)(forecaster);
  const within = found.filter((guess) => guess.within).length / found.length;
  expect(within).toBeGreaterThan(0.75);
  expect(within).toBeLessThan(0.97);
});
