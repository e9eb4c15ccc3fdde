import { addDays, daysBetween, weekdayOf } from '../../src/base/time.ts';
import { digestReader, SECTIONS } from '../../src/costs/config.ts';
import type { DigestBudget, DigestFacts } from '../../src/costs/digest-data.ts';
import { rowsNeeded } from '../../src/costs/digest-data.ts';
import type { DigestSubscription } from '../../src/costs/subscriptions.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { row, TODAY, warehouseRow } from '../maths/rows.ts';

const readOptions = digestReader([]);

/** A digest of #costs with these options. */
export function digest(
  options: object,
  over: Partial<DigestSubscription> = {},
): DigestSubscription {
  const reading = readOptions({ channel: '#costs', ...options });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const { value } = reading;
  const common = { key: '#costs', id: null, channel: '#costs', paused: false };
  return { ...common, options: value, by: null, since: null, ...over };
}

/** Nine weeks of two services and their warehouse: quiet weekends, the last two days not final. */
export function nineWeeks(today = TODAY, openDays = 2): readonly CostRow[] {
  return daysBetween(addDays(today, -63), addDays(today, -1)).flatMap((day, index) => {
    const share = weekdayOf(day) > 4 ? 0.4 : 1;
    const locked = day < addDays(today, -openDays);
    const wobble = 1 + ((index * 7) % 5) / 100;
    const over = { day, locked };
    return [
      row({ ...over, credits: 100 * share * wobble }),
      row({ ...over, entityId: 's-2', entityName: 'staging', credits: 30 * share * wobble }),
      warehouseRow({ ...over, credits: 12, metrics: { storageCredits: 12_000_000 } }),
    ];
  });
}

export function factsFor(over: Partial<DigestFacts> = {}): DigestFacts {
  const rows = over.read?.rows ?? nineWeeks();
  const today = over.today ?? TODAY;
  return {
    read: {
      rows,
      fetchedAt: new Date('2026-11-20T08:00:00Z'),
      problems: [],
      gaps: [],
      lockAge: null,
    },
    today,
    states: dayStates(rows, rowsNeeded(today)),
    covers: { first: '2026-11-19', last: '2026-11-19' },
    selector: {},
    scope: null,
    untagged: 0,
    options: { period: 'day', sections: [...SECTIONS], minimumCredits: null, increasesOnly: false },
    posted: [],
    changes: [],
    attention: { anomalies: null, budgets: [] },
    next: new Date('2026-11-23T08:30:00Z'),
    ...over,
  };
}

export function reading(rows: readonly CostRow[]): Pick<DigestFacts, 'read'> {
  return { read: { ...factsFor().read, rows } };
}

/** A budget that is within its amount, for a digest of everything. */
export function budgetOf(over: Partial<DigestBudget> = {}): DigestBudget {
  return {
    name: 'everything',
    amount: 9_000,
    amountMoney: null,
    state: 'within',
    ratio: 0.9,
    text: 'heading for 8,074 of 9,000 (−10%)',
    bar: '█████░░░ 59% · heading for 8,074 of 9,000 (−10%)',
    isOwn: true,
    ...over,
  };
}

export const PRODUCTION_OVER = budgetOf({
  name: 'production',
  amount: 5_500,
  state: 'over',
  ratio: 1.06,
  text: 'heading for 5,812 of 5,500 (+6%)',
  bar: '██████░░ 72% · heading for 5,812 of 5,500 (+6%)',
  isOwn: false,
});

/** The buttons of an anomaly. */
export const BUTTONS = { kind: 'actions', actions: [] } as const;
