import { ApiError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/text.ts';
import { dayOf } from '../../base/time.ts';
import type { Change, ChangeId, CostEffect, Plan } from '../../domain/change.ts';
import { inheritChange, planDigest } from '../../domain/draft.ts';
import { gate, REVERT_GRACE_MS } from '../../domain/gate.ts';
import type { Service } from '../../domain/targets.ts';
import { appendEvent } from '../../log/old/append.ts';
import { dueReverts } from '../../log/old/change-due.ts';
import { insertChange, loadChange, lockChange, markRevertPlanned } from '../../log/old/changes.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { hashOfRecord } from '../../log/old/record-hash.ts';
import { type DayPrice, moneyOf, priceOn } from '../../maths/money.ts';
import { signedCredits } from '../../maths/numbers.ts';
import { microOf } from '../../maths/rows.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueue, enqueueAll } from '../../storage/old/outbox.ts';
import { createBackoff } from './backoff.ts';
import { type Inverse, isUnchangedSince, readInverse, servicesWithLatestReply } from './inverse.ts';
import type { RevertStopReason } from './messenger-port.ts';
import { planChange } from './plan.ts';
import type { DecisionContext, WorkflowContext } from './ports.ts';
import { recordMove } from './record.ts';

const AT_ONCE = 20;
const RETRY_AFTER_MS = 30_000;

/**
 * Returns a background loop that plans the revert of each timed change as soon as the change has
 * succeeded, so that users can see and cancel the revert before it runs. It retries what fails.
 */
export function createRevertPlanner(context: WorkflowContext): () => Promise<number> {
  const backoff = createBackoff(RETRY_AFTER_MS);

  // Loaded one by one, so that an unreadable row does not stop the reverts of the others.
  const attempt = async (id: ChangeId): Promise<boolean> => {
    try {
      await planRevert(context, await loadChange(context.database.db, id));
      backoff.clear(id);
      return true;
    } catch (error) {
      backoff.postpone(id, context.now());
      context.log.warn({ err: error, change: id }, 'revert could not be planned; retrying');
      return false;
    }
  };
  return async () => {
    const page = { limit: AT_ONCE, except: backoff.postponed(context.now()) };
    const due = await dueReverts(context.database.db, page);
    const planned = await Promise.all(due.map(attempt));
    return planned.filter(Boolean).length;
  };
}

async function planRevert(context: WorkflowContext, parent: Change | null): Promise<void> {
  const revertAt = parent?.revertAt;
  if (!parent || !revertAt) return;
  if (parent.child) return markPlanned(context, parent.id);
  await context.trail.follow(parent.id);
  const problem = await context.trail.problem(context.database.db);
  if (problem !== null) throw new Error(`nothing is reverted: ${problem}`);
  const isPlanned = context.trail.isRevertPlanned(parent.id);
  const facts = { now: context.now(), isPlanned, log: null, digest: null, isUnchanged: null };
  const answer = gate(parent, 'revert', facts);
  if (answer !== 'allowed')
    return answer.keeps ? stopRevert(context, parent, answer.keeps) : undefined;
  const planned = await planInverse(context, parent);
  if (typeof planned === 'string') return stopRevert(context, parent, planned);
  const timing = { startAt: revertAt.toISOString(), revert: null };
  const cost = revertCost(parent, priceOn(context.prices, dayOf(context.now())));
  const plan: Plan = { ...planned.plan, timing, ...(cost && { cost }) };
  const why = await recordRevert(context, parent, { command: planned.command, plan });
  if (why) await stopRevert(context, parent, why);
}

// A replica of a release before the mark planned the revert.
async function markPlanned({ database, now }: DecisionContext, id: ChangeId): Promise<void> {
  await database.transaction((tx) => markRevertPlanned(tx, id, now()));
}

// The usage report has no final day of the size in between, so that only the estimate can be used.
function revertCost(
  { id, plan: { cost } }: Change,
  price: DayPrice | undefined,
): CostEffect | undefined {
  if (!cost || cost.perDay === null) return cost;
  const perDay = 0 - cost.perDay;
  const share = cost.share === null || cost.share <= -1 ? null : 1 / (1 + cost.share) - 1;
  const money = moneyOf([[price, microOf(perDay)]]);
  const text = `${signedCredits(microOf(perDay), money)} per day, as before ${id}`;
  return { text, perDay, share };
}

interface PlannedRevert {
  readonly command: string;
  readonly plan: Plan;
}

async function planInverse(
  context: WorkflowContext,
  parent: Change,
): Promise<PlannedRevert | RevertStopReason> {
  const { target, timing } = parent.plan;
  const services = await servicesWithLatestReply(context, target);
  const inverse = readInverse(context, timing?.revert?.line ?? '', target, services);
  if (!inverse) return 'unclear';
  try {
    const isUnchanged = await isUnchangedSince(context, parent);
    const facts = { now: context.now(), isPlanned: false, log: null, digest: null, isUnchanged };
    const answer = gate(parent, 'revert', facts);
    if (answer !== 'allowed') return answer.keeps ?? 'unclear';
    return await planWith(context, parent, inverse, services);
  } catch (error) {
    // Only a 404 of the API itself is definite. Any other error may be temporary.
    const isAnswer = error instanceof ApiError && error.kind === 'answer';
    if (isAnswer && error.status === 404) return 'gone';
    throw error;
  }
}

async function planWith(
  context: WorkflowContext,
  parent: Change,
  { command, args, given }: Inverse,
  services: readonly Service[],
): Promise<PlannedRevert | RevertStopReason> {
  const commandContext = { ...context.commandContext(), services };
  // A server can return the previous sizes for a while after it accepted the new ones.
  const settled = command.name === parent.command ? parent.plan.body : {};
  const entered = { args, given: given as JsonObject, settled };
  const planned = await planChange(command, entered, commandContext);
  return planned.ok ? { command: command.name, plan: planned.plan } : 'unclear';
}

async function recordRevert(
  context: DecisionContext,
  parent: Change,
  planned: PlannedRevert,
): Promise<RevertStopReason | null> {
  return context.database.transaction(async (tx) => {
    const now = context.now();
    const current = await lockChange(tx, parent.id);
    if (!current) return null;
    const log = await auditRefusal(tx, context.auditKey, current);
    const facts = { now, isPlanned: false, log, digest: planDigest(parent), isUnchanged: true };
    const answer = gate(current, 'revert', facts);
    // Null: another replica planned the revert first.
    if (answer !== 'allowed') return answer.keeps;
    const revert = revertOf(current, { ...planned, id: context.newId(), now });
    const stored = await insertChange(tx, revert, { source: 'parent' });
    await markRevertPlanned(tx, parent.id, now);
    await enqueueAll(tx, [
      { changeId: revert.id, kind: 'card', at: now },
      { changeId: parent.id, kind: 'card-repost', at: now },
    ]);
    await appendEvent(tx, context.auditKey, {
      kind: 'planned-return',
      changeId: revert.id,
      version: revert.version,
      to: revert.state,
      at: now,
      body: {
        by: 'signalbox',
        digest: revert.digest,
        record: hashOfRecord(stored),
        rule: revert.requires.rule,
        parent: parent.id,
        approvers: revert.approvals.map(({ by }) => by),
      },
    });
    return null;
  });
}

interface Revert extends PlannedRevert {
  readonly id: ChangeId;
  readonly now: Date;
}

function revertOf(parent: Change, { now, ...planned }: Revert): Change {
  const revertAt = parent.revertAt ?? now;
  const latest = Math.max(revertAt.getTime(), now.getTime()) + REVERT_GRACE_MS;
  const times = { now, notBefore: revertAt, expiresAt: new Date(latest) };
  return inheritChange(parent, { ...planned, ...times, parent: parent.id });
}

/** Records that Signalbox does not revert a change. From then on only a user can revert it. */
async function stopRevert(
  context: DecisionContext,
  change: Pick<Change, 'id'>,
  why: RevertStopReason,
): Promise<void> {
  await context.database.transaction((tx) => stopRevertIn(tx, context, change, why));
}

/** The same in the given transaction. */
export async function stopRevertIn(
  tx: Tx,
  context: DecisionContext,
  { id }: Pick<Change, 'id'>,
  why: RevertStopReason,
): Promise<void> {
  const change = await lockChange(tx, id);
  const answer = change && gate(change, 'keep', {});
  if (!answer || 'refusal' in answer) return;
  const action = { kind: 'kept', by: 'signalbox', facts: { why } } as const;
  await recordMove(tx, context, change, answer, action);
  await enqueue(tx, { changeId: id, kind: 'revert-stopped', why, at: context.now() });
}
