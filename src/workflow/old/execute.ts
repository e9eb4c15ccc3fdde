import type { JsonObject } from '../../base/text.ts';
import { type Change, type ChangeId, type StateCheck, targetKey } from '../../domain/change.ts';
import { start } from '../../domain/decide.ts';
import { freezeFor } from '../../domain/policy.ts';
import type { Service } from '../../domain/targets.ts';
import { loadChange, lockStored } from '../../log/old/changes.ts';
import { readingConfiguration } from '../../log/old/configurations.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import {
  lastChangeSincePlan,
  lockTarget,
  readingChangeSincePlan,
  unlockTarget,
  writingPermit,
} from '../../log/old/permits.ts';
import type { StoredChange } from '../../log/old/stored-record.ts';
import type { Tx } from '../../storage/old/database.ts';
import { claimRefusal, type ExecutionFacts } from './claim-refusal.ts';
import { readingPolicy } from './current-policy.ts';
import { currentTarget } from './current-target.ts';
import type { WorkflowContext } from './ports.ts';
import { createReadPatience, type ReadPatience, readTarget, unverified } from './read-target.ts';
import { assertMoved, recordMove } from './record.ts';
import { approvedCommands, scheduleRefusal } from './schedule-refusal.ts';
import { sendAndFinish } from './send.ts';
import { stopChange } from './stop-change.ts';

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
export async function execute(
  context: WorkflowContext,
  id: ChangeId,
  patience: ReadPatience = createReadPatience(),
): Promise<ExecutionStep> {
  const change = await loadChange(context.database.db, id);
  if (change?.state !== 'approved') return 'done';

  const gathered = await gather(context, change);
  const mustReadAgain = patience.isWaiting(id, gathered.state, context.now());
  const facts = { ...gathered, mustReadAgain };
  await context.trail.follow(id);
  const { schedule } = change.plan.timing ?? {};
  if (schedule) await context.trail.follow(schedule);
  const claim = await context.database.transaction((tx) => claimIn(tx, context, id, facts));
  if (claim !== 'later') patience.clear(id);
  if (typeof claim === 'string') return claim;
  await sendAndFinish(context, claim.change, claim.permit, facts.validUntil);
  return 'done';
}

async function gather(
  context: WorkflowContext,
  change: Change,
): Promise<Omit<ExecutionFacts, 'mustReadAgain'>> {
  const validUntil = new Date(context.now().getTime() + FACTS_VALID_MS);
  const users = [change.requester, ...change.approvals.map(({ by }) => by)];
  const identities = await Promise.all(
    users.map(
      async (user) => [user, await context.people.identify(user, { fresh: true })] as const,
    ),
  );
  const [read, services] = await Promise.all([
    readTarget(context, change),
    readServices(context, change),
  ]);
  return { validUntil, identities: new Map(identities), services, ...read };
}

// What the directory says about a discovered service may be some minutes old.
function readServices(context: WorkflowContext, { plan }: Change): Promise<readonly Service[]> {
  const isDiscovered = currentTarget(context, plan).discovered === true;
  return isDiscovered ? context.verifyServices() : Promise.resolve(context.services());
}

async function claimIn(
  tx: Tx,
  context: WorkflowContext,
  id: ChangeId,
  facts: ExecutionFacts,
): Promise<Permit | ExecutionStep> {
  const configuration = readingConfiguration(tx, context.configuration);
  const { policy: readPolicy, ...freezes } = readingPolicy(tx, context);
  const stored = await lockStored(tx, id, [configuration, freezes]);
  const now = context.now();
  if (stored?.change.state !== 'approved' || now >= stored.change.expiresAt) return 'done';
  const { change } = stored;
  if (change.notBefore && now < change.notBefore) return 'later';
  if (now >= facts.validUntil) return 'later';
  if (!configuration.mayExecute()) return 'later';
  // An attacker with write access to the audit table could also have forged approvals.
  if ((await context.trail.problem(tx)) !== null) return 'later';

  const unconfirmed =
    (await auditRefusal(tx, context.auditKey, change, stored)) ??
    (await scheduleRefusal(tx, context, change));
  if (unconfirmed) return end(tx, context, change, { why: unconfirmed });

  const policy = await readPolicy();
  const commands = approvedCommands(context, change);
  const directory = { ...context, services: () => facts.services };
  const target = currentTarget(directory, change.plan);
  const refusal = claimRefusal(policy, change, { facts, commands, target, now });
  // Slack did not answer the membership lookup, so that nothing is decided now.
  if (refusal === 'lookup-failed') return 'later';
  // The server may be unavailable for a moment. It never runs without a current answer.
  if (refusal === 'not-verified' && now < retriesUntil(change)) return 'later';
  if (refusal) {
    const freeze = refusal === 'frozen' && freezeFor(policy.freezes, target, now);
    const stateCheck = refusal === 'target-changed' ? await found(tx, change, facts) : undefined;
    return end(tx, context, change, { why: refusal, freeze: freeze || undefined, stateCheck });
  }
  if (facts.mustReadAgain) return 'later';
  // Locked before the check, so that no other change of the target can end in between.
  const key = targetKey(target);
  const later = await readingChangeSincePlan(tx, key, change);
  if (!(await lockTarget(tx, key, id, now, [later]))) return 'later';
  if (later.change()) {
    await unlockTarget(tx, id);
    const stateCheck = await found(tx, change, facts);
    return end(tx, context, change, { why: 'target-changed', stateCheck });
  }
  return writeClaim(tx, context, stored, facts);
}

/** How long the claim of a discovered service waits for the list of services. */
const VERIFY_WITHIN_MS = 120_000;

/** Counted from the time at which the change could first run. */
function retriesUntil({ notBefore, confirmedAt, approvals, breakGlass, createdAt }: Change): Date {
  const times = [notBefore, confirmedAt, breakGlass?.at, ...approvals.map(({ at }) => at)];
  const began = Math.max(createdAt.getTime(), ...times.map((at) => at?.getTime() ?? 0));
  return new Date(began + VERIFY_WITHIN_MS);
}

/** How the target differs, and the change in Signalbox that explains it. */
async function found(
  tx: Tx,
  change: Change,
  { state, target }: ExecutionFacts,
): Promise<StateCheck> {
  const changedBy = await lastChangeSincePlan(tx, targetKey(change.plan.target), change);
  const differences = state?.kind === 'differs' ? state.differences : (target?.differences ?? []);
  return { kind: 'differs', differences, changedBy };
}

async function writeClaim(
  tx: Tx,
  context: WorkflowContext,
  { change, record }: StoredChange,
  facts: ExecutionFacts,
): Promise<Permit> {
  const now = context.now();
  const lease = { owner: context.instance, until: new Date(now.getTime() + LEASE_MS) };
  const stateCheck = unverified(facts.state);
  const claimed = assertMoved(start(change, lease, now, stateCheck));
  const single = context.commands.get(change.command)?.callClass === 'post';
  const owner = context.instance;
  const permit = writingPermit(tx, { changeId: change.id, single, owner, at: now });
  const approvers = change.approvals.map(({ by }) => by);
  await recordMove(tx, context, change, claimed, {
    kind: 'claimed',
    by: 'signalbox',
    facts: { approvers, groups: groupsOf(facts), ...unverifiedFacts(stateCheck) },
    laterFacts: () => ({ permit: permit.number() }),
    confirmed: record,
    also: [permit],
  });
  return { change: claimed, permit: permit.number() };
}

function unverifiedFacts(check: StateCheck | undefined): JsonObject {
  return check?.kind === 'unverified' ? { unverified: check.why } : {};
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
