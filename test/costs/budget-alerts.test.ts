import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import {
  type BudgetMemory,
  crossThreshold,
  evaluateForecast,
  memoryFor,
} from '../../src/costs/budget-notices.ts';
import type { Forecast } from '../../src/maths/forecast.ts';
import { FLAT } from '../../src/maths/statistics.ts';

const DAY = '2026-11-10';
const MONTH = '2026-11';
const THRESHOLDS = [50, 75, 90, 100];

function fresh(amount = 1_000): BudgetMemory {
  return memoryFor(null, MONTH, amount);
}

/** The announced thresholds of consecutive spends. */
function crossed(spends: readonly number[], start = fresh()): (number | null)[] {
  let memory = start;
  return spends.map((spent) => {
    const step = crossThreshold(memory, spent, THRESHOLDS);
    memory = step.memory;
    return step.crossed;
  });
}

test.for<[string, readonly number[], (number | null)[]]>([
  ['nearly half is spent', [499], [null]],
  ['half is spent, evaluated twice', [500, 520], [50, null]],
  ['it continues to the end', [500, 750, 900, 1_000, 1_400], [50, 75, 90, 100, null]],
  ['three are passed at once', [910, 930], [90, null]],
  ['a figure is revised down and up again', [760, 740, 755], [75, null, null]],
])('each threshold is announced once: %s', ([, spends, announced]) => {
  expect(crossed(spends)).toEqual(announced);
});

test('an edited amount and a new month reset the thresholds', () => {
  const { memory } = crossThreshold(fresh(), 800, THRESHOLDS);
  expect(memoryFor(memory, MONTH, 1_000)).toBe(memory);
  expect(crossed([800], memoryFor(memory, MONTH, 1_500))).toEqual([50]);
  expect(crossed([800], memoryFor(memory, '2026-12', 1_000))).toEqual([75]);
});

test('a budget of 0 has no thresholds', () => {
  expect(crossed([0, 10], fresh(0))).toEqual([null, null]);
});

function forecast(total: number, low = total * 0.8): Forecast {
  const basis = { profile: FLAT, days: 14, shifted: false, level: 1, settledDays: 56 };
  return {
    ok: true,
    total,
    low,
    high: total * 1.2,
    soFar: 1,
    basis: { isMeasured: true, ...basis, openDays: 9, error: 0.2 },
  };
}

/** One forecast a day. */
function weighed(forecasts: readonly Forecast[]) {
  let memory = fresh();
  return forecasts.map((one, index) => {
    const step = evaluateForecast(memory, one, addDays(DAY, index));
    memory = step.memory;
    return step.news;
  });
}

test.for<[string, Forecast[], ReturnType<typeof weighed>]>([
  ['a little above', [forecast(1_040), forecast(1_050)], [null, null]],
  ['above for one day', [forecast(1_060), forecast(1_040), forecast(1_060)], [null, null, null]],
  ['above for two days', [forecast(1_060), forecast(1_060)], [null, 'likely-over']],
  ['above with its whole interval', [forecast(1_200, 1_001)], ['almost-certainly-over']],
  [
    'grown by less than a twentieth',
    [1_060, 1_060, 1_105].map((total) => forecast(total)),
    [null, 'likely-over', null],
  ],
  [
    'grown by a twentieth',
    [1_060, 1_060, 1_110].map((total) => forecast(total)),
    [null, 'likely-over', 'likely-over'],
  ],
  [
    'more severe than before',
    [forecast(1_060), forecast(1_060), forecast(1_061, 1_001), forecast(1_061, 1_001)],
    [null, 'likely-over', 'almost-certainly-over', null],
  ],
  [
    'below again for two days',
    [forecast(1_200, 1_001), forecast(970), forecast(970), forecast(970)],
    ['almost-certainly-over', null, 'cleared', null],
  ],
  [
    'below for one day',
    [forecast(1_200, 1_001), forecast(970), forecast(990)],
    ['almost-certainly-over', null, null],
  ],
  ['below, and was never above', [forecast(900), forecast(900)], [null, null]],
])('a forecast is announced when it is %s', ([, forecasts, news]) => {
  expect(weighed(forecasts)).toEqual(news);
});

test('a second evaluation on the same day does not count', () => {
  const first = evaluateForecast(fresh(), forecast(1_100), DAY);
  const second = evaluateForecast(first.memory, forecast(1_100), DAY);
  expect(second).toEqual({ ...first, news: null });
});

test('a cleared forecast alert can be sent again', () => {
  const over = forecast(1_200, 1_001);
  expect(weighed([over, forecast(900), forecast(900), over]).at(-1)).toBe('almost-certainly-over');
});

test('nothing is reported without a forecast or an amount', () => {
  const none: Forecast = { ok: false, why: 'too-few-settled-days', settledDays: 3 };
  expect(evaluateForecast(fresh(), none, DAY)).toMatchObject({ memory: fresh(), news: null });
  expect(evaluateForecast(fresh(0), forecast(9_000, 8_000), DAY).news).toBeNull();
});

test.for<[string, string, 'low' | 'usual']>([
  ['2026-11-03', MONTH, 'low'],
  ['2026-11-04', MONTH, 'usual'],
])('on %s of the month %s the confidence is %s', ([day, month, confidence]) => {
  const memory = memoryFor(null, month, 1_000);
  expect(evaluateForecast(memory, forecast(500), day).confidence).toBe(confidence);
});
