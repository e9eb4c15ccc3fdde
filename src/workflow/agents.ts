// What programs may do: request a change for a person or for themselves, read it, and withdraw it. People alone decide:
// what an agent asks for a person waits for this person's *Request approval* in Slack, and what it asks for itself waits
// for approvals at once.

import { createHash } from 'node:crypto';
import { canonical } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { type ChangeCommand, type Command, fieldsOf, type TypedValues } from '../commands/index.ts';
import { countWords } from '../domain/answer.ts';
import {
  agentId,
  type Change,
  type ChangeId,
  isEnded,
  organizationOf,
  type Refusal,
  targetKey,
  type UserId,
  type Via,
} from '../domain/change.ts';
import { draftChange } from '../domain/draft.ts';
import { createDenial, type Denial, gate, type Identity } from '../domain/gate.ts';
import { commandsFor } from '../domain/policy.ts';
import type { RequestedTiming } from '../domain/timing.ts';
import {
  append,
  type ChangeQuery,
  countChanges,
  type LockedLog,
  listChanges,
  loadChange,
  type Subjects,
} from '../log/index.ts';
import { type Refused, recordRefusal, through } from './authorize.ts';
import type { WorkflowContext } from './context.ts';
import {
  advance,
  begin,
  identityFacts,
  move,
  NOTHING,
  noteMoved,
  together,
  unusedId,
} from './moves.ts';
import { withNews } from './news.ts';
import { noticeFor } from './notices.ts';
import { receiveAgentCall } from './rates.ts';
import {
  type ChangeRequest,
  decideRequest,
  type PlannedRequest,
  placeOf,
  type RequestOutcome,
} from './request.ts';
import { standingFacts, usedBy } from './standing.ts';
import { withRestore } from './witness.ts';

/** A program whose credential was checked, and for whom it calls. */
export interface AgentCaller {
  /** Its name in the configuration. */
  readonly agent: string;
  /** The subject of its credential. */
  readonly subject: string;
  /** Null: it calls for itself. */
  readonly person: UserId | null;
  /** For each person, or for itself; the agent as a whole has ten times as much. A day is one in UTC. */
  readonly limits: { readonly open: number; readonly perDay: number };
}

export interface AgentRequest {
  readonly command: ChangeCommand;
  readonly args: Readonly<Record<string, unknown>>;
  /** The values as text, as a person would type them. */
  readonly given: TypedValues;
  readonly timing?: RequestedTiming;
  readonly reason: string | null;
  /** What the agent says, as it came. */
  readonly words: string | null;
  /** The same key is the same change for seven days; null: equal values are the same open change. */
  readonly key: string | null;
  /** The same signed request was received before: it may find a change, and makes none. */
  readonly repeated?: boolean;
}

export type AgentOutcome =
  /** `created`: false for a change that exists already. It has what surrounds it. */
  | { readonly ok: true; readonly change: Change; readonly created: boolean }
  | Exclude<RequestOutcome, { readonly ok: true }>;

type Found = { readonly ok: true; readonly change: Change } | Refused;

const KEY_MS = 7 * DAY_MS;
/** What the persons of one agent may have together, as a multiple of what one may have. */
const TOGETHER = 10;

/** What a program may do, and nothing else: no call confirms, decides or resolves. */
export function agentRequests(context: WorkflowContext) {
  /** A credential may name a person by another id than the payloads of Slack: requests and keys have one. */
  const known = async (caller: AgentCaller): Promise<AgentCaller> => {
    const identity = caller.person && (await identify(context, caller));
    return identity?.ok ? { ...caller, person: identity.actor.id } : caller;
  };
  return {
    request: async (caller: AgentCaller, asked: AgentRequest) => {
      const own = await known(caller);
      return withRestore(context, () => requestByAgent(context, own, asked));
    },
    change: async (caller: AgentCaller, id: ChangeId) =>
      changeForAgent(context, await known(caller), id),
    cancel: async (caller: AgentCaller, id: ChangeId) =>
      cancelByAgent(context, await known(caller), id),
    commands: (caller: AgentCaller, all: readonly Command[]) =>
      commandsForAgent(context, caller, all),
    receive: (call: Parameters<typeof receiveAgentCall>[1]) => receiveAgentCall(context, call),
  };
}

/** Requests a change once: the same request again is the same change. */
async function requestByAgent(
  context: WorkflowContext,
  caller: AgentCaller,
  asked: AgentRequest,
): Promise<AgentOutcome> {
  const { by, via } = whoOf(caller);
  const { command, key } = asked;
  const identity = await identify(context, caller);
  const attempt = { tried: command.name, by, via, identity };
  const refuse = async (refusal: Refusal, about: Partial<Denial> = {}) => {
    const denial = createDenial(refusal, { command: command.name, ...about });
    await recordRefusal(context, denial, attempt);
    return { ok: false, denial } as const;
  };
  if (!identity.ok) return refuse(identity.refusal);
  const request: AsAgent = { ...asked, edits: null, requester: by, via, key: keyOf(caller, key) };
  const known = await sameRequest(context, context.events, caller, request);
  // Before the plan, which reads the target: what was applied already would have no effect.
  if (known === 'other') return refuse('key-used');
  if (known) return { ok: true, change: await withNews(context, known), created: false };
  if (asked.repeated) return refuse('already-received');
  const count = (query: ChangeQuery) => countChanges(context.events, query);
  const early = await limitReached(caller, count, context.now());
  if (early) return blocked(context, caller, early, attempt.tried);
  const planned = await decideRequest(context, request);
  if (!('plan' in planned)) return planned;
  const { result } = await append(context.events, (locked) =>
    recorded(context, locked, caller, { request, asked, planned }),
  );
  if ('limit' in result) return blocked(context, caller, result, attempt.tried);
  if ('refusal' in result) return refuse(result.refusal, { target: planned.plan.target.name });
  const change = await loadChange(context.events, result.id);
  if (!change) throw new Error(`The request ${result.id} cannot be read again`);
  if (result.created) noteMoved(context, null, change);
  context.wake();
  return { ok: true, change: await withNews(context, change), created: result.created };
}

/** A request of an agent; without a key it has a key of its own, which finds nothing. */
interface AsAgent extends ChangeRequest {
  readonly via: Via;
}

function whoOf({ agent, subject, person }: AgentCaller): {
  readonly by: UserId;
  readonly via: Via;
} {
  if (person === null) return { by: agentId(agent), via: { agent, subject, for: 'itself' } };
  return { by: person, via: { agent, subject, for: 'person' } };
}

/** Each call identifies the person again: a token may be older than the end of a membership. */
async function identify({ people }: WorkflowContext, caller: AgentCaller): Promise<Identity> {
  const { by, via } = whoOf(caller);
  return through(await people.identify(by, { fresh: false }), via);
}

/** Empty: the request has no key. */
function keyOf(caller: AgentCaller, key: string | null): string {
  if (key === null) return '';
  return `agent:${JSON.stringify([caller.agent, whoOf(caller).by, key])}`;
}

/**
 * The change that this request is already: that of its key, or the open one with equal values. `other`: the key belongs
 * to another request. `log` is the log, or the same under its lock.
 */
async function sameRequest(
  context: WorkflowContext,
  log: WorkflowContext['events'] | LockedLog,
  caller: AgentCaller,
  request: AsAgent,
): Promise<Change | 'other' | null> {
  if (request.key !== '') return ofKey(context, log, request);
  const { by, via } = whoOf(caller);
  const { command, args } = request;
  const target = command.resolveArguments ? null : command.target(args, context.commandContext());
  const { organization } = context;
  const targets = target && [targetKey({ organization, plan: { target } })];
  const own = { agent: via.agent, requester: by, open: true, requested: true } as const;
  const query = { ...own, ...(targets && { targets }) };
  const open = await ('find' in log
    ? foundIn(log, query)
    : listChanges(log, { ...query, limit: MANY }));
  return open.find((change) => isEqual(context, change, request)) ?? null;
}

const MANY = 200;

async function foundIn(locked: LockedLog, query: ChangeQuery): Promise<readonly Change[]> {
  const found: Change[] = [];
  for (const id of await locked.find(query, MANY)) {
    const change = await loadChange(locked, id);
    if (change) found.push(change);
  }
  return found;
}

async function ofKey(
  context: WorkflowContext,
  subjects: Subjects,
  request: AsAgent,
): Promise<Change | 'other' | null> {
  const { isOwn, id } = await lastPlace(context, subjects, request.key);
  const change = isOwn ? await loadChange(subjects, id) : null;
  if (!change) return null;
  return isEqual(context, change, request) ? change : 'other';
}

/** The id of the last change of a key that still counts, or the free one of the next. */
async function lastPlace(context: WorkflowContext, subjects: Subjects, key: string) {
  for (let place = -1; ; ) {
    const found = await placeOf(subjects, key, place);
    const change = found.isOwn ? await loadChange(subjects, found.id) : null;
    const isOver =
      change && isEnded(change) && context.now().getTime() - change.createdAt.getTime() >= KEY_MS;
    if (!isOver) return found;
    place = found.place;
  }
}

/** The same command, target and given values. A model words its reason differently each time. */
function isEqual(context: WorkflowContext, change: Change, request: AsAgent): boolean {
  const { command, args, given } = request;
  // The run of a schedule was not requested by itself.
  if (change.command !== command.name || change.plan.timing?.schedule) return false;
  const named = fieldsOf(command.args).filter(
    ({ names }) => names === 'service' || names === 'alert',
  );
  const isExact = command.resolveArguments !== undefined;
  const values = (all: Readonly<Record<string, unknown>>) => {
    const kept = Object.entries(all).filter(
      ([name]) => isExact || !named.some((field) => field.name === name),
    );
    return canonical(Object.fromEntries(kept) as Change['plan']['args']);
  };
  if (values(change.plan.args) !== values(given)) return false;
  return isExact || command.target(args, context.commandContext()).id === change.plan.target.id;
}

interface Reached {
  readonly limit: 'open' | 'perDay';
  readonly most: number;
  /** When the next request is possible; null: when one of the open ones has ended. */
  readonly until: Date | null;
}

/** Counted from the log, so that all replicas share it. What an agent asks does not count for its person. */
async function limitReached(
  { agent, person, limits }: AgentCaller,
  count: (query: ChangeQuery) => Promise<number>,
  now: Date,
): Promise<Reached | null> {
  const requester = person ?? agentId(agent);
  const since = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  for (const [of, times] of [
    [{ agent, requester }, 1],
    [{ agent }, TOGETHER],
  ] as const) {
    const [mostOpen, mostPerDay] = [limits.open * times, limits.perDay * times];
    if ((await count({ ...of, requested: true, open: true })) >= mostOpen) {
      return { limit: 'open', most: mostOpen, until: null };
    }
    if ((await count({ ...of, requested: true, since })) >= mostPerDay) {
      return { limit: 'perDay', most: mostPerDay, until: new Date(since.getTime() + DAY_MS) };
    }
  }
  return null;
}

type Recorded =
  | { readonly id: ChangeId; readonly created: boolean }
  | { readonly refusal: Refusal }
  | Reached;

/** The events of a request, unless it is there already. Equal requests of all replicas come here one after the other. */
async function recorded(
  context: WorkflowContext,
  locked: LockedLog,
  caller: AgentCaller,
  {
    request,
    asked,
    planned,
  }: { readonly request: AsAgent; readonly asked: AgentRequest; readonly planned: PlannedRequest },
) {
  const nothing = (result: Recorded) => ({ events: [], result });
  const known = await sameRequest(context, locked, caller, request);
  if (known === 'other') return nothing({ refusal: 'key-used' });
  if (known) return nothing({ id: known.id, created: false });
  const now = new Date(locked.at);
  const most = Math.max(caller.limits.open, caller.limits.perDay) * TOGETHER;
  const count = async (query: ChangeQuery) => (await locked.find(query, most)).length;
  const reached = await limitReached(caller, count, now);
  if (reached) return nothing(reached);
  const { plan, requires, identity, standing } = planned;
  const { command, requester, reason, via, key } = request;
  const organization = organizationOf(plan.target, context.organization);
  const fields = { organization, command: command.name, requester, reason };
  const { words, key: requestKey } = asked;
  const own = { plan, requires, via, words, requestKey, standing: standing?.id };
  const drafted = draftChange({ ...fields, ...own }, now);
  const facts = identityFacts(identity);
  const evidence = { ...facts, ...(key !== '' && { request: key }) };
  const id =
    key === '' ? await unusedId(context, locked) : (await lastPlace(context, locked, key)).id;
  const draft = begin(context, locked.at, id, { ...drafted, evidence });
  if (via.for === 'person') return { ...draft, result: { id, created: true } as Recorded };
  const use = await standingFacts(context, locked, draft.change, standing?.identities ?? null);
  const answer = gate(draft.change, 'submit', { by: requester, identity, standing: use });
  if ('refusal' in answer) return nothing(answer);
  const used = await usedBy(context, locked, draft.change, answer);
  const moved = move(context, locked.at, draft.change, { ...answer, evidence: facts });
  return {
    ...together({ events: draft.events, jobs: [] }, moved, used),
    result: { id, created: true } as Recorded,
  };
}

/** A blocked agent is refused each time; the log and the operators have it once a day. */
async function blocked(
  context: WorkflowContext,
  caller: AgentCaller,
  { limit, most, until }: Reached,
  tried: string,
): Promise<Refused> {
  const { by, via } = whoOf(caller);
  const { agent } = caller;
  context.measures.refused('agent-limit');
  const nameOf = (...about: readonly string[]) =>
    createHash('sha256').update(JSON.stringify(about)).digest('base64url');
  const day = context.now().toISOString().slice(0, 10);
  const notice = nameOf('agent', agent, day);
  const stream = `refusal/${nameOf('agent', agent, by, limit, day)}` as const;
  const kind = limit === 'open' ? 'open request' : 'request';
  const of = `${countWords(most, kind)}${limit === 'open' ? '' : ' per day'}`;
  const text = `The agent ${agent} is blocked for now: it reached its limit of ${of}. Its requests are refused.`;
  await append(context.events, async (locked) => {
    const isThere = async (name: typeof stream | `notice/${string}`) =>
      (await locked.load(name, () => null)).version > 0;
    const about = { by, via, tried, why: 'agent-limit', command: tried, target: null, rule: null };
    const event = { type: 'refused', ...about } as const;
    const notices = (await isThere(`notice/${notice}`))
      ? NOTHING
      : noticeFor({ to: null, title: 'Notice', text }, locked.at, notice);
    const own = (await isThere(stream)) ? NOTHING : { events: [{ stream, event }], jobs: [] };
    return { ...together(own, notices), result: null };
  });
  context.wake();
  return { ok: false, denial: createDenial('agent-limit', { command: tried, until }) };
}

/** A request of this agent, for the same person or for itself. Any other does not exist for it. */
async function changeForAgent(
  context: WorkflowContext,
  caller: AgentCaller,
  id: ChangeId,
): Promise<Found> {
  const found = await ownChange(context, caller, id);
  return found.ok ? { ok: true, change: await withNews(context, found.change) } : found;
}

async function ownChange(context: WorkflowContext, caller: AgentCaller, id: ChangeId) {
  const { by, via } = whoOf(caller);
  const identity = await identify(context, caller);
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal) } as const;
  const change = await loadChange(context.events, id);
  const isOwn = change?.via?.agent === via.agent && change.via.for === via.for;
  if (!change || !isOwn || change.requester !== by) {
    return { ok: false, denial: createDenial('not-found') } as const;
  }
  return { ok: true, change, identity } as const;
}

/** Withdraws a request of this agent that was not sent yet. */
async function cancelByAgent(
  context: WorkflowContext,
  caller: AgentCaller,
  id: ChangeId,
): Promise<Found> {
  const { by, via } = whoOf(caller);
  const found = await ownChange(context, caller, id);
  const attempt = { tried: 'cancel', by, via, identity: null };
  if (!found.ok) {
    await recordRefusal(context, found.denial, attempt);
    return found;
  }
  const { identity } = found;
  const evidence = identityFacts(identity);
  const moved = await advance(context, id, (change) => {
    const answer = gate(change, 'withdraw', { by, via, identity });
    return 'refusal' in answer ? { refusal: answer.refusal } : { ...answer, evidence };
  });
  if (moved && typeof moved !== 'string') return { ok: true, change: moved.change };
  const denial = createDenial(moved ?? 'not-found', { change: found.change });
  await recordRefusal(context, denial, attempt);
  return { ok: false, denial };
}

/** The commands that the agent may use: those of the person, and of the changes those of rules that admit the agent. */
async function commandsForAgent(
  context: WorkflowContext,
  caller: AgentCaller,
  commands: readonly Command[],
): Promise<{ readonly ok: true; readonly commands: readonly string[] } | Refused> {
  const identity = await identify(context, caller);
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal) };
  const { agent: _, ...user } = identity.actor;
  const usable = commands.filter(({ kind, name }) => {
    const actor = kind === 'change' ? identity.actor : user;
    return commandsFor(context.policy, [name], actor).length > 0;
  });
  return { ok: true, commands: usable.map(({ name }) => name) };
}
