import { z } from 'zod';
import { monthOf } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { BudgetMemory } from '../costs/budget/budget-alerts.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { alsoUnderOldKey, withOldKey } from '../storage/engine/portable.ts';
import { permitBudgetNotice } from '../storage/tables/incidents.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';
import { enqueueReport } from '../workflow/notify/announcement.ts';
import { budgetAnswer } from './budget-text.ts';
import {
  type Budget,
  type BudgetNews,
  type BudgetStanding,
  evaluateBudget,
  noticeMark,
} from './budgets.ts';

const StoredForecast = z.object({
  lastRun: z.string().nullable(),
  over: z.number(),
  under: z.number(),
  announced: z
    .object({ kind: z.enum(['likely-over', 'almost-certainly-over']), total: z.number() })
    .nullable(),
});
const StoredMemory = withOldKey(
  'announced',
  z.object({
    month: z.string(),
    amount: z.number(),
    announced: z.number().nullable(),
    forecast: withOldKey('announced', StoredForecast),
  }),
);

/** The state of a budget, its news, and the memory to store. */
export interface BudgetUpdate {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
  readonly today: Day;
}

export async function evaluateBudgets(
  db: Db,
  standings: readonly BudgetStanding[],
  today: Day,
): Promise<readonly BudgetUpdate[]> {
  const all: BudgetUpdate[] = [];
  for (const standing of standings) {
    const text = await readMeta(db, keyOf(standing.budget));
    const remembered = text === null ? null : StoredMemory.parse(JSON.parse(text));
    all.push({ standing, today, ...evaluateBudget(standing, remembered, today) });
  }
  return all;
}

/** Stores each update, and one message per budget with the notices not sent in this month. */
export async function recordBudgetNotices(
  tx: Tx,
  all: readonly BudgetUpdate[],
  now: Date,
): Promise<void> {
  for (const { standing, memory, news, today } of all) {
    const { budget } = standing;
    const forecast = alsoUnderOldKey('announced', memory.forecast);
    const stored = { ...alsoUnderOldKey('announced', memory), forecast };
    await writeMeta(tx, keyOf(budget), JSON.stringify(stored));
    const month = monthOf(today);
    const first: BudgetNews[] = [];
    for (const one of news) {
      const mark = noticeMark(one, standing);
      if (await permitBudgetNotice(tx, { budget: budget.name, month, mark, at: now }))
        first.push(one);
    }
    if (first.length === 0) continue;
    const key = `budget ${budget.name} ${now.toISOString()}`;
    const answer = budgetAnswer(standing, first);
    await enqueueReport(tx, { key, channel: budget.notify, thread: null, answer }, now);
  }
}

function keyOf({ name }: Budget): string {
  return `budget ${name}`;
}
