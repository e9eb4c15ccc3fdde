import { z } from 'zod';
import type { Change, ChangeId, Position } from '../../changes/change.ts';
import { note, traced, type Work } from '../../observability/trace.ts';
import { cardVersion, loadChange, setCard } from '../../storage/tables/changes/changes.ts';
import {
  claimDueMessages,
  enqueue,
  markDone,
  retryMessageAt,
} from '../../storage/tables/queues/outbox.ts';
import { BREAK_GLASS_EVENTS, type PostAttempt, REVERT_STOP_REASONS } from '../messenger-port.ts';
import type { WorkflowContext } from '../ports.ts';
import { CARD_REPOST } from '../record.ts';
import { offerRevert, UNFROZEN } from '../revert/unfreeze.ts';
import { deliverRedraw, deliverReport, REDRAW, REPORT } from './announcement.ts';
import { reminderAfter, reminderOf } from './reminders.ts';

const StopReason = z.enum(REVERT_STOP_REASONS);
const LEASE_MS = 60_000;
const AT_ONCE = 50;
const GIVE_UP_AFTER = 20;

type Row = Awaited<ReturnType<typeof claimDueMessages>>[number];

/** Sends due messages of the outbox, drawn from the stored change. Returns how many were due. */
export async function deliver(context: WorkflowContext): Promise<number> {
  const lease = { owner: context.instance, now: context.now(), leaseMs: LEASE_MS, limit: AT_ONCE };
  const rows = await context.database.transaction((tx) => claimDueMessages(tx, lease));
  const byChange = Map.groupBy(rows, ({ changeId }) => changeId ?? '');
  // The messages of one change keep their order: first the card, then its thread.
  await Promise.all([...byChange.values()].map((own) => deliverInOrder(context, own)));
  return rows.length;
}

async function deliverInOrder(context: WorkflowContext, rows: readonly Row[]): Promise<void> {
  const ordered = rows.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  for (const row of ordered) await traced(workOf(row), () => deliverOne(context, row));
}

function workOf({ kind, changeId, attempts }: Row): Work {
  const [head] = kind.split(':');
  const about = changeId ? { 'signalbox.change': changeId } : {};
  const facts = { ...about, 'signalbox.message': kind, 'signalbox.attempt': attempts };
  return { name: `deliver ${head}`, kind: 'consumer', facts };
}

function rank(row: Row): number {
  return row.kind === 'card' ? 0 : 1;
}

async function deliverOne(context: WorkflowContext, row: Row): Promise<void> {
  try {
    if (row.kind === REPORT) return await deliverReport(context, row);
    if (row.kind === REDRAW) return await deliverRedraw(context, row);
    const change = row.changeId ? await loadChange(context.database.db, row.changeId) : null;
    if (change) await send(context, change, row);
    const next = change && reminderAfter(row.kind, change, context.now());
    await context.database.transaction(async (tx) => {
      await markDone(tx, row.id, context.now());
      if (change && next) await enqueue(tx, { changeId: change.id, ...next });
    });
  } catch (error) {
    note({ 'error.type': 'failed' });
    context.log.warn(
      { err: error, change: row.changeId, kind: row.kind },
      'message was not delivered; retrying',
    );
    await retry(context, row);
  }
}

async function send(context: WorkflowContext, change: Change, row: Row): Promise<void> {
  const { kind, body } = row;
  const attempt = { again: row.attempts > 1 };
  if (kind === 'audit') return context.messenger.postAuditLine(change, attempt);
  const event = BREAK_GLASS_EVENTS.find((each) => kind === each || kind === `audit:${each}`);
  if (event && kind !== event) return context.messenger.postAuditLine(change, attempt, event);
  if (kind === 'card') return drawCard(context, change, attempt);
  if (!change.card) throw new Error('The card was not posted yet');
  if (kind === CARD_REPOST) return context.messenger.redrawCard(change, change.card);
  if (kind === UNFROZEN) return offerRevert(context, change, change.card, attempt);
  if (kind === 'kept') {
    return context.messenger.postRevertStopped(
      change,
      change.card,
      StopReason.parse(body?.why),
      attempt,
    );
  }
  if (event) return context.messenger.postBreakGlassUpdate(change, change.card, event, attempt);
  if (kind.startsWith('effect:')) {
    return context.messenger.postCostEffect(String(body?.text), change.card, attempt);
  }
  // An update names the state at the time of its transition; a later state has its own update.
  if (kind === `thread:${change.state}`) {
    await context.messenger.postThreadUpdate(change, change.card, attempt);
  }
  if (kind === `direct:${change.state}`) {
    await context.messenger.messageRequester(change, change.card, attempt);
  }
  const reminder = reminderOf(kind, change);
  if (reminder && reminder !== 'over') {
    await context.messenger.postReminder(change, change.card, reminder, attempt);
  }
}

async function drawCard(
  context: WorkflowContext,
  change: Change,
  attempt: PostAttempt,
): Promise<void> {
  if (!change.card) {
    const position = await context.messenger.postCard(change, attempt);
    // A card that an earlier attempt posted shows an older state.
    if (attempt.again) await context.messenger.redrawCard(change, position);
    return storeCard(context, change.id, position, change.version);
  }
  const version = await cardVersion(context.database.db, change.id);
  if (version !== null && version >= change.version) return;
  await context.messenger.redrawCard(change, change.card);
  await storeCard(context, change.id, change.card, change.version);
}

async function storeCard(
  context: WorkflowContext,
  id: ChangeId,
  at: Position,
  version: number,
): Promise<void> {
  await context.database.transaction((tx) => setCard(tx, id, at, version));
}

async function retry(context: WorkflowContext, row: Row): Promise<void> {
  const now = context.now();
  const waitMs = Math.min(1_000 * 2 ** row.attempts, 300_000);
  const givesUp = row.attempts >= GIVE_UP_AFTER;
  await context.database.transaction((tx) =>
    givesUp
      ? markDone(tx, row.id, now)
      : retryMessageAt(tx, row.id, new Date(now.getTime() + waitMs)),
  );
  if (givesUp) await reportLoss(context, row);
}

async function reportLoss(
  { messenger, log }: WorkflowContext,
  { changeId, kind }: Row,
): Promise<void> {
  log.error({ change: changeId, kind }, 'message was given up');
  const about = changeId ? ` of change ${changeId}` : '';
  const sentence = `Slack refused a message${about} for hours. Signalbox does not retry it any more.`;
  await messenger.notifyOperators(sentence).catch((error: unknown) => {
    log.error({ err: error }, 'operators were not notified of a lost message');
  });
}
