import { addDays } from '../../src/base/time.ts';
import { measuredEffect } from '../../src/maths/effect.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { between, chance, finalDays, type Kind, normal, syntheticLine } from './synthetic.ts';

const BEFORE = 56;
const AFTER = 7;
/** The change falls on any weekday. */
const CHANGED = '2026-10-12';

export interface Ratio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** Says how much a line costs after a change beside before. */
export type Gauge = (series: readonly DayValue[], changedOn: string) => Ratio;

export function hodgesLehmann(days: 3 | 7): Gauge {
  return (series, changedOn) => {
    const measured = measuredEffect(series, changedOn, days);
    if (!measured.ok) throw new Error(`not measured: ${measured.why}`);
    return measured;
  };
}

/** What everybody looks at first. */
export const dayBeside: Gauge = (series, changedOn) => {
  const on = (day: string) => series.find((one) => one.day === day)?.value ?? Number.NaN;
  const ratio = on(addDays(changedOn, 1)) / on(addDays(changedOn, -1));
  return { ratio, low: ratio, high: ratio };
};

export interface Gauged {
  /** |measured ratio / true ratio − 1|. */
  readonly error: number;
  readonly within: boolean;
}

/** Lines that were changed by a factor of mostly a half to twice, gauged after it. */
export function gauged(seed: number, count: number, kind: Kind, gauge: Gauge): readonly Gauged[] {
  const random = chance(seed);
  return Array.from({ length: count }, () => {
    const changedOn = addDays(CHANGED, Math.floor(between(random, 0, 7)));
    const first = addDays(changedOn, -BEFORE);
    const factor = Math.exp(0.7 * normal(random));
    const { values } = syntheticLine(random, kind, first, BEFORE + 1 + AFTER);
    const changed = values.map((value, day) => (day > BEFORE ? value * factor : value));
    const { ratio, low, high } = gauge(finalDays(changed, first), changedOn);
    return { error: Math.abs(ratio / factor - 1), within: low <= factor && factor <= high };
  });
}
