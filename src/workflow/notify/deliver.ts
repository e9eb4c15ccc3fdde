import { z } from 'zod';
import type { Change, ChangeId, Position } from '../../changes/change.ts';
import { note, traced, type Work } from '../../observability/trace.ts';
import { cardVersion, loadChange, setCard } from '../../storage/tables/changes/changes.ts';
import {
  claimDueMessages,
  type DueMessage,
  enqueue,
  markDone,
  retryMessageAt,
} from '../../storage/tables/queues/outbox.ts';
import type { ChangeMessage } from '../../storage/tables/queues/outbox-message.ts';
import { type PostAttempt, REVERT_STOP_REASONS } from '../messenger-port.ts';
import type { WorkflowContext } from '../ports.ts';
import { offerRevert } from '../revert/unfreeze.ts';
import { deliverRedraw, deliverReport } from './announcement.ts';
import { isReminderDue, reminderAfter } from './reminders.ts';

const StopReason = z.enum(REVERT_STOP_REASONS);
const LEASE_MS = 60_000;
const AT_ONCE = 50;
const GIVE_UP_AFTER = 20;

/** Sends due messages of the outbox, drawn from the stored change. Returns how many were due. */
export async function deliver(context: WorkflowContext): Promise<number> {
  const lease = { owner: context.instance, now: context.now(), leaseMs: LEASE_MS, limit: AT_ONCE };
  const rows = await context.database.transaction((tx) => claimDueMessages(tx, lease));
  const byChange = Map.groupBy(rows, ({ changeId }) => changeId ?? '');
  // The messages of one change keep their order: first the card, then its thread.
  await Promise.all([...byChange.values()].map((own) => deliverInOrder(context, own)));
  return rows.length;
}

async function deliverInOrder(
  context: WorkflowContext,
  rows: readonly DueMessage[],
): Promise<void> {
  const ordered = rows.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  for (const row of ordered) await traced(workOf(row), () => deliverOne(context, row));
}

function workOf({ kind, changeId, attempts }: DueMessage): Work {
  const [head] = kind.split(':');
  const about = changeId ? { 'signalbox.change': changeId } : {};
  const facts = { ...about, 'signalbox.message': kind, 'signalbox.attempt': attempts };
  return { name: `deliver ${head}`, kind: 'consumer', facts };
}

function rank({ message }: DueMessage): number {
  return message?.kind === 'card' ? 0 : 1;
}

async function deliverOne(context: WorkflowContext, row: DueMessage): Promise<void> {
  const { message } = row;
  try {
    if (message?.kind === 'report') return await deliverReport(context, row, message);
    if (message?.kind === 'redraw') return await deliverRedraw(context, row, message);
    if (!message) context.log.warn({ kind: row.kind }, 'unknown outbox message, not delivered');
    const change = message && (await loadChange(context.database.db, message.changeId));
    if (message && change) await send(context, change, message, { again: row.attempts > 1 });
    const isReminder = change && message.kind === 'reminder';
    const next = isReminder ? reminderAfter(message, change, context.now()) : null;
    await context.database.transaction(async (tx) => {
      await markDone(tx, row.id, context.now());
      if (next) await enqueue(tx, next);
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

async function send(
  context: WorkflowContext,
  change: Change,
  message: ChangeMessage,
  attempt: PostAttempt,
): Promise<void> {
  const { messenger } = context;
  if (message.kind === 'audit') return messenger.postAuditLine(change, attempt);
  if (message.kind === 'audit-break-glass') {
    return messenger.postAuditLine(change, attempt, message.event);
  }
  if (message.kind === 'card') return drawCard(context, change, attempt);
  const { card, state } = change;
  if (!card) throw new Error('The card was not posted yet');
  switch (message.kind) {
    case 'card-repost':
      return messenger.redrawCard(change, card);
    case 'unfreeze-offer':
      return offerRevert(context, change, card, attempt);
    case 'revert-stopped': {
      const why = StopReason.parse(message.why);
      return messenger.postRevertStopped(change, card, why, attempt);
    }
    case 'break-glass':
      return messenger.postBreakGlassUpdate(change, card, message.event, attempt);
    case 'cost-effect':
      return messenger.postCostEffect(message.text, card, attempt);
    // An update names the state at the time of its transition; a later state has its own update.
    case 'thread':
      return message.state === state
        ? messenger.postThreadUpdate(change, card, attempt)
        : undefined;
    case 'direct':
      return message.state === state
        ? messenger.messageRequester(change, card, attempt)
        : undefined;
    case 'reminder':
      return isReminderDue(message, change)
        ? messenger.postReminder(change, card, message.reminder, attempt)
        : undefined;
    default:
      return message satisfies never;
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

async function retry(context: WorkflowContext, row: DueMessage): Promise<void> {
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
  { changeId, kind }: DueMessage,
): Promise<void> {
  log.error({ change: changeId, kind }, 'message was given up');
  const about = changeId ? ` of change ${changeId}` : '';
  const sentence = `Slack refused a message${about} for hours. Signalbox does not retry it any more.`;
  await messenger.notifyOperators(sentence).catch((error: unknown) => {
    log.error({ err: error }, 'operators were not notified of a lost message');
  });
}
