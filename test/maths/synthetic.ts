import { addDays, type Day, weekdayOf } from '../../src/base/time.ts';
import type { DayValue } from '../../src/maths/rows.ts';

/** Numbers from 0 to 1 that look like chance and come again with the same seed (mulberry32). */
export type Chance = () => number;

export function chance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function normal(random: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function between(random: Chance, low: number, high: number): number {
  return low + random() * (high - low);
}

export type Kind = 'steady' | 'business' | 'bursty' | 'storage' | 'sparse' | 'tiny' | 'weekly-job';

/** How many of twenty lines are of that kind. */
const MIX: readonly (readonly [Kind, number])[] = [
  ['steady', 5],
  ['business', 5],
  ['bursty', 3],
  ['storage', 3],
  ['sparse', 1],
  ['tiny', 1],
  ['weekly-job', 2],
];

/** What a day has to do with the one before it, and how far it strays. */
interface Habit {
  readonly sigma: number;
  readonly memory: number;
  /** Of the level, a day: where a line goes in the long run. */
  readonly wander: number;
}

const HABITS: Readonly<Record<Kind, Habit>> = {
  steady: { sigma: 0.06, memory: 0.1, wander: 0.008 },
  business: { sigma: 0.08, memory: 0.1, wander: 0.008 },
  bursty: { sigma: 0.4, memory: 0.1, wander: 0.008 },
  storage: { sigma: 0.01, memory: 0.5, wander: 0.002 },
  sparse: { sigma: 0.8, memory: 0, wander: 0 },
  tiny: { sigma: 0.3, memory: 0.2, wander: 0.008 },
  'weekly-job': { sigma: 0.1, memory: 0.1, wander: 0.008 },
};

export interface SyntheticLine {
  readonly kind: Kind;
  readonly values: readonly number[];
}

/** `trend`: how much the line grows in a day; of its own accord a quarter of the lines does. */
export function syntheticLine(
  random: Chance,
  kind: Kind,
  first: Day,
  days: number,
  trend?: number,
): SyntheticLine {
  const shape = shapeOf(random, kind);
  const level = levelOf(random, kind);
  const growth = trend ?? (random() < 0.25 ? between(random, -0.004, 0.006) : 0);
  const values = walk(random, HABITS[kind], days).map((factor, index) => {
    const grown = Math.exp(growth * index);
    return level * grown * factor * shape((weekdayOf(first) + index) % 7);
  });
  return { kind, values };
}

/** Factors around 1, one a day: noise that remembers the day before, on a level that wanders. */
export function walk(random: Chance, habit: Habit, days: number): readonly number[] {
  const { sigma, memory, wander } = habit;
  const fresh = Math.sqrt(1 - memory ** 2) * sigma;
  let [noise, level] = [sigma * normal(random), 0];
  return Array.from({ length: days }, () => {
    noise = memory * noise + fresh * normal(random);
    level += wander * normal(random);
    return Math.exp(noise + level);
  });
}

export function mixedKind(random: Chance): Kind {
  let left = random() * MIX.reduce((sum, [, share]) => sum + share, 0);
  for (const [kind, share] of MIX) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'steady';
}

function levelOf(random: Chance, kind: Kind): number {
  if (kind === 'tiny') return between(random, 0.1, 0.8);
  return 20 * Math.exp(0.5 * normal(random));
}

function shapeOf(random: Chance, kind: Kind): (weekday: number) => number {
  if (kind === 'sparse') return () => (random() < 0.1 ? 1 : 0);
  if (kind === 'business') {
    const weekend = between(random, 0.3, 0.6);
    return (weekday) => (weekday >= 5 ? weekend : 1);
  }
  if (kind !== 'weekly-job') return () => 1;
  const [on, times] = [Math.floor(random() * 7), between(random, 2, 4)];
  return (weekday) => (weekday === on ? times : 1);
}

export function finalDays(values: readonly number[], first: Day): readonly DayValue[] {
  return values.map((value, index) => ({ day: addDays(first, index), value, final: true }));
}
