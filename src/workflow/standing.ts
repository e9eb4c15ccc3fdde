// How a change runs by a standing approval: which one covers a request, what the gate decides from, and the line in its
// thread, which stands before the request is sent. A log that went back cannot give a use back without being noticed.

import type { Freshness } from '../base/cache.ts';
import { type Change, type ChangeId, isPerson, type UserId } from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { gate, type Identity } from '../domain/gate.ts';
import {
  isInForce,
  LONGEST_STANDING_MS,
  type StandingFacts,
  standingOf,
  type Use,
} from '../domain/standing.ts';
import { type LockedLog, listChanges, loadChange, type Subjects } from '../log/index.ts';
import type { DecisionContext, WorkflowContext } from './context.ts';
import { type Effects, move, NOTHING } from './moves.ts';
import { ruleFacts } from './target.ts';

const MANY = 200;

/** The standing approvals that are in force or were used up, the first to end first. */
export async function standingApprovals({ events, now }: DecisionContext) {
  const at = now();
  const endedSince = new Date(at.getTime() - LONGEST_STANDING_MS);
  const all = await listChanges(events, { commands: ['change allow'], endedSince, limit: MANY });
  const endOf = (change: Change) => standingOf(change)?.until.getTime() ?? 0;
  return all.filter((each) => isInForce(each, at)).toSorted((a, b) => endOf(a) - endOf(b));
}

type Identities = ReadonlyMap<UserId, Identity>;

/** A standing approval that covers a request, and who is concerned. */
export interface FoundStanding {
  readonly id: ChangeId;
  readonly identities: Identities;
}

/** The standing approval by which a request may run; null: it asks for approvals of its own. */
export async function standingFor(
  context: WorkflowContext,
  use: Use,
  requester: Identity,
): Promise<FoundStanding | null> {
  if (use.requires.count === 0) return null;
  for (const standing of await standingApprovals(context)) {
    const facts = await factsOf(context, context.events, use, { standing, identities: new Map() });
    const first = gate(use, 'use', facts);
    // Who its approvers are is looked up only for one that may cover it.
    if (!('refusal' in first) || first.refusal !== 'approvals-missing') continue;
    const how = { fresh: !isPerson(use.requester) };
    const identities = await concernedIn(context, standing, [use.requester, requester], how);
    if ('approvals' in gate(use, 'use', { ...facts, identities }))
      return { id: standing.id, identities };
  }
  return null;
}

/** Looks up who the approvers of the standing approval of a change are now. */
export async function lookUpStanding(
  context: WorkflowContext,
  { standing: id, requester }: Change,
  identity: Identity,
  since: Date,
): Promise<Identities | null> {
  const standing = id ? await loadChange(context.events, id) : null;
  if (!standing) return null;
  return concernedIn(context, standing, [requester, identity], { fresh: true, since });
}

/** The requester of a use and the approvers of its standing approval. */
async function concernedIn(
  context: WorkflowContext,
  { approvals }: Change,
  [id, known]: readonly [UserId, Identity],
  how: Freshness,
): Promise<Identities> {
  const others = approvals.map(({ by }) => by).filter((by) => by !== id);
  return new Map([[id, known], ...(await identitiesOf(context, others, how))]);
}

/** Who each of these users is now. */
export async function identitiesOf(
  { people }: Pick<WorkflowContext, 'people'>,
  users: readonly UserId[],
  how: Freshness,
): Promise<Identities> {
  const all = users.map(async (user) => [user, await people.identify(user, how)] as const);
  return new Map(await Promise.all(all));
}

/** What the gate decides from, about a change that names a standing approval; null: it names none. */
export async function standingFacts(
  context: WorkflowContext,
  locked: LockedLog,
  change: Change,
  identities: Identities | null,
): Promise<StandingFacts | null> {
  if (!change.standing) return null;
  const standing = await loadChange(locked, change.standing);
  return factsOf(context, locked, change, { standing, identities: identities ?? new Map() });
}

async function factsOf(
  context: WorkflowContext,
  subjects: Subjects,
  use: Use,
  known: Pick<StandingFacts, 'standing' | 'identities'>,
): Promise<StandingFacts> {
  // The line of a revert begins with its command; of an unknown one, nothing is covered.
  const line = use.plan.timing?.revert?.line;
  const inverse = [...context.commands.keys()].find((name) => line?.startsWith(`${name} `));
  const facts = await ruleFacts(context, subjects, use);
  return { ...known, ...facts, commands: [...facts.commands, ...(line ? [inverse ?? ''] : [])] };
}

/** The use that a confirmation is: it counts from then on, also if nothing is sent. */
export async function usedBy(
  context: DecisionContext,
  locked: LockedLog,
  { id, standing: by, requester }: Change,
  event: ChangeEvent,
): Promise<Effects> {
  const isUse = by && event.type === 'confirmed' && event.approvals;
  const standing = isUse ? await loadChange(locked, by) : null;
  if (!standing) return NOTHING;
  return move(context, locked.at, standing, { type: 'used', change: id, by: requester });
}
