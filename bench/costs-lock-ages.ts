import { median, quantile } from '../src/maths/numbers.ts';
import { between, chance } from '../test/maths/synthetic.ts';
import type { Injection } from '../test/maths/synthetic-alarms.ts';
import {
  finalOnly,
  type LateOrganization,
  type LateRule,
  type Locking,
  lateFalseAlarms,
  lateOrganization,
  lateRecall,
  watched,
} from '../test/maths/synthetic-locking.ts';
import {
  type Elapsed,
  type Forecaster,
  guesses,
  recommended,
} from '../test/maths/synthetic-months.ts';
import { type Aim, atLeast, atMost, SEED } from './costs-aim.ts';

const ORGANIZATIONS = 7;
const LOCK_AGES = [1, 2, 5, 9, 12, 14];
const FOUND: readonly Injection[] = ['×2', '×3', 'shift +100%', 'drop to 0'];

export const LOCK_AGE_TITLE =
  `Late locking: ${ORGANIZATIONS * 48} lines, 30 days after 56 of history; each report is judged. ` +
  'Uneven: in weekly batches, and 2% of the rows up to seven days later. False alarms in 48 lines × ' +
  '30 days; recall in %, (median days until found).';
export const LOCK_AGE_HEAD = ['', 'learned', 'notices', 'alerts', ...FOUND, 'drop, release 1.0'];

/** The anomaly test at each lock age, with the gates of the anomaly test. */
export function lockAgeTest(): {
  readonly rows: readonly (readonly string[])[];
  readonly aims: readonly Aim[];
} {
  const cases = LOCK_AGES.flatMap((days) => [
    { days, isUneven: false },
    { days, isUneven: true },
  ]);
  const all = cases.map((locking) => measured(locking));
  return { rows: all.map(({ row }) => row), aims: all.flatMap(({ aims }) => aims) };
}

function measured(locking: Locking) {
  const name = `${locking.days} ${locking.days === 1 ? 'day' : 'days'}${locking.isUneven ? ', uneven' : ''}`;
  const organizations = Array.from({ length: ORGANIZATIONS }, (_, index) =>
    lateOrganization(SEED + index, locking),
  );
  const { notices, alerts } = lateFalseAlarms(organizations, watched);
  const found = FOUND.map((injection) => recallOf(organizations, watched, injection));
  const before = recallOf(organizations, finalOnly, 'drop to 0');
  const percent = (injection: Injection) => found[FOUND.indexOf(injection)]?.percent ?? Number.NaN;
  return {
    row: [
      name,
      learnedText(organizations),
      notices.toFixed(1),
      alerts.toFixed(1),
      ...[...found, before].map(({ text }) => text),
    ],
    aims: [
      atMost(`${name}: notices`, notices, 13),
      atMost(`${name}: alerts`, alerts, 4),
      atLeast(`${name}: recall of ×2`, percent('×2'), 80),
      atLeast(`${name}: recall of ×3`, percent('×3'), 85),
      atLeast(`${name}: recall of a drop`, percent('drop to 0'), 95),
    ],
  };
}

function recallOf(
  organizations: readonly LateOrganization[],
  rule: LateRule,
  injection: Injection,
) {
  const tries = lateRecall(SEED, organizations, rule, injection);
  const delays = tries.filter((delay) => delay !== null);
  const percent = (100 * delays.length) / tries.length;
  const after = delays.length > 0 ? ` (${median(delays).toFixed(0)})` : '';
  return { percent, text: `${percent.toFixed(0)}${after}` };
}

function learnedText([first]: readonly LateOrganization[]): string {
  if (!first?.lockAge) return '–';
  const { usual, low, high } = first.lockAge;
  return low === high ? `${usual}` : `${usual} (${low}–${high})`;
}

const MONTHS = 200;
const ELAPSED: readonly Elapsed[] = [3, 12, 24];
/** From five days on, the same days are settled at every lock age. */
const FORECAST_LOCK_AGES = [1, 2, 5];
const SETTLED_AT = 5;

export const LATE_FORECAST_TITLE =
  `Forecasts with late locking: ${MONTHS} organisations in calm months. Median / p90 of the absolute ` +
  'error in % of the month, by days elapsed.';
export const LATE_FORECAST_HEAD = ['', ...ELAPSED.map((day) => `day ${day}`)];

/** The forecast while the last four days are not settled and the last two are incomplete. */
export function lateForecastTest(): readonly (readonly string[])[] {
  return FORECAST_LOCK_AGES.map((days) => [
    days < SETTLED_AT ? `${days} ${days === 1 ? 'day' : 'days'}` : '5 to 14 days',
    ...ELAPSED.map((elapsed) => {
      const guessed = guesses(SEED, MONTHS, 'steady', elapsed)(late(days));
      const errors = guessed.map(({ error }) => 100 * error);
      return `${median(errors).toFixed(1)} / ${quantile(errors, 0.9).toFixed(1)}`;
    }),
  ]);
}

function late(lockAge: number): Forecaster {
  const random = chance(SEED);
  return (known, elapsed) =>
    recommended(
      known.map((day, index) => {
        const age = known.length - index;
        if (age >= Math.min(lockAge, SETTLED_AT)) return day;
        const share =
          age === 1 ? between(random, 0.55, 1) : age === 2 ? between(random, 0.9, 1) : 1;
        return { ...day, value: day.value * share, final: false };
      }),
      elapsed,
    );
}
