import type { Change, JsonObject, UserId } from '../changes/change.ts';
import type { Transition } from '../changes/outcome.ts';
import { step } from '../observability/trace.ts';
import { appendEvent } from '../storage/audit/append.ts';
import type { Tx } from '../storage/engine/database.ts';
import { updateChange } from '../storage/tables/changes/changes.ts';
import { enqueue } from '../storage/tables/queues/outbox.ts';
import type { Denial } from './denial.ts';
import { remindersFor } from './notify/reminders.ts';
import type { DecisionContext, Identity } from './ports.ts';
import { unfreezeMessages } from './revert/unfreeze.ts';

/** The group lookups behind an identity, as facts of an audit event. */
export function identityFacts(identity: Identity | null): JsonObject {
  if (!identity?.ok) return {};
  return { groups: identity.evidence.groups.map((group) => ({ ...group })) };
}

export interface AuditedAction {
  readonly kind: string;
  readonly by: UserId | 'signalbox';
  readonly facts?: JsonObject;
}

/** Stores one transition, its audit event and the messages that follow, in the given transaction. */
export function recordMove(
  tx: Tx,
  context: DecisionContext,
  before: Change,
  after: Change,
  action: AuditedAction,
): Promise<void> {
  const facts = {
    'signalbox.change': after.id,
    'signalbox.command': after.command,
    'signalbox.from': before.state,
    'signalbox.to': after.state,
  };
  return step({ name: `change ${action.kind}`, facts }, () =>
    storeMove(tx, context, before, after, action),
  );
}

async function storeMove(
  tx: Tx,
  context: DecisionContext,
  before: Change,
  after: Change,
  action: AuditedAction,
): Promise<void> {
  const at = context.now();
  await updateChange(tx, before, after);
  // Counted before the commit: a transaction that is rolled back and repeated counts twice.
  if (before.state !== after.state) {
    context.measures.moved(after.command, after.state);
    const { id: change, command } = after;
    context.log.info({ change, command, from: before.state, to: after.state }, 'change moved');
  }
  await appendEvent(tx, context.auditKey, {
    kind: action.kind,
    changeId: after.id,
    version: after.version,
    from: before.state,
    to: after.state,
    at,
    body: { by: action.by, digest: after.digest, rule: after.requires.rule, ...action.facts },
  });
  const now = messagesFor(before, after).map((kind) => ({ kind, at }));
  const later = [...remindersFor(before, after, at), ...unfreezeMessages(before, after)];
  for (const message of [...now, ...later]) await enqueue(tx, { changeId: after.id, ...message });
  // The card of a timed change shows the state of its revert.
  if (after.parent) await enqueue(tx, { changeId: after.parent, kind: CARD_REPOST, at });
}

/** Redraws the card of a change that did not move itself. */
export const CARD_REPOST = 'card:anew';

const ENDED = ['succeeded', 'failed', 'unknown', 'stale', 'denied'];
const ANNOUNCED = [...ENDED, 'rejected', 'expired'];

function messagesFor(before: Change, after: Change): readonly string[] {
  // A draft that ends unconfirmed has no card.
  const isUnsent = ['cancelled', 'expired', 'stale'].includes(after.state);
  if (before.state === 'draft' && isUnsent) return [];
  const entered = before.state !== after.state;
  const isCancelledRevert = after.parent !== null && after.state === 'cancelled';
  const isAnnounced = entered && (ANNOUNCED.includes(after.state) || isCancelledRevert);
  const announced = isAnnounced ? [`thread:${after.state}`, `direct:${after.state}`] : [];
  const audited = entered && ENDED.includes(after.state) ? ['audit'] : [];
  return ['card', ...breakGlassMessages(before, after), ...announced, ...audited];
}

function breakGlassMessages(before: Change, after: Change): readonly string[] {
  const used = !before.breakGlass && after.breakGlass ? ['glass', 'audit:glass'] : [];
  const reviewed = !before.review && after.review ? ['reviewed', 'audit:reviewed'] : [];
  return [...used, ...reviewed];
}

/** Records in the given transaction who tried what, and which check refused it. */
export async function appendRefusal(
  tx: Tx,
  context: DecisionContext,
  action: AuditedAction,
  denial: Denial,
): Promise<void> {
  const { change, command, target, rule, refusal } = denial;
  context.measures.refused(refusal);
  await appendEvent(tx, context.auditKey, {
    kind: 'refused',
    ...(change ? { changeId: change.id } : {}),
    at: context.now(),
    body: { by: action.by, tried: action.kind, refusal, command, target, rule, ...action.facts },
  });
}

/** Records a refusal in a transaction of its own. */
export async function recordRefusal(
  context: DecisionContext,
  denial: Denial,
  { tried, by, identity }: { tried: string; by: UserId; identity: Identity | null },
): Promise<void> {
  const action = { kind: tried, by, facts: identityFacts(identity) };
  await context.database.transaction((tx) => appendRefusal(tx, context, action, denial));
}

/** Returns the moved change. Throws where a transition of Signalbox itself is refused. */
export function assertMoved(outcome: Transition): Change {
  if (!outcome.ok) throw new Error(`A change could not be moved: ${outcome.refusal}`);
  return outcome.change;
}
