import { addDays, type Day } from '../../src/base/time.ts';
import { judge } from '../../src/maths/anomalies.ts';
import {
  type DaySnapshot,
  type LockAge,
  learnLockAge,
  openDayOf,
  snapshotHistory,
} from '../../src/maths/days.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { settledDays } from '../../src/maths/statistics.ts';
import { between, chance, mixedKind, type SyntheticLine, syntheticLine } from './synthetic.ts';
import { INJECTIONS, type Injection, isWorthIt, MIN_IMPACT } from './synthetic-alarms.ts';

const FIRST = '2026-03-02';
export const HISTORY = 56;
export const TESTED = 30;
const DAYS = HISTORY + TESTED;
const LINES = 48;
const PATIENCE = 3;
/** Later than every lock age of the matrix, with a batch and the delay of a straggler. */
const OLDEST = 29;
const STRAGGLER_SHARE = 0.02;
const STRAGGLER_LACKS = 0.02;
const MICRO = 1_000_000;

export interface Locking {
  readonly days: number;
  /** In weekly batches, and with 2% of the rows one to seven days later than the others. */
  readonly isUneven: boolean;
}

/** The state of a day at an age. */
type StateAt = Pick<DayValue, 'final' | 'openDay'>;

/** 48 lines of one organization, and what their report shows of each day at each age. */
export interface LateOrganization {
  readonly lines: readonly SyntheticLine[];
  readonly state: (index: number, age: number) => StateAt;
  readonly share: (line: number, index: number, age: number) => number;
  readonly lockAge: LockAge | null;
}

/**
 * Reports are fetched once a day. On the next day, 55 to 100% of each line are in the report; one day
 * later 90 to 100%; then all of it, except the last 2% of a straggler until it locks.
 */
export function lateOrganization(seed: number, locking: Locking): LateOrganization {
  const random = chance(seed);
  const lines = Array.from({ length: LINES }, () =>
    syntheticLine(random, mixedKind(random), FIRST, DAYS),
  );
  const cells = lines.map(() =>
    Array.from({ length: DAYS }, (_, day) => cellOf(random, day, locking)),
  );
  const cell = (line: number, index: number) => cells[line]?.[index] ?? FULL;
  const share = (line: number, index: number, age: number) => shareOf(cell(line, index), age);
  const seen = lines[0]?.values.map((_, index) =>
    Array.from(
      { length: OLDEST },
      (_, age): DaySnapshot => ({
        day: addDays(FIRST, index),
        fetchedAt: new Date(`${addDays(FIRST, index + age)}T09:30:00Z`),
        total: lines.reduce(
          (sum, { values }, line) =>
            sum + Math.round(MICRO * (values[index] ?? 0) * share(line, index, age)),
          0,
        ),
        final: lines.every((_, line) => age >= cell(line, index).lockAge),
      }),
    ),
  );
  const states = (seen ?? []).map((reports) => reports.map((_, age) => stateOf(reports, age)));
  const all = (seen ?? [])
    .flat()
    .filter(({ fetchedAt }) => fetchedAt < new Date(`${addDays(FIRST, DAYS)}T00:00Z`));
  return {
    lines,
    share,
    state: (index, age) => states[index]?.[Math.min(age, OLDEST - 1)] ?? { final: true },
    lockAge: learnLockAge(snapshotHistory(all)),
  };
}

interface Cell {
  readonly lockAge: number;
  readonly isStraggler: boolean;
  /** The reported share at the age of 0, 1 and 2 days. */
  readonly early: readonly number[];
}

const FULL: Cell = { lockAge: 0, isStraggler: false, early: [] };

function cellOf(random: () => number, index: number, { days, isUneven }: Locking): Cell {
  const early = [0.2, between(random, 0.55, 1), between(random, 0.9, 1)];
  const [draw, delay] = [random(), 1 + Math.floor(7 * random())];
  if (!isUneven) return { lockAge: days, isStraggler: false, early };
  const isStraggler = draw < STRAGGLER_SHARE;
  const batch = Math.ceil((index + days + (isStraggler ? delay : 0)) / 7) * 7;
  return { lockAge: batch - index, isStraggler, early };
}

function shareOf({ lockAge, isStraggler, early }: Cell, age: number): number {
  if (age >= lockAge) return 1;
  return early[age] ?? (isStraggler ? 1 - STRAGGLER_LACKS : 1);
}

function stateOf(reports: readonly DaySnapshot[], age: number): StateAt {
  const report = reports[age];
  if (!report || report.final) return { final: true };
  return { final: false, openDay: openDayOf(report, snapshotHistory(reports.slice(0, age))) };
}

/** What a rule finds on one day of a line, and at which age it does first. */
interface Finding {
  readonly notice: number | null;
  readonly alert: number | null;
}

/** `values`: those of the line, possibly with a change done to them. */
export type LateRule = (
  organization: LateOrganization,
  line: number,
  values: readonly number[],
  index: number,
) => Finding;

/** The rule of the watch: a day is judged whenever its figure or its state is another one. */
export const watched: LateRule = (organization, line, values, index) =>
  judgedAt(organization, { line, values, index }, OLDEST - 1);

/** Version 1.0: only final days are history and can drop, and none is judged after ten days. */
export const finalOnly: LateRule = (organization, line, values, index) => {
  const state = (day: number, age: number) => ({ final: organization.state(day, age).final });
  return judgedAt({ ...organization, state }, { line, values, index }, 10);
};

interface JudgedLine {
  readonly line: number;
  readonly values: readonly number[];
  readonly index: number;
}

function judgedAt(organization: LateOrganization, judged: JudgedLine, oldest: number): Finding {
  const { line, index } = judged;
  let before = '';
  let notice: number | null = null;
  for (let age = 1; age <= oldest; age += 1) {
    const { final, openDay } = organization.state(index, age);
    const state = `${organization.share(line, index, age)} ${final || openDay?.settled}`;
    if (state !== before) {
      const verdict = judgeAt(organization, judged, age);
      if (verdict === 'alert') return { notice: notice ?? age, alert: age };
      if (verdict === 'notice') notice ??= age;
    }
    before = state;
    if (final) break;
  }
  return { notice, alert: null };
}

function judgeAt(
  { state, share }: LateOrganization,
  { line, values, index }: JudgedLine,
  age: number,
): 'notice' | 'alert' | null {
  const days = values.slice(0, index + 1).map((value, day): DayValue => {
    const since = index - day + age;
    return { day: dayAt(day), value: value * share(line, day, since), ...state(day, since) };
  });
  const last = days.at(-1);
  if (!last) return null;
  const verdict = judge(settledDays(days), last, MIN_IMPACT);
  if (verdict.kind === 'rare-cost' || verdict.kind === 'new-cost') return 'notice';
  if (verdict.kind !== 'unusual') return null;
  return Math.abs(verdict.z) > 5 ? 'alert' : 'notice';
}

const DAY_NAMES: readonly Day[] = Array.from({ length: DAYS }, (_, day) => addDays(FIRST, day));

function dayAt(index: number): Day {
  return DAY_NAMES[index] ?? FIRST;
}

/** Days of unchanged lines that a rule finds, in 48 lines of 30 days. */
export function lateFalseAlarms(organizations: readonly LateOrganization[], rule: LateRule) {
  let [notices, alerts] = [0, 0];
  for (const organization of organizations) {
    for (const [line, { values }] of organization.lines.entries()) {
      for (let index = HISTORY; index < DAYS; index += 1) {
        const found = rule(organization, line, values, index);
        notices += found.notice === null ? 0 : 1;
        alerts += found.alert === null ? 0 : 1;
      }
    }
  }
  return { notices: notices / organizations.length, alerts: alerts / organizations.length };
}

/** For each change that was done to a line: after how many days it was found; null if never. */
export function lateRecall(
  seed: number,
  organizations: readonly LateOrganization[],
  rule: LateRule,
  name: Injection,
): readonly (number | null)[] {
  const random = chance(seed);
  return organizations.flatMap((organization) =>
    organization.lines.flatMap(({ kind, values }, line) => {
      const at = HISTORY + Math.floor(between(random, 0, TESTED - PATIENCE));
      if (!isWorthIt(kind, values, at, name)) return [];
      const { factor, lasts } = INJECTIONS[name];
      const changed = values.map((value, index) =>
        index === at || (lasts && index > at) ? value * factor : value,
      );
      const delays = Array.from({ length: lasts ? PATIENCE : 1 }, (_, day) => {
        const { notice } = rule(organization, line, changed, at + day);
        return notice === null ? Number.POSITIVE_INFINITY : day + notice;
      });
      const first = Math.min(...delays);
      return [Number.isFinite(first) ? first : null];
    }),
  );
}
