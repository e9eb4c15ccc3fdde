import { step } from '../../base/log.ts';
import type { JsonObject } from '../../base/text.ts';
import type { Change, Refusal, State, UserId } from '../../domain/change.ts';
import { type ChangeEvent, evolve } from '../../domain/fold.ts';
import type { Denial, Identity } from '../../domain/gate.ts';
import { appendAfter, appendEvent, takingHead } from '../../log/old/append.ts';
import { updateChange } from '../../log/old/changes.ts';
import {
  checkReadRecord,
  checkRecord,
  type RecordCheck,
  recordFacts,
} from '../../log/old/record-hash.ts';
import type { StoredRecord, VerifiableChange } from '../../log/old/stored-record.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueueing, type PlannedMessage } from '../../storage/old/outbox.ts';
import type { BreakGlassEvent, ChangeMessage } from '../../storage/old/outbox-message.ts';
import type { Statement } from '../../storage/old/together.ts';
import type { DecisionContext } from './ports.ts';
import { remindersFor } from './reminders.ts';
import { unfreezeMessages } from './unfreeze.ts';

/** The roles of an identity and the group lookups behind it, as facts of an audit event. */
export function identityFacts(identity: Identity | null): JsonObject {
  if (!identity?.ok) return {};
  const groups = identity.evidence.groups.map((group) => ({ ...group }));
  return { roles: [...identity.actor.roles], groups };
}

interface AuditedAction {
  readonly kind: string;
  readonly by: UserId | 'signalbox';
  readonly facts?: JsonObject;
}

interface AuditedMove extends AuditedAction {
  /** Facts that are known once the statements of the move have run. */
  readonly laterFacts?: () => JsonObject;
  /** The record that the audit trail confirmed in this transaction, under the lock: not compared again. */
  readonly confirmed?: StoredRecord | undefined;
  /** The change as this transaction read it under the lock; without it, its record is read again. */
  readonly locked?: VerifiableChange | undefined;
  /** More statements of this move, which are sent together with it. */
  readonly also?: readonly Statement[];
}

/**
 * Stores the change after an event, its audit event and the messages that follow, in the given
 * transaction. Returns the moved change.
 */
export async function recordMove(
  tx: Tx,
  context: DecisionContext,
  before: Change,
  event: ChangeEvent,
  action: AuditedMove,
): Promise<Change> {
  const at = context.now();
  const after = evolve(before, { ...event, at });
  const facts = {
    'signalbox.change': after.id,
    'signalbox.command': after.command,
    'signalbox.from': before.state,
    'signalbox.to': after.state,
  };
  await step({ name: `change ${action.kind}`, facts }, () =>
    storeMove(tx, context, { before, after, at }, action),
  );
  return after;
}

interface Move {
  readonly before: Change;
  readonly after: Change;
  readonly at: Date;
}

async function storeMove(
  tx: Tx,
  context: DecisionContext,
  { before, after, at }: Move,
  action: AuditedMove,
): Promise<void> {
  const checked = await checkedRecord(tx, before, action);
  const end = takingHead(tx);
  const messages = enqueueing(tx, plannedMessages(context, before, after, at));
  const moved = await updateChange(tx, before, after, {
    stored: checked.record?.row,
    also: [...(action.also ?? []), ...messages, end],
  });
  // Counted before the commit: a transaction that is rolled back and repeated counts twice.
  if (before.state !== after.state) {
    context.measures.moved(after.command, after.state);
    const { id: change, command } = after;
    context.log.info({ change, command, from: before.state, to: after.state }, 'change moved');
  }
  await appendAfter(tx, context.auditKey, end.head(), {
    kind: action.kind,
    changeId: after.id,
    version: after.version,
    from: before.state,
    to: after.state,
    at,
    body: {
      by: action.by,
      digest: after.digest,
      ...recordFacts(checked, moved),
      rule: after.requires.rule,
      configuration: context.configuration,
      ...action.facts,
      ...action.laterFacts?.(),
    },
  });
}

function checkedRecord(
  tx: Tx,
  before: Change,
  { confirmed, locked }: AuditedMove,
): RecordCheck | Promise<RecordCheck> {
  if (confirmed) return { state: 'intact', record: confirmed };
  return locked ? checkReadRecord(locked) : checkRecord(tx, before);
}

/** Each has another kind or change, as `enqueueAll` requires. */
function plannedMessages(
  { directCards }: DecisionContext,
  before: Change,
  after: Change,
  at: Date,
): readonly PlannedMessage[] {
  const { id, parent, state } = after;
  const isSubmitted = before.state !== state && state === 'pending';
  const copies = directCards.onRequest && isSubmitted;
  return [
    ...messagesFor(before, after).map((message) => ({ ...message, at })),
    ...remindersFor(before, after, at),
    ...unfreezeMessages(before, after),
    ...(copies ? [{ changeId: id, kind: 'direct-cards', at } as const] : []),
    // The card of a timed change also shows the state of its revert.
    ...(parent ? [{ changeId: parent, kind: 'card-repost', at } as const] : []),
  ];
}

const EXECUTION_ENDED: readonly State[] = ['succeeded', 'failed', 'unknown', 'stale', 'denied'];
const REPORTED: readonly State[] = [...EXECUTION_ENDED, 'rejected', 'expired'];

// A draft is private to its requester: until it is confirmed it has no card.
function messagesFor(before: Change, after: Change): readonly ChangeMessage[] {
  const { id: changeId, state } = after;
  if (before.state === 'draft' && ['cancelled', 'expired', 'stale'].includes(state)) return [];
  const entered = before.state !== state;
  const isCancelledRevert = after.parent !== null && state === 'cancelled';
  // A schedule runs twice per day: its card shows a success, and nobody is notified.
  const isRoutine = after.plan.timing?.schedule !== undefined && state === 'succeeded';
  const isReported = entered && !isRoutine && (REPORTED.includes(state) || isCancelledRevert);
  const kinds = isReported ? (['thread', 'direct'] as const) : [];
  const reports = kinds.map((kind) => ({ changeId, kind, state }));
  const audit = { changeId, kind: 'audit' } as const;
  return [
    { changeId, kind: 'card' },
    ...breakGlassMessages(before, after),
    ...reports,
    ...(entered && EXECUTION_ENDED.includes(state) ? [audit] : []),
  ];
}

// Break-glass and its review are announced at once, in the thread and in the audit channel.
function breakGlassMessages(before: Change, after: Change): readonly ChangeMessage[] {
  const { id: changeId } = after;
  const announce = (event: BreakGlassEvent): ChangeMessage[] => [
    { changeId, kind: 'break-glass', event },
    { changeId, kind: 'audit-break-glass', event },
  ];
  return [
    ...(!before.breakGlass && after.breakGlass ? announce('used') : []),
    ...(!before.review && after.review ? announce('reviewed') : []),
  ];
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

/** Returns the event of an answer. Throws where the gate refuses what Signalbox does by itself. */
export function assertAllowed(answer: ChangeEvent | { readonly refusal: Refusal }): ChangeEvent {
  if ('refusal' in answer) throw new Error(`A change could not be moved: ${answer.refusal}`);
  return answer;
}
