// Changes as people look for them: App Home, `/change list`, `show` and `cancel`, and the help.

import { nearest } from '../base/text.ts';
import {
  type ChangesQueries,
  changeIdText,
  type ListRequest,
  servicesOverview,
} from '../commands/index.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
  type InlinePart,
} from '../domain/answer.ts';
import { rolesIn } from '../domain/approvals.ts';
import {
  type Actor,
  type Change,
  type ChangeId,
  isChangeId,
  isPrivate,
  targetKey,
  type UserId,
  VERBS,
  type Verb,
} from '../domain/change.ts';
import { gate } from '../domain/gate.ts';
import { commandsFor } from '../domain/policy.ts';
import { serviceTarget } from '../domain/targets.ts';
import { STATE_WORDS, wordOf } from '../domain/words.ts';
import {
  type ChangeQuery,
  countChanges,
  listChanges,
  loadChange,
  requestedCommands,
} from '../log/index.ts';
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
import {
  answerChangeLog,
  filterWords,
  historyLines,
  instantOf,
  type PersonSearch,
  pastText,
  personOf,
  storyLines,
} from './history.ts';
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
  const { events } = context;
  const [pending, mine, running, unreviewed, ended] = await Promise.all([
    listChanges(events, { open: true, states: ['pending'], limit: MANY }),
    listChanges(events, {
      ...{ open: true, states: ['pending', 'approved'], limit: MANY },
      requester: actor.id,
    }),
    listChanges(events, {
      ...{ open: true, states: ['approved', 'executing', 'unknown'], limit: MANY },
    }),
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
    recent: await Promise.all(
      ended
        .filter(isVisible)
        .slice(0, RECENT)
        .map((change) => withFollowUp(context, change)),
    ),
    schedules: await schedulesFor(context, actor),
    standing: (await standingApprovals(context)).filter((each) => may('revoke', each)),
    services: await servicesFor(context, actor, [...pending, ...running]),
    costs: await costsFor(context, actor),
    more: pending.length === MANY,
    at: context.now(),
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

/** From what was read last: Home does not wait for the server. */
async function servicesFor(
  { policy, services, commandContext }: WorkflowContext,
  actor: Actor,
  open: readonly Change[],
): Promise<HomeLists['services']> {
  if (commandsFor(policy, ['service list'], actor).length === 0) return null;
  const list = await commandContext().reads.cloud.services({ stored: true });
  return servicesOverview(services(), list, open);
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

const FREQUENT = 3;

/**
 * The names of the commands that a user requested most, in order; none if the database does not answer,
 * because the help that shows them works without it.
 */
export async function frequentCommands(
  { events, log }: Pick<DecisionContext, 'events' | 'log'>,
  by: UserId,
): Promise<readonly string[]> {
  try {
    return await requestedCommands(events, by, FREQUENT);
  } catch (err) {
    log.warn({ err }, 'the most used commands could not be read');
    return [];
  }
}

/** Answers the queries about changes, and cancels changes, for `/change`. */
export function createChangesQueries(
  decisions: DecisionContext,
  named: PersonSearch['named'],
  measureEffect: MeasureEffect,
): ChangesQueries {
  const context = { ...decisions, named };
  return {
    list: (request, asker) => answerChangeList(context, request, asker),
    show: (id, asker, isDetailed = false) =>
      show(context, measureEffect, id, { asker, isDetailed }),
    cancel: (id, asker) => cancel(context, id, asker),
    latestOf: (target, asker) => {
      const key = targetKey({ organization: context.organization, plan: { target } });
      return listedFor(context, { targets: [key], limit: LATEST }, asker);
    },
    openOf: (asker) => listedFor(context, { open: true, confirmed: true, limit: MANY }, asker),
    frequent: (by) => frequentCommands(context, by),
    log: (request, asker) => answerChangeLog(context, request, asker),
  };
}

const LATEST = 5;

/** The changes of a query that this user may see: they are a part of the list of all changes. */
async function listedFor(
  context: DecisionContext,
  query: ChangeQuery & { readonly limit: number },
  { by }: Caller,
): Promise<readonly Change[]> {
  const asked = { command: 'change list', target: null, by, record: false };
  const { ok: mayList } = await authorizeQuery(context, asked);
  return mayList ? listChanges(context.events, { ...query, privateTo: by }) : [];
}

const LINES_MAX = 60;

async function show(
  context: DecisionContext,
  measureEffect: MeasureEffect,
  id: string,
  { asker, isDetailed }: { readonly asker: Caller; readonly isDetailed: boolean },
): Promise<Answer> {
  const found = await findChange(context, id, asker);
  if (!found.ok) return found.answer;
  const change = await withNews(context, await withFollowUp(context, found.change));
  const lines = await (isDetailed ? historyLines : storyLines)(context.events, change.id);
  const effect = await measureEffect(change);
  const details = { label: 'Details', line: `change show ${change.id} details` };
  return {
    title: isDetailed ? 'Evidence' : 'History',
    change: { change, hidden: await hiddenFrom(context, change, asker) },
    parts: [
      {
        kind: 'lines',
        lines: [
          ...lines.slice(-LINES_MAX),
          ...(isDetailed ? [] : [...seenLine(change), ...(await nextRunLine(context, change))]),
        ],
      },
      ...(effect === null ? [] : [{ kind: 'text', text: effect } as const]),
      ...(isDetailed ? [] : [{ kind: 'offers', offers: [details] } as const]),
    ],
  };
}

/** `The server shows: stopped`, once the target was read after the send. */
function seenLine({ state, followUp }: Change): readonly (readonly InlinePart[])[] {
  if (state !== 'succeeded' || !followUp?.seen) return [];
  return [[{ at: followUp.seen.at }, `  The server shows: ${wordOf(followUp.seen.text)}`]];
}

/** `Next run: stop`, as the card of a schedule shows it. */
async function nextRunLine(context: DecisionContext, change: Change) {
  const next = (await scheduleNews(context, change))?.next;
  return next ? [[{ at: next.at }, `  Next run: ${next.action}`]] : [];
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
  return [
    ...refused.map((verb) => `change.${verb}`),
    ...(change.requester === by ? [] : ['change.reveal']),
  ];
}

/** Cancels a change by its typed id. The answer follows the commit, as after a press. */
async function cancel(context: DecisionContext, typed: string, asker: Caller): Promise<Answer> {
  const found = await findChange(context, typed, asker);
  if (!found.ok) return found.answer;
  const { by } = asker;
  const identity = await context.people.identify(by, { fresh: false });
  const evidence = identityFacts(identity);
  const result = await advance(context, found.change.id, (change) => {
    const answer = gate(change, 'cancel', pressFacts(context, change, { by, identity, text: '' }));
    return 'refusal' in answer ? answer : { ...answer, evidence };
  });
  if (result !== null && typeof result !== 'string') {
    return {
      title: 'Cancelled',
      parts: [
        { kind: 'changes', changes: [result.change] },
        { kind: 'text', text: 'Nothing will be sent.' },
      ],
    };
  }
  const change = (await loadChange(context.events, found.change.id)) ?? found.change;
  const press = { verb: 'cancel', by } as const;
  const refusal = result ?? 'not-found';
  const denial = denialOfVerb(context, { refusal, change, press });
  await recordRefusal(context, denial, { tried: 'cancel', by, identity });
  return { title: 'Not cancelled', refused: { refusal, change, press }, parts: [] };
}

type ChangeLookup =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly answer: Answer };

/** Returns the change with this id, or an answer that offers similar ids. */
async function findChange(
  { events }: Pick<DecisionContext, 'events'>,
  typed: string,
  asker: Caller,
): Promise<ChangeLookup> {
  const id = changeIdText(typed);
  const change = isChangeId(id) ? await loadChange(events, id) : null;
  const isVisible = change && (!isPrivate(change) || change.requester === asker.by);
  if (isVisible) return { ok: true, change };
  return { ok: false, answer: await notFound({ events }, id, asker) };
}

const COMPARED = 300;
const OFFERED = 3;

async function notFound(
  { events }: Pick<DecisionContext, 'events'>,
  id: string,
  { by }: Caller,
): Promise<Answer> {
  const recent = await listChanges(events, { limit: COMPARED, privateTo: by });
  const near = nearest(
    id,
    recent.map((each) => each.id),
    OFFERED,
  );
  const own = await listChanges(events, { requester: by, limit: OFFERED });
  const offered = near.length > 0 ? recent.filter((each) => near.includes(each.id)) : own;
  const hint = near.length > 0 ? 'Did you mean one of these?' : 'Your newest requests are below.';
  const text = `There's no change “${id}”. ${offered.length > 0 ? hint : 'You have no requests.'}`;
  const offers = offered.map(({ id: other, command, plan }) => ({
    label: `${other}: ${command} ${plan.target.name}`,
    line: `change show ${other}`,
  }));
  return {
    title: 'Change not found',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

const PAGE = 20;
/** More changes are not counted. */
const COUNTED_MAX = 1_000;

type ListContext = DecisionContext & PersonSearch;
type Which = NonNullable<ListRequest['which']>;

/** Answers `/change list` with one page, newest first. */
async function answerChangeList(
  context: ListContext,
  request: ListRequest,
  asker: Caller,
): Promise<Answer> {
  const { events } = context;
  const who = request.by === null ? null : await personOf(context, request.by, asker);
  if (who && 'title' in who) return who;
  const after = request.before === null ? null : await findChange(context, request.before, asker);
  if (after && !after.ok) return after.answer;
  const person = who?.user ?? null;
  const query = {
    ...queryOf(context, request, { by: person, asker: asker.by }),
    ...(after && { before: after.change }),
  };
  const [count, shown] = await Promise.all([
    countChanges(events, query),
    listChanges(events, { ...query, limit: PAGE }),
  ]);
  const standing = whichOf(request) === 'standing' ? await standingApprovals(context) : null;
  const page = { request, person, ...(standing ? inForce(standing) : { count, shown }) };
  return { title: titleOf(page, asker), parts: partsOf(page, asker) };
}

function inForce(all: readonly Change[]) {
  return { count: all.length, shown: all.slice(0, PAGE) };
}

function hasFilter({ service, by, state, since }: ListRequest): boolean {
  return Boolean(service || by || state || since);
}

function whichOf(request: ListRequest): Which {
  return request.which ?? (hasFilter(request) ? 'all' : 'pending');
}

function queryOf(
  { organization, now }: ListContext,
  request: ListRequest,
  { by, asker }: { readonly by: UserId | null; readonly asker: UserId },
): ChangeQuery {
  const { service, state, since } = request;
  const which = whichOf(request);
  const requester = which === 'mine' ? asker : by;
  const plan = service && { target: serviceTarget(service) };
  return {
    ...(which === 'pending' ? { states: ['pending'] } : {}),
    ...(which === 'review' ? { toReview: true } : {}),
    ...(state ? { states: [state], privateTo: asker } : { confirmed: true }),
    ...(requester ? { requester } : {}),
    ...(plan ? { targets: [targetKey({ organization, plan })] } : {}),
    ...(since ? { since: instantOf(since, now()) } : {}),
  };
}

interface Page {
  readonly request: ListRequest;
  /** The user that `by=` names. */
  readonly person: UserId | null;
  readonly shown: readonly Change[];
  /** The number of changes on this and all older pages. */
  readonly count: number;
}

/** How each list is titled, its button, and what is said when it is empty. */
const LISTS: Readonly<
  Record<Which, { readonly title: string; readonly label: string | null; readonly none: string }>
> = {
  pending: {
    ...{ title: 'waiting for approval', label: 'Waiting' },
    none: 'No changes are waiting for approval.',
  },
  mine: { title: 'requested by you', label: 'Yours', none: 'You have requested no changes.' },
  all: { title: 'in total', label: 'All', none: 'There are no changes.' },
  standing: {
    ...{ title: 'allowed in advance', label: null },
    none: 'No standing approval is in force.',
  },
  review: {
    ...{ title: 'with break-glass, not yet reviewed', label: null },
    none: 'No emergency change needs a review.',
  },
};

function titleOf({ request, person, count }: Page, asker: Caller): string {
  const { service, state, since, before } = request;
  const filters = [
    ...(service ? [service.name] : []),
    ...(state ? [STATE_WORDS[state]] : []),
    ...(since ? [`since ${pastText(since)}`] : []),
  ];
  const which = person === asker.by ? 'mine' : whichOf(request);
  const kind = which === 'all' && hasFilter(request) ? [] : [LISTS[which].title];
  const words = count === 0 ? ['Changes'] : [countText(count, 'change'), ...kind];
  return `${[words.join(' '), ...filters].join(' · ')}${before === null ? '' : ` before ${before}`}`;
}

function countText(count: number, noun: string): string {
  return count > COUNTED_MAX ? `More than 1,000 ${noun}s` : countWords(count, noun);
}

function partsOf(page: Page, asker: Caller): readonly AnswerPart[] {
  const { request, person, shown, count } = page;
  const left = count > COUNTED_MAX ? count : count - shown.length;
  return [
    ...(person !== null && person !== asker.by ? [requestedBy(person)] : []),
    shown.length > 0
      ? { kind: 'changes', changes: shown }
      : {
          kind: 'text',
          text: hasFilter(request) ? 'No matching changes.' : LISTS[whichOf(request)].none,
        },
    { kind: 'offers', offers: offersFor(page, left) },
    ...(left > 0
      ? [{ kind: 'note', text: `${countText(left, 'older change')} not shown.` } as const]
      : []),
  ];
}

function requestedBy(user: UserId): AnswerPart {
  return { kind: 'lines', lines: [['Requested by ', { user }]] };
}

function offersFor({ request, shown }: Page, left: number): readonly CommandOffer[] {
  const last = shown.at(-1);
  const others = Object.entries(LISTS).flatMap(([which, { label }]) =>
    label && which !== whichOf(request) ? [{ label, line: `change list ${which}` }] : [],
  );
  return [
    ...(left > 0 && last ? [{ label: 'Older', line: olderLine(request, last.id) }] : []),
    ...others,
  ];
}

function olderLine(request: ListRequest, before: ChangeId): string {
  const { service, by, state } = request;
  const since = pastText(request.since);
  const word = state && STATE_WORDS[state];
  const filters = filterWords({ service: service?.id ?? null, by, state: word, since, before });
  return ['change list', whichOf(request), ...filters].join(' ');
}
