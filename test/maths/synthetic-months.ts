import { addDays, type Day } from '../../src/base/time.ts';
import { forecastMonth } from '../../src/maths/forecast.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import {
  between,
  type Chance,
  chance,
  finalDays,
  mixedKind,
  syntheticLine,
  walk,
} from './synthetic.ts';

/** Of 31 days each, and beginning on every weekday. */
const MONTHS = ['01', '03', '05', '07', '08', '10', '12'].flatMap((month) =>
  ['2025', '2026'].map((year) => `${year}-${month}-01`),
);
const MONTH_DAYS = 31;
export const HISTORY = 56;
export const LINES = 12;
/** What the lines of an organisation have in common, a day: how it strays and where it goes. */
export const COMMON = { sigma: 0.005, memory: 0.1, wander: 0.012 };

export const SCENARIOS = ['steady', 'spike ×2.5', 'shift +35%'] as const;
export type Scenario = (typeof SCENARIOS)[number];
export const ELAPSED = [3, 7, 12, 18, 24] as const;
export type Elapsed = (typeof ELAPSED)[number];

/** Says what the month will cost from its first so many days and the 56 before them. */
export type Forecaster = (known: readonly DayValue[], elapsed: Elapsed) => Guess;

export interface Guess {
  readonly total: number;
  readonly low: number;
  readonly high: number;
}

export const recommended: Forecaster = (known) => {
  const last = known.at(-1)?.day ?? '';
  const forecast = forecastMonth(known, addDays(last, 1));
  if (!forecast.ok) throw new Error(`no forecast: ${forecast.why}`);
  return forecast;
};

/** Month to date / elapsed · days. */
export const runRate: Forecaster = (known, elapsed) =>
  point((sum(valuesOf(known).slice(-elapsed)) / elapsed) * MONTH_DAYS);

export const lastWeek: Forecaster = (known, elapsed) => lastDays(known, elapsed, 7);

/** A level that a shift of yesterday moves by a fourteenth of it. */
export const lastTwoWeeks: Forecaster = (known, elapsed) => lastDays(known, elapsed, 14);

function lastDays(known: readonly DayValue[], elapsed: number, window: number): Guess {
  const values = valuesOf(known);
  const rest = (sum(values.slice(-window)) / window) * (MONTH_DAYS - elapsed);
  return point(sum(values.slice(-elapsed)) + rest);
}

export interface Guessed {
  /** |forecast − actual| as a share of what the month came to. */
  readonly error: number;
  readonly within: boolean;
}

/** Every organisation is the same for all forecasters. */
export function guesses(
  seed: number,
  organizations: number,
  scenario: Scenario,
  elapsed: Elapsed,
): (forecaster: Forecaster) => readonly Guessed[] {
  const random = chance(seed);
  const all = Array.from({ length: organizations }, () => organization(random, scenario, elapsed));
  return (forecaster) =>
    all.map(({ first, values }) => {
      const known = finalDays(values.slice(0, HISTORY + elapsed), first);
      const actual = sum(values.slice(HISTORY));
      const { total, low, high } = forecaster(known, elapsed);
      return { error: Math.abs(total - actual) / actual, within: low <= actual && actual <= high };
    });
}

interface Organization {
  readonly first: Day;
  readonly values: readonly number[];
}

function organization(random: Chance, scenario: Scenario, elapsed: Elapsed): Organization {
  const days = HISTORY + MONTH_DAYS;
  const month = MONTHS[Math.floor(random() * MONTHS.length)] ?? '2026-10-01';
  const first = addDays(month, -HISTORY);
  const lines = Array.from({ length: LINES }, () =>
    syntheticLine(random, mixedKind(random), first, days),
  );
  const common = walk(random, COMMON, days);
  const values = common.map(
    (factor, day) => factor * sum(lines.map(({ values }) => values[day] ?? 0)),
  );
  return { first, values: changed(values, scenario, HISTORY + elapsed, random) };
}

/** A spike lies in the month, at most ten days back; a shift began at most twelve days back. */
function changed(
  values: readonly number[],
  scenario: Scenario,
  today: number,
  random: Chance,
): readonly number[] {
  const spike = today - 1 - Math.floor(between(random, 0, Math.min(10, today - HISTORY)));
  const shift = today - 1 - Math.floor(between(random, 0, 12));
  if (scenario === 'spike ×2.5') {
    return values.map((value, index) => (index === spike ? value * 2.5 : value));
  }
  if (scenario === 'shift +35%') {
    return values.map((value, index) => (index >= shift ? value * 1.35 : value));
  }
  return values;
}

function point(total: number): Guess {
  return { total, low: total, high: total };
}

function valuesOf(days: readonly DayValue[]): readonly number[] {
  return days.map(({ value }) => value);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
