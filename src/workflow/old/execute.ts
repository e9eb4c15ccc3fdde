import type { JsonObject } from '../../base/text.ts';
import {
  type Change,
  type ChangeId,
  type StateCheck,
  targetKey,
  type UserId,
} from '../../domain/change.ts';
import type { ChangeEvent } from '../../domain/fold.ts';
import { type ClaimFacts, gate, type Identity } from '../../domain/gate.ts';
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
import { readingPolicy } from './current-policy.ts';
import { currentTarget } from './current-target.ts';
import type { WorkflowContext } from './ports.ts';
import {
  createReadPatience,
  type ReadPatience,
  readTarget,
  type TargetFacts,
  unverified,
} from './read-target.ts';
import { recordMove } from './record.ts';
import { approvedCommands, readScheduleOf } from './schedule-refusal.ts';
import { sendAndFinish } from './send.ts';
import { stopChange } from './stop-change.ts';

/** Three times the longest API call, so that a slow process keeps its lease. */
const LEASE_MS = 120_000;

/** Gathered facts older than this are gathered again before they are used. */
const FACTS_VALID_MS = 30_000;

/** Roles that were read this long ago still count at a claim. Events of Slack change them earlier. */
const ROLES_VALID_MS = 10_000;

/** What was gathered right before a claim, outside its transaction. */
interface ExecutionFacts extends TargetFacts {
  readonly validUntil: Date;
  readonly identities: ReadonlyMap<UserId, Identity>;
  /** The target could not be read yet, so that nothing is sent now. */
  readonly mustReadAgain: boolean;
  /** The directory, in which a discovered service has only the facts that the server returned now. */
  readonly services: readonly Service[];
}

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
  const now = context.now().getTime();
  const validUntil = new Date(now + FACTS_VALID_MS);
  const since = new Date(now - ROLES_VALID_MS);
  const users = [change.requester, ...change.approvals.map(({ by }) => by)];
  const identities = await Promise.all(
    users.map(
      async (user) => [user, await context.people.identify(user, { fresh: true, since })] as const,
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
  gathered: ExecutionFacts,
): Promise<Permit | ExecutionStep> {
  const configuration = readingConfiguration(tx, context.configuration);
  const { policy: readPolicy, ...freezes } = readingPolicy(tx, context);
  const stored = await lockStored(tx, id, [configuration, freezes]);
  if (!stored) return 'done';
  const { change } = stored;
  const facts: ClaimFacts = {
    ...claimFacts(context, change, gathered),
    mayExecute: configuration.mayExecute(),
    logProblem: await context.trail.problem(tx),
    log: await auditRefusal(tx, context.auditKey, change, stored),
    schedule: await readScheduleOf(tx, context, change),
    policy: await readPolicy(),
    lock: null,
  };
  const first = gate(change, 'claim', facts);
  if (!('type' in first)) return endUnsent(tx, context, change, first, gathered);
  // Locked before the check, so that no other change of the target can end in between.
  const key = targetKey(facts.target);
  const later = await readingChangeSincePlan(tx, key, change);
  const isLocked = await lockTarget(tx, key, id, facts.now, [later]);
  const free = isLocked && later.change() ? 'changed since the preview' : 'free';
  const locked = { ...facts, lock: isLocked ? free : 'held by another' } as const;
  const answer = gate(change, 'claim', locked);
  if ('type' in answer) return writeClaim(tx, context, stored, answer, gathered);
  if (isLocked) await unlockTarget(tx, id);
  return endUnsent(tx, context, change, answer, gathered);
}

function claimFacts(
  context: WorkflowContext,
  change: Change,
  { validUntil, identities, target: read, state, mustReadAgain, services }: ExecutionFacts,
) {
  const now = context.now();
  const directory = { ...context, services: () => services };
  return {
    ...{ now, validUntil, identities, mustReadAgain },
    commands: approvedCommands(context, change),
    target: currentTarget(directory, change.plan),
    fields: read?.fields ?? null,
    differs: state?.kind === 'differs',
    lease: { owner: context.instance, until: new Date(now.getTime() + LEASE_MS) },
    stateCheck: unverified(state),
  };
}

/** Ends a change that must not run, or leaves it as it is. */
async function endUnsent(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  answer: Exclude<ReturnType<typeof gate<'claim'>>, ChangeEvent>,
  gathered: ExecutionFacts,
): Promise<ExecutionStep> {
  if ('waits' in answer) return 'later';
  const { refusal, ends } = answer;
  const differs = refusal === 'target-changed' && { stateCheck: await found(tx, change, gathered) };
  if (ends) await stopChange(tx, context, change, { ...ends, ...differs });
  return 'done';
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
  event: ChangeEvent,
  { identities, state }: ExecutionFacts,
): Promise<Permit> {
  const single = context.commands.get(change.command)?.callClass === 'post';
  const owner = context.instance;
  const permit = writingPermit(tx, { changeId: change.id, single, owner, at: context.now() });
  const approvers = change.approvals.map(({ by }) => by);
  const claimed = await recordMove(tx, context, change, event, {
    kind: 'claimed',
    by: 'signalbox',
    facts: { approvers, groups: groupsOf(identities), ...unverifiedFacts(unverified(state)) },
    laterFacts: () => ({ permit: permit.number() }),
    confirmed: record,
    also: [permit],
  });
  return { change: claimed, permit: permit.number() };
}

function unverifiedFacts(check: StateCheck | undefined): JsonObject {
  return check?.kind === 'unverified' ? { unverified: check.why } : {};
}

function groupsOf(identities: ExecutionFacts['identities']) {
  const groups = [...identities.values()].flatMap((identity) =>
    identity.ok ? identity.evidence.groups : [],
  );
  return [...new Map(groups.map((group) => [group.id, { ...group }])).values()];
}
