import type { Change, JsonObject, UserId } from '../changes/change.ts';
import type { Transition } from '../changes/outcome.ts';
import { step, type Work } from '../observability/trace.ts';
import { appendEvent } from '../storage/audit/append.ts';
import type { Tx } from '../storage/engine/database.ts';
import { updateChange } from '../storage/tables/changes/changes.ts';
import { enqueue } from '../storage/tables/queues/outbox.ts';
import type { Denial } from './denial.ts';
import { remindersFor } from './notify/reminders.ts';
import type { DecisionContext, Identity } from './ports.ts';
import { thawOf } from './revert/unfrozen.ts';

/** Which groups were read for it, how large they were and when; nothing where nobody was known. */
export function evidenceOf(identity: Identity | null): JsonObject {
  if (!identity?.ok) return {};
  return { groups: identity.evidence.groups.map((group) => ({ ...group })) };
}

export interface AuditedAction {
  readonly kind: string;
  readonly by: UserId | 'signalbox';
  readonly facts?: JsonObject;
}

/** One transition, its audit event and the messages that follow from it: one transaction. */
export function recordMove(
  tx: Tx,
  context: DecisionContext,
  before: Change,
  after: Change,
  deed: AuditedAction,
): Promise<void> {
  return step(moveOf(before, after, deed), () => storeMove(tx, context, before, after, deed));
}

function moveOf(before: Change, after: Change, { kind }: AuditedAction): Work {
  const facts = {
    'signalbox.change': after.id,
    'signalbox.command': after.command,
    'signalbox.from': before.state,
    'signalbox.to': after.state,
  };
  return { name: `change ${kind}`, facts };
}

async function storeMove(
  tx: Tx,
  context: DecisionContext,
  before: Change,
  after: Change,
  deed: AuditedAction,
): Promise<void> {
  const at = context.now();
  await updateChange(tx, before, after);
  // Before the commit: one that is rolled back and tried again counts twice, which harms no graph.
  if (before.state !== after.state) {
    context.measures.moved(after.command, after.state);
    const { id: change, command } = after;
    context.log.info({ change, command, from: before.state, to: after.state }, 'a change moves on');
  }
  await appendEvent(tx, context.auditKey, {
    kind: deed.kind,
    changeId: after.id,
    version: after.version,
    from: before.state,
    to: after.state,
    at,
    body: { by: deed.by, digest: after.digest, rule: after.requires.rule, ...deed.facts },
  });
  const messages = messagesFor(before, after).map((kind) => ({ kind, at }));
  const later = [...remindersFor(before, after, at), ...thawOf(before, after)];
  for (const message of [...messages, ...later]) {
    await enqueue(tx, { changeId: after.id, ...message });
  }
  // The card of what it takes back says so as well.
  if (after.parent) await enqueue(tx, { changeId: after.parent, kind: CARD_REPOST, at });
}

/** Draws a card whose change has not moved, but of which another change tells. */
export const CARD_REPOST = 'card:anew';

const ENDED = ['succeeded', 'failed', 'unknown', 'stale', 'denied'];
const TOLD = [...ENDED, 'rejected', 'expired'];

// A draft is private to its requester: until it is confirmed there is no card to draw.
function messagesFor(before: Change, after: Change): readonly string[] {
  if (before.state === 'draft' && ['cancelled', 'expired', 'stale'].includes(after.state))
    return [];
  const entered = before.state !== after.state;
  const isKept = after.parent !== null && after.state === 'cancelled';
  const isTold = entered && (TOLD.includes(after.state) || isKept);
  const told = isTold ? [`thread:${after.state}`, `direct:${after.state}`] : [];
  const audited = entered && ENDED.includes(after.state) ? ['audit'] : [];
  return ['card', ...glassNews(before, after), ...told, ...audited];
}

// Everyone is told at once, in the channel and where the trail is watched.
function glassNews(before: Change, after: Change): readonly string[] {
  const broken = !before.breakGlass && after.breakGlass ? ['glass', 'audit:glass'] : [];
  const reviewed = !before.review && after.review ? ['reviewed', 'audit:reviewed'] : [];
  return [...broken, ...reviewed];
}

/** A refusal is written down as well: who tried what, and which check said no. */
export async function recordRefusal(
  tx: Tx,
  context: DecisionContext,
  deed: AuditedAction,
  denial: Denial,
): Promise<void> {
  const { change, command, target, rule, refusal } = denial;
  context.measures.refused(refusal);
  await appendEvent(tx, context.auditKey, {
    kind: 'refused',
    ...(change ? { changeId: change.id } : {}),
    at: context.now(),
    body: { by: deed.by, tried: deed.kind, refusal, command, target, rule, ...deed.facts },
  });
}

/** The same where nothing else is stored with it. */
export async function noteRefusal(
  context: DecisionContext,
  denial: Denial,
  { tried, by, identity }: { tried: string; by: UserId; identity: Identity | null },
): Promise<void> {
  const deed = { kind: tried, by, facts: evidenceOf(identity) };
  await context.database.transaction((tx) => recordRefusal(tx, context, deed, denial));
}

/** For moves that our own process makes: a "no" here is a fault in the order of our steps. */
export function mustMove(outcome: Transition): Change {
  if (!outcome.ok) throw new Error(`The change could not be moved: ${outcome.refusal}`);
  return outcome.change;
}
