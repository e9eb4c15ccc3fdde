import { type AnomalyTier, judge } from '../../src/maths/anomalies.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { settledDays } from '../../src/maths/statistics.ts';
import {
  between,
  chance,
  finalDays,
  type Kind,
  mixedKind,
  type SyntheticLine,
  syntheticLine,
} from './synthetic.ts';

/** Whether a rule would tell of the last of these days. */
export type Rule = (days: readonly DayValue[]) => boolean;

const FIRST = '2026-03-02';
export const MIN_IMPACT = 2;
const HISTORY = 56;
const TESTED = 30;
/** Within how many days a lasting change has to be noticed. */
const PATIENCE = 3;

export const INJECTIONS = {
  '×1.5': { factor: 1.5, lasts: false },
  '×2': { factor: 2, lasts: false },
  '×3': { factor: 3, lasts: false },
  '×5': { factor: 5, lasts: false },
  'shift +50%': { factor: 1.5, lasts: true },
  'shift +100%': { factor: 2, lasts: true },
  'drop to 0': { factor: 0, lasts: true },
} as const;
export type Injection = keyof typeof INJECTIONS;
export const INJECTION_NAMES = Object.keys(INJECTIONS) as readonly Injection[];

export function recommended(tier: AnomalyTier): Rule {
  return (days) => {
    const last = days.at(-1);
    if (!last) return false;
    const verdict = judge(settledDays(days), last, MIN_IMPACT);
    if (verdict.kind === 'rare-cost' || verdict.kind === 'new-cost') return tier === 'notice';
    return verdict.kind === 'unusual' && (tier === 'notice' || isAlert(verdict));
  };
}

/** The verdict on a drop if drops could be alerts. */
function isAlert({ z }: { readonly z: number }): boolean {
  return Math.abs(z) > 5;
}

/** What nearly every script does: so much more, or less, than the day before. */
export function dayOverDay(share: number, least: number): Rule {
  return (days) => {
    const [before, last] = days.slice(-2).map(({ value }) => value);
    if (before === undefined || last === undefined) return false;
    return Math.abs(last - before) >= least && Math.abs(last - before) > share * before;
  };
}

export const naive = dayOverDay(0.5, MIN_IMPACT);

export function syntheticLines(seed: number, count: number): readonly SyntheticLine[] {
  const random = chance(seed);
  return Array.from({ length: count }, () =>
    syntheticLine(random, mixedKind(random), FIRST, HISTORY + TESTED),
  );
}

/** Days on which a rule speaks of a line that nothing was done to, in 48 lines of 30 days. */
export function falseAlarms(lines: readonly SyntheticLine[], rule: Rule): number {
  const alarms = lines.map(({ values }) => {
    const days = finalDays(values, FIRST);
    return testedDays().filter((index) => rule(days.slice(0, index + 1))).length;
  });
  return (sum(alarms) / lines.length) * 48;
}

/** The share of changes done to these lines of which a rule speaks: a spike on its day. */
export function recall(seed: number, lines: readonly SyntheticLine[], rule: Rule, name: Injection) {
  const random = chance(seed);
  const tries = lines.flatMap(({ kind, values }) => {
    const at = HISTORY + Math.floor(between(random, 0, TESTED - PATIENCE));
    return isWorthIt(kind, values, at, name) ? [isFound(values, at, rule, name)] : [];
  });
  return tries.filter((found) => found).length / tries.length;
}

/** A change below the least impact is left alone on purpose, and a sparse line has no level. */
export function isWorthIt(
  kind: Kind,
  values: readonly number[],
  at: number,
  name: Injection,
): boolean {
  const by = Math.abs(INJECTIONS[name].factor - 1) * (values[at] ?? 0);
  return kind !== 'sparse' && by >= MIN_IMPACT;
}

function isFound(values: readonly number[], at: number, rule: Rule, name: Injection): boolean {
  const { factor, lasts } = INJECTIONS[name];
  const changed = values.map((value, index) =>
    index === at || (lasts && index > at) ? value * factor : value,
  );
  const days = finalDays(changed, FIRST);
  const last = lasts ? at + PATIENCE : at + 1;
  const looks = Array.from({ length: last - at }, (_, index) => at + index);
  return looks.some((index) => rule(days.slice(0, index + 1)));
}

function testedDays(): readonly number[] {
  return Array.from({ length: TESTED }, (_, index) => HISTORY + index);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
