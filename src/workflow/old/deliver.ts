import { z } from 'zod';
import { note, traced, type Work } from '../../base/log.ts';
import { PostRefused } from '../../domain/answer.ts';
import type { Change, Position } from '../../domain/change.ts';
import { deliverRedraw, deliverReport } from '../../log/old/announcement.ts';
import { clearCard } from '../../log/old/cards.ts';
import { cardVersion, loadVerifiable } from '../../log/old/changes.ts';
import { deliverNotice, enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { isGivenUp, retryTime } from '../../log/old/retry.ts';
import type { Tx } from '../../storage/old/database.ts';
import {
  claimDueMessages,
  type DueMessage,
  enqueueAgain,
  extendLease,
  retryMessageAt,
} from '../../storage/old/outbox.ts';
import type { ChangeMessage } from '../../storage/old/outbox-message.ts';
import { needsCard } from './check-cards.ts';
import { confirmBeforeDrawing } from './confirm-before-drawing.ts';
import { deliverDirectCard, planDirectCards, refreshDirectCards } from './direct-cards.ts';
import { type DeliveryResult, type DrawnCard, endDelivery } from './end-delivery.ts';
import { endRefused, giveUp } from './give-up.ts';
import { type PostAttempt, REVERT_STOP_REASONS } from './messenger-port.ts';
import type { WorkflowContext } from './ports.ts';
import { remindOfSchedule } from './remind.ts';
import { isReminderDue, reminderAfter } from './reminders.ts';
import { offerRevert } from './unfreeze.ts';

const StopReason = z.enum(REVERT_STOP_REASONS);
const LEASE_MS = 60_000;
/** The messages of a long thread are posted one after another, for longer than one lease. */
const EXTEND_AFTER_MS = 15_000;
const AT_ONCE = 50;
const FIRST_RETRY_MS = 2_000;
/** The attempt about an hour after the first. Without its card, nobody can approve a change. */
const WARN_AT = 18;

/** Sends due messages of the outbox, drawn from the stored change. Returns how many were due. */
export async function deliver(context: WorkflowContext): Promise<number> {
  const lease = { owner: context.instance, now: context.now(), leaseMs: LEASE_MS, limit: AT_ONCE };
  const rows = await context.database.transaction((tx) => claimDueMessages(tx, lease));
  const byChange = Map.groupBy(rows, ({ changeId }) => changeId ?? '');
  // The messages of one change keep their order: first the card, then its thread.
  await Promise.all([...byChange.values()].map((own) => deliverInOrder(context, own, lease.now)));
  return rows.length;
}

async function deliverInOrder(
  context: WorkflowContext,
  rows: readonly DueMessage[],
  claimedAt: Date,
): Promise<void> {
  const ordered = rows.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  let held: ReadonlySet<number> = new Set(ordered.map(({ id }) => id));
  let leasedAt = claimedAt;
  for (const [index, row] of ordered.entries()) {
    const now = context.now();
    if (now.getTime() - leasedAt.getTime() >= EXTEND_AFTER_MS) {
      held = await extend(context, ordered.slice(index), now);
      leasedAt = now;
    }
    // Another replica took the message over while this process was paused.
    if (!held.has(row.id)) continue;
    await traced(workOf(row), () => deliverOne(context, row));
  }
}

function extend(context: WorkflowContext, rows: readonly DueMessage[], now: Date) {
  const lease = { owner: context.instance, now, leaseMs: LEASE_MS };
  const ids = rows.map(({ id }) => id);
  return context.database.transaction((tx) => extendLease(tx, ids, lease));
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
    if (message?.kind === 'notice') await deliverNotice(context, row, message);
    if (!message) context.log.warn({ kind: row.kind }, 'unknown outbox message, not delivered');
    const sent = message?.changeId ? await sendOfChange(context, row, message) : NOTHING;
    await endDelivery(context, { id: row.id, ...sent });
  } catch (error) {
    note({ 'error.type': 'failed' });
    const refused = error instanceof PostRefused ? error : null;
    const isFinal = refused?.retryAfterMs === null;
    const next = isFinal ? 'it is not retried' : 'retrying';
    const about = { err: error, change: row.changeId, kind: row.kind };
    context.log.warn(about, `message was not delivered; ${next}`);
    if (!isFinal) return retry(context, row, refused);
    const stored = row.changeId && (await loadVerifiable(context.database.db, row.changeId));
    await endRefused(context, row, { change: stored ? stored.change : null, why: refused.why });
  }
}

const NOTHING: DeliveryResult = { card: null, next: null };

async function sendOfChange(
  context: WorkflowContext,
  { attempts }: DueMessage,
  message: ChangeMessage,
): Promise<DeliveryResult> {
  const stored = await loadVerifiable(context.database.db, message.changeId);
  if (!stored) return NOTHING;
  const change = await confirmBeforeDrawing(context, stored);
  if (message.kind === 'direct-cards') {
    return { ...NOTHING, next: await planDirectCards(context, change) };
  }
  const attempt = { again: attempts > 1 };
  if (message.kind === 'card' || message.kind === 'card-repost') {
    await refreshDirectCards(context, change);
    const draw = message.kind === 'card' ? drawCard : drawAgain;
    return { ...NOTHING, card: await draw(context, change, attempt) };
  }
  // Before the call, so that a slow answer of Slack does not postpone the next reminder.
  const next = message.kind === 'reminder' ? reminderAfter(message, change, context.now()) : null;
  await send(context, change, message, attempt);
  return { ...NOTHING, next };
}

async function send(
  context: WorkflowContext,
  change: Change,
  message: Exclude<ChangeMessage, { kind: 'card' | 'card-repost' | 'direct-cards' }>,
  attempt: PostAttempt,
): Promise<void> {
  const { messenger } = context;
  if (message.kind === 'direct-card') {
    return deliverDirectCard(context, change, message.user, attempt);
  }
  if (message.kind === 'audit') return messenger.postAuditLine(change, attempt);
  if (message.kind === 'audit-break-glass') {
    return messenger.postAuditLine(change, attempt, message.event);
  }
  const { state } = change;
  const card = postedCard(change);
  switch (message.kind) {
    case 'follow-up':
      return messenger.postFollowUp(change, card, attempt);
    case 'unfreeze-offer':
      return offerRevert(context, change, card, attempt);
    case 'revert-stopped': {
      const why = StopReason.parse(message.why);
      return messenger.postRevertStopped(change, card, why, attempt);
    }
    case 'schedule-note':
      return messenger.postThreadNote(message.text, card, attempt);
    case 'schedule-reminder':
      return remindOfSchedule(context, change, card, attempt);
    case 'break-glass':
      return messenger.postBreakGlassUpdate(change, card, message.event, attempt);
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

function postedCard({ card }: Change): Position {
  if (!card) throw new Error('The card was not posted yet');
  return card;
}

function drawAgain(context: WorkflowContext, change: Change): Promise<DrawnCard | null> {
  return redrawCard(context, change, { at: postedCard(change), postsAgain: needsCard(change) });
}

/** Returns null if the card shows this version already. */
async function drawCard(
  context: WorkflowContext,
  change: Change,
  attempt: PostAttempt,
): Promise<DrawnCard | null> {
  if (!change.card) {
    const position = await context.messenger.postCard(change, attempt);
    // A card that an earlier attempt posted shows an older state.
    if (attempt.again) await context.messenger.redrawCard(change, position);
    return { changeId: change.id, at: position, version: change.version };
  }
  const version = await cardVersion(context.database.db, change.id);
  if (version !== null && version >= change.version) return null;
  // The change has moved, which users must see, also when it has ended.
  return redrawCard(context, change, { at: change.card, postsAgain: true });
}

interface Redraw {
  readonly at: Position;
  readonly postsAgain: boolean;
}

/** Redraws a card. A deleted card is posted again by a message of its own, once. */
async function redrawCard(
  context: WorkflowContext,
  change: Change,
  { at, postsAgain }: Redraw,
): Promise<DrawnCard | null> {
  const { id: changeId, version } = change;
  const drawn = await context.messenger.redrawCard(change, at);
  if (drawn === 'drawn') return { changeId, at, version };
  context.log.warn({ change: changeId, postsAgain }, 'card was deleted');
  if (!postsAgain) return null;
  await context.database.transaction(async (tx) => {
    if (!(await clearCard(tx, changeId, at))) return;
    await enqueueAgain(tx, { changeId, kind: 'card', at: context.now() });
  });
  return null;
}

async function retry(
  context: WorkflowContext,
  row: DueMessage,
  limited: PostRefused | null,
): Promise<void> {
  const now = context.now();
  if (isGivenUp(row, now)) return giveUp(context, row);
  const afterLimit = limited?.retryAfterMs && new Date(now.getTime() + limited.retryAfterMs);
  const at = afterLimit || retryTime(row, now, FIRST_RETRY_MS);
  await context.database.transaction(async (tx) => {
    await retryMessageAt(tx, row.id, at);
    if (row.attempts === WARN_AT && row.message?.kind === 'card') await warn(tx, row, now);
  });
}

function warn(tx: Tx, { changeId }: DueMessage, now: Date): Promise<void> {
  const sentence =
    `The card of change ${changeId} could not be posted or updated for an hour. ` +
    'Signalbox retries it for 24 hours. The log has the reason.';
  return enqueueOperatorsNotice(tx, sentence, now);
}
