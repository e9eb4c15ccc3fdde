import { type Change, type ChangeId, targetKey } from '../../changes/change.ts';
import { start } from '../../changes/lifecycle.ts';
import type { Service } from '../../directory/directory.ts';
import { ApiError } from '../../errors.ts';
import { freezeFor } from '../../policy/freezes.ts';
import { auditRefusal } from '../../storage/audit/matches-audit-trail.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { loadChange, lockChange } from '../../storage/tables/changes/changes.ts';
import {
  hasTargetChangedSincePlan,
  lockTarget,
  unlockTarget,
  writePermit,
} from '../../storage/tables/changes/permits.ts';
import { mayExecute } from '../../storage/tables/configurations.ts';
import type { WorkflowContext } from '../ports.ts';
import { assertMoved, recordMove } from '../record.ts';
import { currentPolicy } from '../request/current-policy.ts';
import { currentTarget } from '../request/current-target.ts';
import { stopChange } from '../stop-change.ts';
import { claimRefusal, type ExecutionFacts } from './claim-refusal.ts';
import { sendAndFinish } from './send.ts';

/** Three times the longest API call, so that a slow process keeps its lease. */
const LEASE_MS = 120_000;

/** Gathered facts older than this are gathered again before they are used. */
const FACTS_VALID_MS = 30_000;

interface Permit {
  readonly change: Change;
  readonly permit: number;
}

/** `later`: nothing could be decided now, so that the claim has to be repeated. */
type ExecutionStep = 'done' | 'later';

/** Gathers fresh facts, decides again, records the permit, sends once, records the outcome. */
export async function execute(context: WorkflowContext, id: ChangeId): Promise<ExecutionStep> {
  const change = await loadChange(context.database.db, id);
  if (change?.state !== 'approved') return 'done';

  const facts = await gather(context, change);
  await context.trail.follow(id);
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
  const target = await readTarget(context, change);
  const services = await readServices(context, change);
  return { validUntil, identities: new Map(identities), target, services };
}

// What the directory says about a discovered service may be some minutes old.
function readServices(context: WorkflowContext, { plan }: Change): Promise<readonly Service[]> {
  const isDiscovered = currentTarget(context, plan).discovered === true;
  return isDiscovered ? context.verifyServices() : Promise.resolve(context.services());
}

async function readTarget(
  context: WorkflowContext,
  { command, plan }: Change,
): Promise<ExecutionFacts['target']> {
  const read = context.commands.get(command)?.readBeforeSending;
  if (!read) return null;
  try {
    return { fields: (await read(plan.target, context.commandContext())).fields };
  } catch (error) {
    // A definite refusal, for example "no such alert": the target no longer exists.
    if (error instanceof ApiError && error.effect === 'refused') return { fields: 'gone' };
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
  if (!(await mayExecute(tx, context.configuration))) return 'later';
  // An attacker with write access to the audit table could also have forged approvals.
  if ((await context.trail.problem(tx)) !== null) return 'later';

  const unconfirmed = await auditRefusal(tx, context.auditKey, change);
  if (unconfirmed) return end(tx, context, change, { why: unconfirmed });

  const policy = await currentPolicy(tx, context);
  // The policy has current names only; a change of an earlier release has the earlier one.
  const command = context.commands.get(change.command)?.name ?? change.command;
  const directory = { ...context, services: () => facts.services };
  const target = currentTarget(directory, change.plan);
  const refusal = claimRefusal(policy, change, { facts, command, target, now });
  // Slack did not answer the membership lookup, so that nothing is decided now.
  if (refusal === 'lookup-failed') return 'later';
  // The server may be unavailable for a moment. It never runs without a current answer.
  if (refusal === 'not-verified' && now < retriesUntil(change)) return 'later';
  if (refusal) {
    const freeze = refusal === 'frozen' && freezeFor(policy.freezes, target, now);
    return end(tx, context, change, { why: refusal, freeze: freeze || undefined });
  }
  // Locked before the check, so that no other change of the target can end in between.
  const key = targetKey(target);
  if (!(await lockTarget(tx, key, id, now))) return 'later';
  if (await hasTargetChangedSincePlan(tx, key, change)) {
    await unlockTarget(tx, id);
    return end(tx, context, change, { why: 'target-changed' });
  }
  return writeClaim(tx, context, change, facts);
}

/** How long the claim of a discovered service waits for the list of services. */
const VERIFY_WITHIN_MS = 120_000;

/** Counted from the time at which the change could first run. */
function retriesUntil({ notBefore, confirmedAt, approvals, breakGlass, createdAt }: Change): Date {
  const times = [notBefore, confirmedAt, breakGlass?.at, ...approvals.map(({ at }) => at)];
  const began = Math.max(createdAt.getTime(), ...times.map((at) => at?.getTime() ?? 0));
  return new Date(began + VERIFY_WITHIN_MS);
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

async function end(...stopping: Parameters<typeof stopChange>): Promise<ExecutionStep> {
  await stopChange(...stopping);
  return 'done';
}
