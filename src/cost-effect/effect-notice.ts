import type { Change, ChangeId } from '../changes/change.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { addDays, type Day, dayNumber, dayOf } from '../costs/calendar/day.ts';
import { HISTORY_DAYS } from '../costs/forecast/series.ts';
import type { CostReading } from '../costs/ledger/costs-read.ts';
import { loadChange } from '../storage/tables/changes/changes.ts';
import { listEffectNotices, permitEffectNotice } from '../storage/tables/effect-notices.ts';
import { enqueue } from '../storage/tables/queues/outbox.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import { measuredText } from './effect-text.ts';
import { computeOf } from './estimate.ts';
import { type EstimatedKind, estimatedKind, lastCostChanges } from './executed-changes.ts';
import { type MeasuredAfter, measureAfter } from './measured-after.ts';

type ReadCosts = (span: Span) => Promise<CostReading>;

/** The longer first: where both are due at once, the shorter one is not posted. */
const AFTER_DAYS = [7, 3] as const;
/** After this many days a measurement is given up. */
const GIVE_UP_DAYS = 28;

interface DueMeasurement {
  readonly change: Change;
  readonly kind: EstimatedKind;
  readonly changedOn: Day;
  /** The day of the previous change of the target. */
  readonly heldFrom: Day | null;
  readonly days: 3 | 7;
}

/** Posts the measured cost effect of each change once its days are settled. Returns how many. */
export async function postCostEffects(context: WorkflowContext, costs: ReadCosts): Promise<number> {
  const due = await dueEffects(context);
  const [first] = due.map(({ changedOn }) => changedOn).toSorted();
  if (first === undefined) return 0;

  const span = { first: addDays(first, -HISTORY_DAYS), last: addDays(dayOf(context.now()), -1) };
  const { rows, gaps } = await costs(span);
  // A change is measured only once, so that missing months are waited for.
  if (gaps.length > 0) return 0;
  let posted = 0;
  for (const one of due) {
    const { kind, change, changedOn, days, heldFrom } = one;
    const series = computeOf(kind, change.plan.target.id, rows, span);
    const result = measureAfter(series, changedOn, days, heldFrom);
    if (result !== 'later' && (await settle(context, one, result))) posted += 1;
  }
  if (posted > 0) context.wake();
  return posted;
}

async function dueEffects(context: WorkflowContext): Promise<readonly DueMeasurement[]> {
  const { db } = context.database;
  const today = dayOf(context.now());
  const first = addDays(today, -GIVE_UP_DAYS);
  const [sent, settled] = await Promise.all([
    lastCostChanges(db, addDays(first, -HISTORY_DAYS), context.commands),
    listEffectNotices(db, new Date(`${first}T00:00:00Z`)),
  ]);
  const due: DueMeasurement[] = [];
  for (const [last, before] of Map.groupBy(sent, (one) => one.targetKey).values()) {
    if (!last || dayOf(last.at) < first) continue;
    const changedOn = dayOf(last.at);
    const done = settled.get(last.id) ?? [];
    const age = dayNumber(today) - dayNumber(changedOn);
    const left = AFTER_DAYS.filter((days) => age > days && done.every((other) => other < days));
    const measured = left.length > 0 ? await measuredChange(context, last.id) : null;
    const heldFrom = before ? dayOf(before.at) : null;
    if (measured) due.push(...left.map((days) => ({ ...measured, changedOn, heldFrom, days })));
  }
  return due;
}

/** Null without a definite effect on days: the run of a schedule lasts some hours. */
async function measuredChange(
  { database, commands }: WorkflowContext,
  id: ChangeId,
): Promise<Pick<DueMeasurement, 'change' | 'kind'> | null> {
  const change = await loadChange(database.db, id);
  if (change?.state !== 'succeeded' || change.plan.timing?.schedule) return null;
  const kind = estimatedKind(commands, change.command);
  return kind && { change, kind };
}

/** False: another replica was first, a longer period was posted, or there is nothing to post. */
async function settle(
  context: WorkflowContext,
  { change, days }: DueMeasurement,
  result: MeasuredAfter | 'never',
): Promise<boolean> {
  const at = context.now();
  return context.database.transaction(async (tx) => {
    const isFirst = await permitEffectNotice(tx, { changeId: change.id, days, at });
    if (days === 7) await permitEffectNotice(tx, { changeId: change.id, days: 3, at });
    if (!isFirst || result === 'never') return false;
    const { perDay = null, share = null } = change.plan.cost ?? {};
    const text = measuredText(
      result,
      { perDay, share },
      { prices: context.prices, today: dayOf(at) },
    );
    await enqueue(tx, { changeId: change.id, kind: 'cost-effect', days, text, at });
    return true;
  });
}
