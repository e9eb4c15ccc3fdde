// What programs may do: request a change for a person or for themselves, read it, and withdraw it. People alone decide:
// what an agent asks for a person waits for this person's *Request approval* in Slack, and what it asks for itself waits
// for approvals at once.

import { hash } from 'node:crypto';
import { canonical, type JsonObject } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import { type Command, fieldsOf } from '../commands/index.ts';
import { countWords } from '../domain/answer.ts';
import {
  agentId,
  type Change,
  type ChangeId,
  isEnded,
  type Refusal,
  targetKey,
  type UserId,
  type Via,
} from '../domain/change.ts';
import { createDenial, gate, type Identity } from '../domain/gate.ts';
import { commandsFor } from '../domain/policy.ts';
import {
  append,
  type ChangeQuery,
  type LockedLog,
  loadChange,
  type NewEvents,
  type Subjects,
} from '../log/index.ts';
import { denied, type Refused, refused, through } from './authorize.ts';
import type { WorkflowContext } from './context.ts';
import { advance, identityFacts, move, noteMoved, together, unusedId } from './moves.ts';
import { withNews } from './news.ts';
import { appendOnce, notifyOnce } from './notices.ts';
import { receiveAgentCall } from './rates.ts';
import {
  type ChangeRequest,
  decideRequest,
  draftOf,
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

/** The values are text, as a person would type them. */
export interface AgentRequest
  extends Pick<ChangeRequest, 'command' | 'args' | 'given' | 'timing' | 'reason'> {
  /** What the agent says, as it came. */
  readonly words: string | null;
  /** The same key is the same change for seven days; null: equal values are the same open change. */
  readonly key: string | null;
  /** The same signed request was received before: it may find a change, and makes none. */
  readonly repeated?: boolean;
}

type AgentOutcome =
  /** `created`: false for a change that exists already. It has what surrounds it. */
  | { readonly ok: true; readonly change: Change; readonly created: boolean }
  | Exclude<RequestOutcome, { readonly ok: true }>;

/** The caller as it was identified: a credential may name a person by another id than the payloads of Slack. */
interface Caller extends AgentCaller {
  readonly by: UserId;
  readonly via: Via;
  readonly identity: Identity;
}

const KEY_MS = 7 * DAY_MS;
/** What the persons of one agent may have together, as a multiple of what one may have. */
const TOGETHER = 10;

/** What a program may do, and nothing else: no call confirms, decides or resolves. */
export function agentRequests(context: WorkflowContext) {
  /** Each call identifies the person again: a token may be older than the end of a membership. */
  const identified = async (caller: AgentCaller): Promise<Caller> => {
    const { agent, subject, person } = caller;
    const via = { agent, subject, for: person === null ? 'itself' : 'person' } as const;
    const named = person ?? agentId(agent);
    const identity = through(await context.people.identify(named, { fresh: false }), via);
    return { ...caller, via, identity, by: identity.ok ? identity.actor.id : named };
  };
  return {
    request: async (caller: AgentCaller, asked: AgentRequest) => {
      const own = await identified(caller);
      return withRestore(context, () => requestByAgent(context, own, asked));
    },
    change: async (caller: AgentCaller, id: ChangeId) => {
      const found = await ownChange(context, await identified(caller), id);
      return found.ok ? { ...found, change: await withNews(context, found.change) } : found;
    },
    cancel: async (caller: AgentCaller, id: ChangeId) =>
      cancelByAgent(context, await identified(caller), id),
    /** Those of the person, and of the changes those of rules that admit the agent. */
    commands: async (caller: AgentCaller, all: readonly Command[]) => {
      const { identity } = await identified(caller);
      if (!identity.ok) return denied(identity.refusal);
      const { agent: _, ...user } = identity.actor;
      const usable = all.filter(({ kind, name }) => {
        const actor = kind === 'change' ? identity.actor : user;
        return commandsFor(context.policy, [name], actor).length > 0;
      });
      return { ok: true, commands: usable.map(({ name }) => name) } as const;
    },
    receive: (call: Parameters<typeof receiveAgentCall>[1]) => receiveAgentCall(context, call),
  };
}

/** Requests a change once: the same request again is the same change. */
async function requestByAgent(
  context: WorkflowContext,
  caller: Caller,
  asked: AgentRequest,
): Promise<AgentOutcome> {
  const { agent, by, via, identity } = caller;
  const { name: command } = asked.command;
  const refuse = (refusal: Refusal, target: string | null = null) =>
    refused(context, createDenial(refusal, { command, target }), { ...caller, tried: command });
  if (!identity.ok) return refuse(identity.refusal);
  const key = asked.key === null ? '' : `agent:${JSON.stringify([agent, by, asked.key])}`;
  const own = { edits: null, requester: by, via, key, requestKey: asked.key };
  const request: ChangeRequest = { ...asked, ...own };
  const asks = { ...caller, repeated: asked.repeated === true };
  const decide = async (planned: PlannedRequest | null) => {
    const { result } = await append(context.events, (locked) =>
      recorded(context, locked, asks, request, planned),
    );
    return result;
  };
  // Before the plan, which reads the target: what was applied already would have no effect.
  const early = await decide(null);
  const planned = early ? null : await decideRequest(context, request);
  if (planned && !('plan' in planned)) return planned;
  const result = early ?? (await decide(planned));
  if (!result) throw new Error('A planned request has a result');
  if ('limit' in result) return blocked(context, caller, result, command);
  if ('refusal' in result) return refuse(result.refusal, planned?.plan.target.name);
  const { id, created } = result;
  const change = await loadChange(context.events, id);
  if (!change) throw new Error(`The request ${id} cannot be read again`);
  if (created) noteMoved(context, null, change);
  context.wake();
  return { ok: true, change: await withNews(context, change), created };
}

/**
 * The change that this request is already: that of its key, or the open one with equal values. `other`: the key belongs
 * to another request.
 */
async function sameRequest(
  context: WorkflowContext,
  locked: LockedLog,
  { by, via }: Caller,
  request: ChangeRequest,
): Promise<Change | 'other' | null> {
  const { command, args, key } = request;
  if (key !== '') {
    const { isOwn, id } = await lastPlace(context, locked, key);
    const change = isOwn ? await loadChange(locked, id) : null;
    return change && !isEqual(context, change, request) ? 'other' : change;
  }
  const target = command.resolveArguments ? null : command.target(args, context.commandContext());
  const { organization } = context;
  const targets = target && [targetKey({ organization, plan: { target } })];
  const own = { agent: via.agent, requester: by, open: true, requested: true } as const;
  const ids = await locked.find({ ...own, ...(targets && { targets }) }, MANY);
  const open = await Promise.all(ids.map((id) => loadChange(locked, id)));
  return open.find((change) => change && isEqual(context, change, request)) ?? null;
}

const MANY = 200;

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
function isEqual(context: WorkflowContext, change: Change, request: ChangeRequest): boolean {
  const { command, args, given } = request;
  // The run of a schedule was not requested by itself.
  if (change.command !== command.name || change.plan.timing?.schedule) return false;
  const isExact = command.resolveArguments !== undefined;
  // The target stands for the names of these fields.
  const named = fieldsOf(command.args).filter(
    ({ names }) => !isExact && (names === 'service' || names === 'alert'),
  );
  const values = (all: JsonObject) =>
    canonical({ ...all, ...Object.fromEntries(named.map(({ name }) => [name, null])) });
  if (values(change.plan.args) !== values(given as JsonObject)) return false;
  return isExact || command.target(args, context.commandContext()).id === change.plan.target.id;
}

interface Reached {
  /** `2 open requests`, `30 requests per day` */
  readonly limit: string;
  /** When the next request is possible; null: when one of the open ones has ended. */
  readonly until: Date | null;
}

/** Counted from the log, so that all replicas share it. What an agent asks does not count for its person. */
async function limitReached(
  locked: LockedLog,
  { agent, by, limits }: Caller,
): Promise<Reached | null> {
  const most = Math.max(limits.open, limits.perDay) * TOGETHER;
  const count = async (query: ChangeQuery) => (await locked.find(query, most)).length;
  const since = new Date(dayOf(new Date(locked.at)));
  const until = new Date(since.getTime() + DAY_MS);
  for (const [of, times] of [
    [{ agent, requester: by, requested: true }, 1],
    [{ agent, requested: true }, TOGETHER],
  ] as const) {
    const [open, perDay] = [limits.open * times, limits.perDay * times];
    if ((await count({ ...of, open: true })) >= open)
      return { limit: countWords(open, 'open request'), until: null };
    if ((await count({ ...of, since })) >= perDay)
      return { limit: `${countWords(perDay, 'request')} per day`, until };
  }
  return null;
}

type Recorded =
  | { readonly id: ChangeId; readonly created: boolean }
  | { readonly refusal: Refusal }
  | Reached;

/**
 * The events of a request, unless it is there already. Equal requests of all replicas come here one after the other.
 * Nothing is recorded for one that has no plan yet.
 */
async function recorded(
  context: WorkflowContext,
  locked: LockedLog,
  caller: Caller & { readonly repeated: boolean },
  request: ChangeRequest,
  planned: PlannedRequest | null,
): Promise<NewEvents<Recorded | null>> {
  const nothing = (result: Recorded | null) => ({ events: [], result });
  const known = await sameRequest(context, locked, caller, request);
  if (known === 'other') return nothing({ refusal: 'key-used' });
  if (known) return nothing({ id: known.id, created: false });
  if (caller.repeated) return nothing({ refusal: 'already-received' });
  const reached = await limitReached(locked, caller);
  if (reached || !planned) return nothing(reached);
  const { key, requester: by } = request;
  const id = key ? (await lastPlace(context, locked, key)).id : await unusedId(context, locked);
  const draft = draftOf(context, locked, id, request, planned);
  const result = { id, created: true };
  if (caller.via.for === 'person') return { ...draft, result };
  const { identity, standing } = planned;
  const use = await standingFacts(context, locked, draft.change, standing?.identities ?? null);
  const answer = gate(draft.change, 'submit', { by, identity, standing: use });
  if ('refusal' in answer) return nothing(answer);
  const used = await usedBy(context, locked, draft.change, answer);
  const evidence = identityFacts(identity);
  const moved = move(context, locked.at, draft.change, { ...answer, evidence });
  return { ...together({ events: draft.events, jobs: [] }, moved, used), result };
}

/** A blocked agent is refused each time; the log and the operators have it once a day. */
async function blocked(
  context: WorkflowContext,
  { agent, by, via }: Caller,
  { limit, until }: Reached,
  tried: string,
): Promise<Refused> {
  context.measures.refused('agent-limit');
  const day = dayOf(context.now());
  const text = `The agent ${agent} is blocked for now: it reached its limit of ${limit}. Its requests are refused.`;
  const about = { by, via, tried, why: 'agent-limit', command: tried, target: null, rule: null };
  const event = { type: 'refused', ...about } as const;
  const id = hash('sha256', JSON.stringify([agent, by, limit, day]), 'base64url');
  const stream = `refusal/${id}` as const;
  await appendOnce(context, stream, () => ({ events: [{ stream, event }], jobs: [] }));
  await notifyOnce(context, `agent ${agent} ${day}`, [{ to: null, title: 'Notice', text }]);
  return denied('agent-limit', { command: tried, until });
}

/** A request of this agent, for the same person or for itself. Any other does not exist for it. */
async function ownChange(
  { events }: WorkflowContext,
  { by, via, identity }: Caller,
  id: ChangeId,
): Promise<{ readonly ok: true; readonly change: Change } | Refused> {
  if (!identity.ok) return denied(identity.refusal);
  const change = await loadChange(events, id);
  const isOwn = change?.via?.agent === via.agent && change.via.for === via.for;
  if (!change || !isOwn || change.requester !== by) return denied('not-found');
  return { ok: true, change };
}

/** Withdraws a request of this agent that was not sent yet. */
async function cancelByAgent(context: WorkflowContext, caller: Caller, id: ChangeId) {
  const { by, via, identity } = caller;
  const found = await ownChange(context, caller, id);
  const attempt = { ...caller, tried: 'cancel' };
  if (!found.ok) return refused(context, found.denial, attempt);
  const evidence = identityFacts(identity);
  const moved = await advance(context, id, (change) => {
    const answer = gate(change, 'withdraw', { by, via, identity });
    return 'refusal' in answer ? { refusal: answer.refusal } : { ...answer, evidence };
  });
  if (moved && typeof moved !== 'string') return { ok: true, change: moved.change } as const;
  const denial = createDenial(moved ?? 'not-found', { change: found.change });
  return refused(context, denial, attempt);
}
