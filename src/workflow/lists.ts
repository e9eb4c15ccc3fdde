import { sharedRead } from '../base/cache.ts';
import { type ChangesQueries, servicesOverview } from '../commands/index.ts';
import type { Answer, Caller } from '../domain/answer.ts';
import { rolesIn } from '../domain/approvals.ts';
import {
  type Actor,
  type Change,
  targetKey,
  type UserId,
  VERBS,
  type Verb,
} from '../domain/change.ts';
import { gate } from '../domain/gate.ts';
import { commandsFor } from '../domain/policy.ts';
import { listChanges, loadChange, requestedCommands } from '../log/index.ts';
import { authorizeQuery, denialOfVerb, recordRefusal, refusalOfVerb } from './authorize.ts';
import { scheduleNews } from './cards.ts';
import type {
  DecisionContext,
  HomeContent,
  HomeLists,
  MeasureEffect,
  WorkflowContext,
} from './context.ts';
import { withFollowUp } from './follow.ts';
import { advance, identityFacts } from './moves.ts';
import { withNews } from './news.ts';
import { standingApprovals } from './standing.ts';
import { pressFacts } from './target.ts';

/** Draws a user's App Home tab from the log. */
export async function showHome(context: WorkflowContext, user: UserId): Promise<void> {
  const identity = await context.people.identify(user, { fresh: false });
  const content: HomeContent = identity.ok
    ? { ok: true, actor: identity.actor, lists: await homeLists(context, identity.actor) }
    : { ok: false, refusal: identity.refusal };
  await context.messenger.showHome(user, content);
}

const MANY = 200;
const RECENT = 8;
const DECIDED = 12;
const SEARCHED = 50;

async function homeLists(context: WorkflowContext, actor: Actor): Promise<HomeLists> {
  const { events, commandContext, policy } = context;
  const mayAsk = (command: string) => commandsFor(policy, [command], actor).length > 0;
  const open = { open: true, limit: MANY };
  const [pending, mine, running, unreviewed, ended] = await Promise.all([
    listChanges(events, { ...open, states: ['pending'] }),
    listChanges(events, { ...open, states: ['pending', 'approved'], requester: actor.id }),
    listChanges(events, { ...open, states: ['approved', 'executing', 'unknown'] }),
    listChanges(events, { toReview: true, limit: MANY }),
    listChanges(events, { open: false, limit: SEARCHED }),
  ]);
  // A user without a role sees only their own changes.
  const isVisible = ({ requester }: Change) => actor.roles.length > 0 || requester === actor.id;
  // A revert was requested together with its change.
  const own = mine.filter(({ parent }) => parent === null);
  const asking = { by: actor.id, identity: { ok: true, actor } } as const;
  const may = (verb: Verb, change: Change) => refusalOfVerb(context, verb, change, asking) === null;
  const unanswered = running.filter(
    (change) => change.state === 'unknown' && (concerns(change, actor) || may('happened', change)),
  );
  const waiting = pending
    .filter((change) => may('approve', change))
    .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const recent = ended.filter(isVisible).slice(0, RECENT);
  return {
    // Of the others, Home shows the number.
    waiting: await Promise.all(
      waiting.map((change, index) => (index < DECIDED ? withNews(context, change) : change)),
    ),
    mine: own,
    running: running.filter(
      (change) => isVisible(change) && ![...own, ...unanswered].some(({ id }) => id === change.id),
    ),
    toAnswer: [
      ...unanswered.map((change) => ({ change, mayAnswer: may('happened', change) })),
      ...unreviewed
        .toReversed()
        .filter((change) => may('review', change))
        .map((change) => ({ change, mayAnswer: true })),
    ],
    recent: await Promise.all(recent.map((change) => withFollowUp(context, change))),
    schedules: mayAsk('service schedule list') ? await commandContext().schedules.all() : [],
    standing: (await standingApprovals(context)).filter((each) => may('revoke', each)),
    // From what was read last: Home does not wait for the server.
    services: mayAsk('service list')
      ? servicesOverview(
          context.services(),
          await commandContext().reads.cloud.services({ stored: true }),
          [...pending, ...running],
        )
      : null,
    costs: mayAsk('cost') ? await costsOf(context) : null,
    more: pending.length === MANY,
    at: context.now(),
  };
}

/** Whether a change has to be known to the user: its requester, and the roles of its rule. */
function concerns({ requester, requires }: Change, { id, roles }: Actor): boolean {
  return requester === id || roles.some((role) => rolesIn(requires).includes(role));
}

/** Home is shown without costs if that fails. */
async function costsOf({ homeCosts, log }: WorkflowContext): Promise<HomeLists['costs']> {
  try {
    return await homeCosts();
  } catch (error) {
    log.warn({ err: error }, 'stored costs were not read for App Home');
    return null;
  }
}

/** What the answers about changes ask of the workflow. */
export function createChangesQueries(
  context: DecisionContext,
  named: ChangesQueries['named'],
  measureEffect: MeasureEffect,
): ChangesQueries {
  const { events, organization, log } = context;
  const readOpen = () => listChanges(events, { open: true, confirmed: true, limit: MANY });
  // Without drafts it is the same for everyone who may list changes, so that a read serves all who wait for it.
  const open = sharedRead(readOpen, 0, () => context.now().getTime());
  return {
    ...{ events, organization, named },
    standing: () => standingApprovals(context),
    shown: async (found, asker) => {
      const change = await withNews(context, await withFollowUp(context, found));
      const hidden = await hiddenFrom(context, change, asker);
      const next = (await scheduleNews(context, change))?.next ?? null;
      return { change, hidden, effect: await measureEffect(change), next };
    },
    cancel: (change, asker) => cancel(context, change, asker),
    latestOf: (target, asker) => {
      const key = targetKey({ organization, plan: { target } });
      const query = { targets: [key], limit: LATEST, privateTo: asker.by };
      return ifMayList(context, asker, () => listChanges(events, query));
    },
    openOf: (asker) => ifMayList(context, asker, () => open.read('all', { fresh: true })),
    // The help that shows them works without a database.
    frequent: (by) =>
      requestedCommands(events, by, FREQUENT).catch((err: unknown) => {
        log.warn({ err }, 'the most used commands could not be read');
        return [];
      }),
  };
}

const LATEST = 5;
const FREQUENT = 3;

/** The changes of a list, for users who may list changes. */
async function ifMayList(
  context: DecisionContext,
  { by }: Caller,
  list: () => Promise<readonly Change[]>,
): Promise<readonly Change[]> {
  const asked = { command: 'change list', target: null, by, record: false };
  return (await authorizeQuery(context, asked)).ok ? list() : [];
}

/** The buttons of the card that this user may not press. */
async function hiddenFrom(
  context: DecisionContext,
  change: Change,
  { by }: Caller,
): Promise<readonly string[]> {
  const identity = await context.people.identify(by, { fresh: false });
  const refused = VERBS.filter(
    (verb) => refusalOfVerb(context, verb, change, { by, identity }) !== null,
  );
  const ofOthers = change.requester === by ? [] : ['change.reveal'];
  return [...refused.map((verb) => `change.${verb}`), ...ofOthers];
}

/** Cancels a change. The answer follows the commit, as after a press. */
async function cancel(context: DecisionContext, found: Change, { by }: Caller): Promise<Answer> {
  const identity = await context.people.identify(by, { fresh: false });
  const result = await advance(context, found.id, (change) => {
    const answer = gate(change, 'cancel', pressFacts(context, change, { by, identity, text: '' }));
    return 'refusal' in answer ? answer : { ...answer, evidence: identityFacts(identity) };
  });
  if (result !== null && typeof result !== 'string') {
    const note = { kind: 'text', text: 'Nothing will be sent.' } as const;
    return { title: 'Cancelled', parts: [{ kind: 'changes', changes: [result.change] }, note] };
  }
  const change = (await loadChange(context.events, found.id)) ?? found;
  const press = { verb: 'cancel', by } as const;
  const refused = { refusal: result ?? 'not-found', change, press } as const;
  await recordRefusal(context, denialOfVerb(context, refused), { tried: 'cancel', by, identity });
  return { title: 'Not cancelled', refused, parts: [] };
}
