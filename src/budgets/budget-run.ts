import { z } from 'zod';
import type { BudgetMemory } from '../costs/budget/budget-alerts.ts';
import { monthOf } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import type { Service } from '../directory/directory.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { permitBudgetNotice } from '../storage/tables/incidents.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';
import { enqueueReport } from '../workflow/notify/announcement.ts';
import { budgetAnswer } from './budget-text.ts';
import {
  type Budget,
  type BudgetNews,
  type BudgetStanding,
  budgetStanding,
  markOf,
  weighBudget,
} from './budgets.ts';

const Memory = z.object({
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

/** A budget that was weighed: where it stands, what is new, what is to be remembered. */
export interface DueBudgetNotice {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
  readonly today: Day;
}

export interface BudgetInputs {
  readonly rows: readonly CostRow[];
  readonly services: readonly Service[];
  readonly today: Day;
}

export async function weighAll(
  db: Db,
  budgets: readonly Budget[],
  { rows, services, today }: BudgetInputs,
): Promise<readonly DueBudgetNotice[]> {
  const all: DueBudgetNotice[] = [];
  for (const budget of budgets) {
    const text = await readMeta(db, keyOf(budget));
    const remembered = text === null ? null : Memory.parse(JSON.parse(text));
    const standing = budgetStanding(budget, rows, services, today);
    all.push({ standing, today, ...weighBudget(standing, remembered, today) });
  }
  return all;
}

/** What is new is told where its notice is the first of the month; one message for each budget. */
export async function recordBudgets(
  tx: Tx,
  all: readonly DueBudgetNotice[],
  now: Date,
): Promise<void> {
  for (const { standing, memory, news, today } of all) {
    const { budget } = standing;
    await writeMeta(tx, keyOf(budget), JSON.stringify(memory));
    const month = monthOf(today);
    const first: BudgetNews[] = [];
    for (const one of news) {
      const mark = markOf(one, standing);
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
