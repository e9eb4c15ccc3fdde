import type { SettledRule } from '../../commands/index.ts';
import { type Change, type EvidenceGap, type FollowUp, targetKey } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import { endedAt } from '../../log/old/change-row.ts';
import { lockChange } from '../../log/old/changes.ts';
import { saveFollowUp } from '../../log/old/follow-ups.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { sentSince, unlockTarget } from '../../log/old/permits.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { evidenceGap, readBefore } from './evidence.ts';
import { FIRST_FOLLOW_UP, nextFollowUp } from './next-follow-up.ts';
import { LONGEST_WAIT_MS, waitMs } from './pace.ts';
import type { WorkflowContext } from './ports.ts';
import { followedId, type TargetReading } from './read-followed.ts';
import { assertAllowed, recordMove } from './record.ts';

export interface TimedReading {
  readonly rule: SettledRule;
  readonly reading: TargetReading;
  /** Before the read was sent. */
  readonly askedAt: Date;
}

/**
 * Stores a reading for the card, and settles an unknown outcome that it proves. Returns whether
 * something new is shown.
 */
export async function recordReading(
  context: WorkflowContext,
  read: Change,
  timed: TimedReading,
): Promise<boolean> {
  // Verifies the events of this change, on which a settlement relies.
  if (read.state === 'unknown') await context.trail.follow(read.id);
  return context.database.transaction(async (tx) => {
    const change = await lockChange(tx, read.id);
    const since = change && endedAt(change);
    if (!change || !since) return false;
    // Read before the outcome was recorded, or before another process moved the change.
    const isOld = timed.askedAt < since || change.version !== read.version;
    return isOld ? postpone(tx, context, change) : store(tx, context, change, { ...timed, since });
  });
}

async function postpone(tx: Tx, context: WorkflowContext, change: Change): Promise<boolean> {
  const { followUp = FIRST_FOLLOW_UP } = change;
  await save(tx, context, change, { next: followUp, afterMs: waitMs(change.state, 0) });
  return false;
}

interface DatedReading extends TimedReading {
  /** When the outcome was recorded. */
  readonly since: Date;
}

async function store(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  { rule, reading, askedAt, since }: DatedReading,
): Promise<boolean> {
  const before = change.followUp ?? FIRST_FOLLOW_UP;
  const why = await evidenceOf(tx, context, change, { rule, reading });
  const isSettled = change.state === 'unknown' && reading.known && why === null;
  const ageMs = askedAt.getTime() - since.getTime();
  const next = nextFollowUp(change, before, {
    ...{ reading, why, since, ageMs, readAt: context.now() },
    isSuperseded: await isSuperseded(tx, context, change, { rule, since }),
  });
  const after: FollowUp = isSettled ? { ...next, state: 'settled', why: null } : next;
  const isRefused = !reading.known && reading.isRefused;
  const afterMs = isRefused ? LONGEST_WAIT_MS : waitMs(change.state, ageMs);
  if (!(await save(tx, context, change, { next: after, afterMs }))) return false;
  if (isSettled) await settle(tx, context, change, { rule, reading });
  else await show(tx, context, change, { before, after });
  return after.revision !== before.revision;
}

interface NextFollowUp {
  readonly next: FollowUp;
  /** The time until the next reading, where there is one. */
  readonly afterMs: number;
}

function save(
  tx: Tx,
  { instance, now }: WorkflowContext,
  { id }: Pick<Change, 'id'>,
  { next, afterMs }: NextFollowUp,
): Promise<boolean> {
  const nextAt = next.state === 'open' ? new Date(now().getTime() + afterMs) : null;
  return saveFollowUp(tx, id, next, { owner: instance, nextAt });
}

/** Why the reading does not settle an unknown outcome. Null for any other state. */
async function evidenceOf(
  tx: Tx,
  { trail, auditKey }: WorkflowContext,
  change: Change,
  { rule, reading }: Pick<TimedReading, 'rule' | 'reading'>,
): Promise<EvidenceGap | null> {
  if (change.state !== 'unknown' || !reading.known) return null;
  const { id, plan } = change;
  const before = readBefore(change);
  const others = before
    ? await sentSince(tx, targetKey(plan.target), { since: before.seenAt, except: id })
    : [];
  const facts = { progress: reading.progress, hasOtherSent: others.length > 0 };
  const gap = evidenceGap(change, rule, facts);
  if (gap !== null) return gap;
  // The values before are those of the stored plan, which a direct write may have modified.
  const isConfirmed =
    (await trail.problem(tx)) === null && (await auditRefusal(tx, auditKey, change)) === null;
  return isConfirmed ? null : 'trail-problem';
}

/** A newer change of the same service explains what is read from now on. */
async function isSuperseded(
  tx: Tx,
  { commands }: WorkflowContext,
  change: Change,
  { rule, since }: Pick<DatedReading, 'rule' | 'since'>,
): Promise<boolean> {
  const id = followedId(change, rule);
  if (change.state !== 'succeeded' || rule.reads !== 'service' || id === null) return false;
  const sent = await sentSince(tx, `service:${id}`, { since, except: change.id });
  return sent.some((command) => commands.get(command)?.settled?.reads === 'service');
}

/** Records in the audit trail that a reading settled the outcome, and unlocks the target. */
async function settle(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  { rule, reading }: Pick<TimedReading, 'rule' | 'reading'>,
): Promise<void> {
  const before = readBefore(change);
  if (!before || !reading.known) throw new Error('Without both readings there is no evidence');
  const now = context.now();
  const { text } = rule.judge(before.fields, change.plan.body);
  const evidence = {
    ...{ shown: reading.progress.text, shownAt: now },
    ...{ before: text, beforeAt: before.seenAt },
  };
  await recordMove(tx, context, change, assertAllowed(gate(change, 'settle', { evidence, now })), {
    kind: 'settled',
    by: 'signalbox',
    facts: { evidence: JSON.parse(JSON.stringify(evidence)) },
  });
  await unlockTarget(tx, change.id);
}

const REPORTED: readonly FollowUp['state'][] = ['settled', 'failed', 'given-up'];

/** Redraws the card with new values, and reports the last one in its thread. */
async function show(
  tx: Tx,
  { now, log }: WorkflowContext,
  { id: changeId }: Change,
  { before, after }: { readonly before: FollowUp; readonly after: FollowUp },
): Promise<void> {
  if (after.revision === before.revision) return;
  const at = now();
  await enqueue(tx, { changeId, kind: 'card-repost', at });
  if (!REPORTED.includes(after.state)) return;
  log.info({ change: changeId, followUp: after.state }, 'change followed to its end');
  await enqueue(tx, { changeId, kind: 'follow-up', at });
}

/** Ends the readings of a change that a person resolved. */
export async function closeFollowUp(
  context: WorkflowContext,
  { id }: Pick<Change, 'id'>,
): Promise<boolean> {
  return context.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    if (!change) return false;
    const { followUp = FIRST_FOLLOW_UP } = change;
    await save(tx, context, change, { next: { ...followUp, state: 'closed' }, afterMs: 0 });
    return false;
  });
}
