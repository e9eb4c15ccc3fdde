import { rolesIn } from '../../domain/approvals.ts';
import type { Actor, Change, ChangeId, UserId, Verb } from '../../domain/change.ts';
import { commandsFor } from '../../domain/policy.ts';
import { changesToReview, listChanges } from '../../log/old/change-lists.ts';
import type { HomeContent, HomeLists } from './messenger-port.ts';
import type { WorkflowContext } from './ports.ts';
import { refusalOfVerb } from './review.ts';

const MANY = 200;
const RECENT = 8;
const SEARCHED = 50;

/** Draws a user's App Home tab from the stored changes. */
export async function showHome(context: WorkflowContext, user: UserId): Promise<void> {
  const identity = await context.people.identify(user, { fresh: false });
  const content: HomeContent = identity.ok
    ? { ok: true, actor: identity.actor, lists: await listsFor(context, identity.actor) }
    : { ok: false, refusal: identity.refusal };
  await context.messenger.showHome(user, content);
}

async function listsFor(context: WorkflowContext, actor: Actor): Promise<HomeLists> {
  const { db } = context.database;
  const unreadable = new Set<ChangeId>();
  const skip = (id: ChangeId, err: unknown) => {
    unreadable.add(id);
    context.log.error({ err, change: id }, 'change is not readable and is not shown');
  };
  const [pending, mine, running, unreviewed, ended] = await Promise.all([
    listChanges(db, { open: true, states: ['pending'], limit: MANY }, skip),
    listChanges(
      db,
      { open: true, states: ['pending', 'approved'], requester: actor.id, limit: MANY },
      skip,
    ),
    listChanges(
      db,
      { open: true, states: ['approved', 'executing', 'unknown'], limit: MANY },
      skip,
    ),
    changesToReview(db, MANY, skip),
    listChanges(db, { open: false, limit: SEARCHED }, skip),
  ]);
  // A user without a role sees only their own changes.
  const isVisible = ({ requester }: Change) => actor.roles.length > 0 || requester === actor.id;
  // A revert was requested together with its change.
  const own = mine.filter(({ parent }) => parent === null);
  const now = context.now();
  const asking = { by: actor.id, identity: { ok: true, actor } } as const;
  const may = (verb: Verb, change: Change) => refusalOfVerb(context, verb, change, asking) === null;
  const unanswered = running.filter(
    (change) => change.state === 'unknown' && (concerns(change, actor) || may('happened', change)),
  );
  return {
    waiting: pending
      .filter((change) => may('approve', change))
      .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime()),
    mine: own,
    running: running.filter(
      (change) => isVisible(change) && ![...own, ...unanswered].some(({ id }) => id === change.id),
    ),
    toAnswer: [
      ...unanswered.map((change) => ({ change, mayAnswer: may('happened', change) })),
      ...unreviewed
        .filter((change) => may('review', change))
        .map((change) => ({ change, mayAnswer: true })),
    ],
    recent: ended.filter(isVisible).slice(0, RECENT),
    schedules: await schedulesFor(context, actor),
    costs: await costsFor(context, actor),
    unreadable: [...unreadable],
    more: pending.length === MANY,
    at: now,
  };
}

/** Whether a change has to be known to the user: its requester, and the roles of its rule. */
function concerns({ requester, requires }: Change, { id, roles }: Actor): boolean {
  return requester === id || roles.some((role) => rolesIn(requires).includes(role));
}

function schedulesFor(
  { policy, commandContext }: WorkflowContext,
  actor: Actor,
): Promise<HomeLists['schedules']> {
  const mayList = commandsFor(policy, ['service schedule list'], actor).length > 0;
  return mayList ? commandContext().schedules.all() : Promise.resolve([]);
}

/** Like the answer of `/cost`, for users who may ask for it. Home is shown without it if it fails. */
async function costsFor(context: WorkflowContext, actor: Actor): Promise<HomeLists['costs']> {
  if (commandsFor(context.policy, ['cost'], actor).length === 0) return null;
  try {
    return await context.homeCosts();
  } catch (error) {
    context.log.warn({ err: error }, 'stored costs were not read for App Home');
    return null;
  }
}
