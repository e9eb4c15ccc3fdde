import { z } from 'zod';
import type { BudgetMemory } from '../costs/budget/budget-alerts.ts';
import { monthOf } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { dayStates } from '../costs/ledger/ledger.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { permitBudgetNotice } from '../storage/tables/incidents.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';
import { enqueueReport } from '../workflow/notify/announcement.ts';
import { budgetAnswer } from './budget-text.ts';
import {
  type Budget,
  type BudgetInputs,
  type BudgetNews,
  type BudgetStanding,
  budgetSpan,
  budgetStanding,
  evaluateBudget,
  noticeMark,
} from './budgets.ts';

const StoredMemory = z.object({
  month: z.string(),
  amount: z.number(),
  told: z.number().nullable(),
  forecast: z.object({
    lastRun: z.string().nullable(),
    over: z.number(),
    under: z.number(),
    told: z
      .object({ kind: z.enum(['likely-over', 'almost-certainly-over']), total: z.number() })
      .nullable(),
  }),
});

/** The state of a budget, its news, and the memory to store. */
export interface BudgetUpdate {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
  readonly today: Day;
}

export async function evaluateBudgets(
  db: Db,
  budgets: readonly Budget[],
  inputs: Omit<BudgetInputs, 'states'>,
): Promise<readonly BudgetUpdate[]> {
  const { rows, today } = inputs;
  const states = dayStates(rows, budgetSpan(today));
  const all: BudgetUpdate[] = [];
  for (const budget of budgets) {
    const text = await readMeta(db, keyOf(budget));
    const remembered = text === null ? null : StoredMemory.parse(JSON.parse(text));
    const standing = budgetStanding(budget, { ...inputs, states });
    all.push({ standing, today, ...evaluateBudget(standing, remembered, today) });
  }
  return all;
}

/** Stores each update, and one message per budget with the notices not sent this month. */
export async function recordBudgetNotices(
  tx: Tx,
  all: readonly BudgetUpdate[],
  now: Date,
): Promise<void> {
  for (const { standing, memory, news, today } of all) {
    const { budget } = standing;
    await writeMeta(tx, keyOf(budget), JSON.stringify(memory));
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
