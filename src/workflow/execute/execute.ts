import {
  type BlockingFreeze,
  type Change,
  type ChangeId,
  type Requirement,
  type RoleName,
  targetKey,
  type UserId,
} from '../../changes/change.ts';
import { start, stop } from '../../changes/lifecycle.ts';
import { planDigest } from '../../changes/plan-digest.ts';
import type { Refusal } from '../../changes/refusal.ts';
import { ApiError } from '../../errors.ts';
import { approvalStatus } from '../../policy/approvals.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import { freezeFor } from '../../policy/freezes.ts';
import type { Freeze, Policy } from '../../policy/policy-types.ts';
import { matchesAuditTrail } from '../../storage/audit/matches-audit-trail.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { loadChange, lockChange } from '../../storage/tables/changes/changes.ts';
import {
  hasTargetChangedSincePlan,
  lockTarget,
  unlockTarget,
  writePermit,
} from '../../storage/tables/changes/permits.ts';
import type { Identity, WorkflowContext } from '../ports.ts';
import { mustMove, recordMove } from '../record.ts';
import { policyNow } from '../request/current-policy.ts';
import { sendAndFinish } from './send.ts';

/** Three times the longest call: a process that is only slow keeps its lease. */
export const LEASE_MS = 120_000;

/** Whoever was held up longer than this no longer trusts what it saw, and looks again. */
const LOOK_HOLDS_MS = 30_000;

interface Permitted {
  readonly change: Change;
  readonly permit: number;
}

interface Gathered {
  /** From then on it is too old to act upon. */
  readonly holdsUntil: Date;
  readonly identities: ReadonlyMap<UserId, Identity>;
  readonly digest: string;
}

/** `later`: nothing could be decided just now, so that the claim is to be made again. */
export type Executed = 'done' | 'later';

/** Gather afresh, decide again, record the permit, send once, record the ending. */
export async function execute(context: WorkflowContext, id: ChangeId): Promise<Executed> {
  const change = await loadChange(context.database.db, id);
  if (change?.state !== 'approved') return 'done';

  const gathered = await gather(context, change);
  const claim = await context.database.transaction((tx) => claimIn(tx, context, id, gathered));
  if (typeof claim === 'string') return claim;
  await sendAndFinish(context, claim.change, claim.permit, gathered.holdsUntil);
  return 'done';
}

async function gather(context: WorkflowContext, change: Change): Promise<Gathered> {
  const holdsUntil = new Date(context.now().getTime() + LOOK_HOLDS_MS);
  const users = [change.requester, ...change.approvals.map(({ by }) => by)];
  const found = await Promise.all(
    users.map(
      async (user) => [user, await context.people.identify(user, { fresh: true })] as const,
    ),
  );
  const digest = await digestNow(context, change);
  return { holdsUntil, identities: new Map(found), digest };
}

// What was approved is bound to the target as it was seen; what moved since makes it stale.
async function digestNow(context: WorkflowContext, change: Change): Promise<string> {
  const command = context.commands.get(change.command);
  if (!command?.readBeforeSending) return change.digest;
  try {
    const before = await command.readBeforeSending(change.plan.target, context.commandContext());
    return planDigest(change.command, { ...change.plan, before });
  } catch (error) {
    // A definite no, such as "there is no such alert": whatever was approved is not there any more.
    if (error instanceof ApiError && error.effect === 'refused') return 'gone';
    throw error;
  }
}

async function claimIn(
  tx: Tx,
  context: WorkflowContext,
  id: ChangeId,
  gathered: Gathered,
): Promise<Permitted | Executed> {
  const change = await lockChange(tx, id);
  const now = context.now();
  if (change?.state !== 'approved' || now >= change.expiresAt) return 'done';
  if (change.notBefore && now < change.notBefore) return 'later';
  if (now >= gathered.holdsUntil) return 'later';
  // Whoever could write into the trail could have written the approvals as well.
  if ((await context.trail.problem(tx)) !== null) return 'later';

  if (!(await matchesAuditTrail(tx, context.auditKey, change))) {
    context.log.error({ change: id }, 'a change is not what the audit trail tells of it');
    return end(tx, context, change, 'audit-mismatch');
  }

  const policy = await policyNow(tx, context);
  // The policy has current names only; a change of an earlier release has the earlier one.
  const command = context.commands.get(change.command)?.name ?? change.command;
  const refusal = refusalNow(policy, change, { ...gathered, command }, now);
  // Slack did not answer: nothing runs, nothing is decided, and the claim is made again later.
  if (refusal === 'lookup-failed') return 'later';
  if (refusal) {
    const freeze = refusal === 'frozen' && freezeFor(policy.freezes, change.plan.target, now);
    return end(tx, context, change, refusal, freeze || undefined);
  }
  // The target is taken first: what else ran on it cannot end between the question and the taking.
  const target = targetKey(change.plan.target);
  if (!(await lockTarget(tx, target, id, now))) return 'later';
  if (await hasTargetChangedSincePlan(tx, target, change)) {
    await unlockTarget(tx, id);
    return end(tx, context, change, 'target-changed');
  }
  return permit(tx, context, change, gathered);
}

async function permit(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  gathered: Gathered,
): Promise<Permitted> {
  const now = context.now();
  const lease = { owner: context.instance, until: new Date(now.getTime() + LEASE_MS) };
  const claimed = mustMove(start(change, lease, now));
  const single = context.commands.get(change.command)?.callClass === 'post';
  const permitted = { changeId: change.id, single, owner: context.instance, at: now };
  const n = await writePermit(tx, permitted);
  const approvers = change.approvals.map(({ by }) => by);
  await recordMove(tx, context, change, claimed, {
    kind: 'claimed',
    by: 'signalbox',
    facts: { permit: n, approvers, groups: evidenceOf(gathered) },
  });
  return { change: claimed, permit: n };
}

function evidenceOf({ identities }: Gathered) {
  const groups = [...identities.values()].flatMap((identity) =>
    identity.ok ? identity.evidence.groups : [],
  );
  return [...new Map(groups.map((group) => [group.id, { ...group }])).values()];
}

async function end(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  why: Refusal,
  freeze?: Freeze,
): Promise<Executed> {
  const state = why === 'target-changed' ? 'stale' : 'denied';
  const stopped = mustMove(stop(change, state, why, freeze && frozenBy(freeze)));
  await recordMove(tx, context, change, stopped, {
    kind: state,
    by: 'signalbox',
    facts: { refusal: why, ...(freeze && { freeze: freeze.made?.id ?? freeze.reason }) },
  });
  return 'done';
}

function frozenBy({ until, reason, by, made }: Freeze): BlockingFreeze {
  return { until, reason, by, ...(made && { made }) };
}

function refusalNow(
  policy: Policy,
  change: Change,
  gathered: Gathered & { readonly command: string },
  now: Date,
): Refusal | null {
  const identity = gathered.identities.get(change.requester);
  if (!identity?.ok) return identity?.refusal ?? 'lookup-failed';
  // Whatever the row says now, only what its digest was made of is what people approved.
  if (planDigest(change.command, change.plan) !== change.digest) return 'target-changed';
  if (gathered.digest !== change.digest) return 'target-changed';

  const decision = decide(policy, {
    kind: 'change',
    command: gathered.command,
    target: change.plan.target,
    actor: identity.actor,
    reason: change.reason,
    now,
  });
  if (!decision.allow) return decision.refusal;
  return approvalsNow(change, decision, gathered);
}

// Broken for nobody's approval, it needs the role for that, and today's rule to know of it.
function glassNow(
  { requires }: Change,
  decision: Decision & { allow: true },
  roles: readonly RoleName[] | null,
): Refusal | null {
  const today = decision.requires.breakGlass;
  if (requires.breakGlass === null || today === null) return 'no-break-glass';
  const mayStill = [requires.breakGlass, today].every((role) => roles?.includes(role));
  return mayStill ? null : 'may-not-break-glass';
}

/** The stricter of the policy then and today's: the approvals must satisfy both. */
function approvalsNow(
  change: Change,
  decision: Decision & { allow: true },
  { identities }: Gathered,
): Refusal | null {
  const rolesOf = (user: UserId) => {
    const identity = identities.get(user);
    return identity?.ok ? identity.actor.roles : null;
  };
  const failedLookup = [...identities.values()].some(
    (identity) => !identity.ok && identity.refusal === 'lookup-failed',
  );
  if (change.breakGlass) return glassNow(change, decision, rolesOf(change.requester));
  const meets = (requires: Requirement) => approvalStatus(requires, change, rolesOf).met;
  if (meets(change.requires) && meets(decision.requires)) return null;
  return failedLookup ? 'lookup-failed' : 'approvals-missing';
}
