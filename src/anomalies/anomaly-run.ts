import type { Logger } from 'pino';
import {
  type DueBudgetNotice as BudgetsDue,
  recordBudgets,
  weighAll,
} from '../budgets/budget-run.ts';
import { type Budget, budgetSpan } from '../budgets/budgets.ts';
import { isOver } from '../costs/anomaly/incident.ts';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import type { CostsRead } from '../costs/ledger/costs-read.ts';
import { dayStates, lastFinalDay } from '../costs/ledger/ledger.ts';
import type { SubscriptionSources } from '../digests/subscriptions/subscriptions.ts';
import type { Service } from '../directory/directory.ts';
import { traced } from '../observability/trace.ts';
import type { Database, Tx } from '../storage/engine/database.ts';
import { replaceMeta } from '../storage/tables/meta.ts';
import { enqueueReport } from '../workflow/notify/announcement.ts';
import { keyOf } from './announcements.ts';
import { type Reports, reportsFor } from './anomaly-reports.ts';
import { type Looked, lookAt, lookSpan } from './anomaly-scan.ts';
import { storeUnusual, unusualSince } from './incident-store.ts';
import { redrawTold } from './redraw-announcements.ts';
import { isWeekNew, storeRises } from './slow-rises.ts';
import {
  dayToLook,
  firstDay,
  isLookDue,
  judgedThrough,
  readWatch,
  type Seen,
  WATCH_KEY,
  type WatchState,
} from './watch-state.ts';

export interface AnomalyContext extends SubscriptionSources {
  readonly database: Database;
  readonly costs: (span: Span) => Promise<CostsRead>;
  readonly services: () => readonly Service[];
  readonly budgets: readonly Budget[];
  readonly log: Logger;
  readonly now: () => Date;
}

const BEGINS_AFTER_MS = 60_000;
const LOOK_EVERY_MS = 15 * 60_000;
const REMEMBERED_DAYS = 120;

/**
 * The watch over costs and budgets: after each new final day, and once a day for what is not final.
 * Every replica looks; what is found is stored, and its messages with it, by the one that moves the
 * common state on. Tells whether it did.
 */
export function createWatch(context: AnomalyContext): () => Promise<number> {
  // Only a brake on reading the report again and again; whether a look is due is not decided here.
  let next = context.now().getTime() + BEGINS_AFTER_MS;
  return async () => {
    const now = context.now();
    if (now.getTime() < next) return 0;
    next = now.getTime() + LOOK_EVERY_MS;
    return (await traced({ name: 'watch costs' }, () => watchOnce(context, now))) ? 1 : 0;
  };
}

async function watchOnce(context: AnomalyContext, now: Date): Promise<boolean> {
  const seen = await readWatch(context.database.db);
  const today = dayOf(now);
  const first = firstDay(seen.state, today);
  const read = await context.costs(spanFor(first, today));
  if (read.gaps.length > 0) {
    // Figures that are missing would look like a drop, and old ones like calm.
    context.log.warn({ gaps: read.gaps }, 'costs could not be read, so that nothing is judged');
    return false;
  }
  const days = dayStates(read.rows, { first: addDays(first, -1), last: addDays(today, -1) });
  const lastFinal = lastFinalDay(days) ?? seen.state?.lastFinal ?? null;
  if (lastFinal === null || !isLookDue(seen.state, { lastFinal, now })) return false;

  const { db } = context.database;
  const known = await unusualSince(db, addDays(today, -REMEMBERED_DAYS));
  const last = addDays(today, -1);
  const quiet = seen.state === null;
  const weekly = isWeekNew(seen.state?.ranOn ?? null, dayToLook(now));
  const looked = await lookAt({ rows: read.rows, known, first, last, quiet, weekly });
  const services = context.services();
  const budgets = await weighAll(db, context.budgets, { rows: read.rows, services, today });
  const through = judgedThrough(days, today) ?? addDays(first, -1);
  const state = { through, lastFinal, ranOn: dayToLook(now), lines: looked.lines };
  const reports = await reportsFor(context, looked.tellings, read.rows);
  return record(context, seen, { state, looked, budgets, reports, now });
}

function spanFor(first: Day, today: Day): Span {
  const look = lookSpan(first, today).first;
  const budgets = budgetSpan(today).first;
  return { first: look < budgets ? look : budgets, last: today };
}

interface Outcome {
  readonly state: Pick<WatchState, 'through' | 'lastFinal' | 'ranOn' | 'lines'>;
  readonly looked: Looked;
  readonly budgets: readonly BudgetsDue[];
  readonly reports: Reports;
  readonly now: Date;
}

/** All of it or nothing: another replica that was faster, or a person's press, undoes this run. */
async function record(context: AnomalyContext, seen: Seen, outcome: Outcome): Promise<boolean> {
  const { state, looked, budgets, reports, now } = outcome;
  const version = (seen.state?.version ?? 0) + 1;
  const value = JSON.stringify({ ...state, at: now.toISOString(), version });
  return context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, WATCH_KEY, seen.text, value))) return false;
    await storeAll(tx, looked.changed, reports.told, now);
    for (const report of reports.all) await enqueueReport(tx, report, now);
    if (looked.rises) await storeRises(tx, looked.rises);
    await recordBudgets(tx, budgets, now);
    return true;
  });
}

async function storeAll(
  tx: Tx,
  changed: readonly Unusual[],
  told: readonly Unusual[],
  now: Date,
): Promise<void> {
  const all = new Map([...changed, ...told].map((one) => [keyOf(one), one]));
  for (const unusual of all.values()) {
    await storeUnusual(tx, unusual, now);
    // What is over has no buttons any more that do something.
    if (isOver(unusual.incident)) await redrawTold(tx, unusual, now);
  }
}
