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
import { assertMoved, recordMove } from '../record.ts';
import { currentPolicy } from '../request/current-policy.ts';
import { sendAndFinish } from './send.ts';

/** Three times the longest API call, so that a slow process keeps its lease. */
export const LEASE_MS = 120_000;

/** Gathered facts older than this are gathered again before they are used. */
const FACTS_VALID_MS = 30_000;

interface Permit {
  readonly change: Change;
  readonly permit: number;
}

interface ExecutionFacts {
  readonly validUntil: Date;
  readonly identities: ReadonlyMap<UserId, Identity>;
  readonly digest: string;
}

/** `later`: nothing could be decided now, so that the claim has to be repeated. */
export type ExecutionStep = 'done' | 'later';

/** Gathers fresh facts, decides again, records the permit, sends once, records the outcome. */
export async function execute(context: WorkflowContext, id: ChangeId): Promise<ExecutionStep> {
  const change = await loadChange(context.database.db, id);
  if (change?.state !== 'approved') return 'done';

  const facts = await gather(context, change);
  const claim = await context.database.transaction((tx) => claimIn(tx, context, id, facts));
  if (typeof claim === 'string') return claim;
  await sendAndFinish(context, claim.change, claim.permit, facts.validUntil);
  return 'done';
}

async function gather(context: WorkflowContext, change: Change): Promise<ExecutionFacts> {
  const validUntil = new Date(context.now().getTime() + FACTS_VALID_MS);
  const users = [change.requester, ...change.approvals.map(({ by }) => by)];
  const identities = await Promise.all(
    users.map(
      async (user) => [user, await context.people.identify(user, { fresh: true })] as const,
    ),
  );
  const digest = await digestNow(context, change);
  return { validUntil, identities: new Map(identities), digest };
}

// Approvals are bound to the target's state at the preview. A different state makes them stale.
async function digestNow(context: WorkflowContext, change: Change): Promise<string> {
  const command = context.commands.get(change.command);
  if (!command?.readBeforeSending) return change.digest;
  try {
    const before = await command.readBeforeSending(change.plan.target, context.commandContext());
    return planDigest(change.command, { ...change.plan, before });
  } catch (error) {
    // A definite refusal, for example "no such alert": the target no longer exists.
    if (error instanceof ApiError && error.effect === 'refused') return 'gone';
    throw error;
  }
}

async function claimIn(
  tx: Tx,
  context: WorkflowContext,
  id: ChangeId,
  facts: ExecutionFacts,
): Promise<Permit | ExecutionStep> {
  const change = await lockChange(tx, id);
  const now = context.now();
  if (change?.state !== 'approved' || now >= change.expiresAt) return 'done';
  if (change.notBefore && now < change.notBefore) return 'later';
  if (now >= facts.validUntil) return 'later';
  // An attacker with write access to the audit table could also have forged approvals.
  if ((await context.trail.problem(tx)) !== null) return 'later';

  if (!(await matchesAuditTrail(tx, context.auditKey, change))) {
    context.log.error({ change: id }, 'change does not match the audit trail; it is denied');
    return end(tx, context, change, 'audit-mismatch');
  }

  const policy = await currentPolicy(tx, context);
  // The policy has current names only; a change of an earlier release has the earlier one.
  const command = context.commands.get(change.command)?.name ?? change.command;
  const refusal = currentRefusal(policy, change, { ...facts, command }, now);
  // Slack did not answer the membership lookup, so that nothing is decided now.
  if (refusal === 'lookup-failed') return 'later';
  if (refusal) {
    const freeze = refusal === 'frozen' && freezeFor(policy.freezes, change.plan.target, now);
    return end(tx, context, change, refusal, freeze || undefined);
  }
  // Locked before the check, so that no other change of the target can end in between.
  const target = targetKey(change.plan.target);
  if (!(await lockTarget(tx, target, id, now))) return 'later';
  if (await hasTargetChangedSincePlan(tx, target, change)) {
    await unlockTarget(tx, id);
    return end(tx, context, change, 'target-changed');
  }
  return writeClaim(tx, context, change, facts);
}

async function writeClaim(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  facts: ExecutionFacts,
): Promise<Permit> {
  const now = context.now();
  const lease = { owner: context.instance, until: new Date(now.getTime() + LEASE_MS) };
  const claimed = assertMoved(start(change, lease, now));
  const single = context.commands.get(change.command)?.callClass === 'post';
  const permit = await writePermit(tx, {
    changeId: change.id,
    single,
    owner: context.instance,
    at: now,
  });
  const approvers = change.approvals.map(({ by }) => by);
  await recordMove(tx, context, change, claimed, {
    kind: 'claimed',
    by: 'signalbox',
    facts: { permit, approvers, groups: groupsOf(facts) },
  });
  return { change: claimed, permit };
}

function groupsOf({ identities }: ExecutionFacts) {
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
): Promise<ExecutionStep> {
  const state = why === 'target-changed' ? 'stale' : 'denied';
  const stopped = assertMoved(stop(change, state, why, freeze && frozenBy(freeze)));
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

function currentRefusal(
  policy: Policy,
  change: Change,
  facts: ExecutionFacts & { readonly command: string },
  now: Date,
): Refusal | null {
  const identity = facts.identities.get(change.requester);
  if (!identity?.ok) return identity?.refusal ?? 'lookup-failed';
  // Users approved what the digest covers, whatever the stored row says now.
  if (planDigest(change.command, change.plan) !== change.digest) return 'target-changed';
  if (facts.digest !== change.digest) return 'target-changed';

  const decision = decide(policy, {
    kind: 'change',
    command: facts.command,
    target: change.plan.target,
    actor: identity.actor,
    reason: change.reason,
    now,
  });
  if (!decision.allow) return decision.refusal;
  return approvalRefusal(change, decision, facts);
}

// Break-glass replaces the approvals. The requester needs its role by the old and the current rule.
function breakGlassRefusal(
  { requires }: Change,
  decision: Decision & { allow: true },
  roles: readonly RoleName[] | null,
): Refusal | null {
  const current = decision.requires.breakGlass;
  if (requires.breakGlass === null || current === null) return 'no-break-glass';
  const isAllowed = [requires.breakGlass, current].every((role) => roles?.includes(role));
  return isAllowed ? null : 'may-not-break-glass';
}

/** The approvals must satisfy the requirement at the time of the request and the current one. */
function approvalRefusal(
  change: Change,
  decision: Decision & { allow: true },
  { identities }: ExecutionFacts,
): Refusal | null {
  const rolesOf = (user: UserId) => {
    const identity = identities.get(user);
    return identity?.ok ? identity.actor.roles : null;
  };
  const failedLookup = [...identities.values()].some(
    (identity) => !identity.ok && identity.refusal === 'lookup-failed',
  );
  if (change.breakGlass) return breakGlassRefusal(change, decision, rolesOf(change.requester));
  const isMet = (requires: Requirement) => approvalStatus(requires, change, rolesOf).met;
  if (isMet(change.requires) && isMet(decision.requires)) return null;
  return failedLookup ? 'lookup-failed' : 'approvals-missing';
}
