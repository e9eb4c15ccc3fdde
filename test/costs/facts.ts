import { addDays, dayNumber, daysBetween, weekdayOf } from '../../src/base/time.ts';
import { type BudgetMemory, evaluateBudget } from '../../src/costs/budget-notices.ts';
import type { Budget } from '../../src/costs/budgets.ts';
import { budgetStanding } from '../../src/costs/budgets.ts';
import { digestReader } from '../../src/costs/config.ts';
import type { DigestBudget, DigestFacts } from '../../src/costs/digest-data.ts';
import type { DigestSubscription } from '../../src/costs/subscriptions.ts';
import { judgeCosts, modelSpan } from '../../src/costs/unusual.ts';
import { costSelectorSchema } from '../../src/domain/policy-schema.ts';
import type { Service } from '../../src/domain/targets.ts';
import type { CostReading } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { row, TODAY, warehouseRow } from '../maths/rows.ts';

/** The schema of a scope for these names. */
export const scopeOf = (words: Partial<Parameters<typeof costSelectorSchema>[0]> = {}) =>
  costSelectorSchema({ services: new Map(), tags: [], warehouses: [], teams: [], ...words });

/** A service of the configuration, which is called as its id unless it says otherwise. */
export function costService(id: string, over: Partial<Service> = {}): Service {
  const none = { aliases: [], tags: [], warehouse: null, team: null, pipes: [], lastSeen: null };
  return { id, organizationId: 'o1', name: id, source: 'configuration', ...none, ...over };
}

const readOptions = digestReader(scopeOf());

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

/** What the ladder knows about the days that are open. */
const LEARNED = { age: 1, completeness: { share: 1, error: 0, common: 0 } };

/** Ten weeks of two services and their warehouse: quiet weekends, the last two days not final. */
export function nineWeeks(
  today = TODAY,
  openDays = 2,
  factor: (day: string, service: string) => number = () => 1,
): readonly CostRow[] {
  const { first } = modelSpan(today);
  return daysBetween(first, addDays(today, -1)).flatMap((day) => {
    const share = weekdayOf(day) > 4 ? 0.4 : 1;
    const locked = day < addDays(today, -openDays);
    const wobble = 1 + ((dayNumber(day) * 7) % 5) / 100;
    const over = { day, locked, ...(locked ? {} : { openDay: LEARNED }) };
    const cost = (service: string, credits: number) =>
      credits * share * wobble * factor(day, service);
    return [
      row({ ...over, credits: cost('s-1', 100) }),
      row({ ...over, entityId: 's-2', entityName: 'staging', credits: cost('s-2', 30) }),
      warehouseRow({ ...over, credits: 12, metrics: { storageCredits: 12_000_000 } }),
    ];
  });
}

export function readingOf(rows: readonly CostRow[], over: Partial<CostReading> = {}): CostReading {
  const fetchedAt = new Date('2026-11-20T08:00:00Z');
  return { rows, fetchedAt, problems: [], gaps: [], ...over };
}

/** The facts of a daily digest of everything, with what a judgement of its rows finds. */
export function factsFor(
  read: CostReading = readingOf(nineWeeks()),
  over: Partial<DigestFacts> = {},
): DigestFacts {
  const today = over.today ?? TODAY;
  const yesterday = addDays(today, -1);
  return {
    read,
    today,
    covers: { first: yesterday, last: yesterday },
    skipped: [],
    selector: {},
    scope: null,
    untagged: 0,
    period: 'day',
    judged: judgeCosts({ read, today }, over.selector),
    budgets: [],
    elsewhere: 0,
    lastPosted: null,
    next: new Date('2026-11-23T08:30:00Z'),
    ...over,
  };
}

/** A budget of everything as of today, with the news of so many mornings. */
export function budgetFor(
  read: CostReading,
  over: Partial<Budget> & { isOwn?: boolean; mornings?: number; today?: string } = {},
): DigestBudget {
  const { isOwn = true, mornings = 3, today = TODAY, ...given } = over;
  const plain = { name: 'everything', credits: 9_000, on: null, notify: '#costs' };
  const budget: Budget = { ...plain, thresholds: [50, 80, 100], ...given };
  const standing = budgetStanding(budget, { read, services: [], today });
  let memory: BudgetMemory | null = null;
  for (let back = mornings - 1; back >= 0; back -= 1) {
    memory = evaluateBudget(standing, memory, addDays(today, -back)).memory;
  }
  if (memory === null) throw new Error('a budget needs a morning');
  return { standing, memory, isOwn };
}
