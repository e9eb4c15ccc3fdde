// How often a user may do something. Counters are a cache that all replicas share: without them, nobody is refused.

import type { UserId } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import {
  addToRateCounters,
  pruneRateCounters,
  type StoreTx,
  subtractFromRateCounter,
  transaction,
} from '../storage/index.ts';
import { recordRefusal } from './authorize.ts';
import type { DecisionContext } from './context.ts';

/**
 * More than any user does manually, so that only a broken or stolen account reaches it. `ofAll` is
 * the total of all users: many broken accounts together must not fill the database.
 */
const RATE_LIMITS = {
  /** Presses that decide. Each one is stored before Slack gets its answer. */
  press: { most: 30, ofAll: 3_000, withinMs: 60_000 },
  /** Drafts. Each one reads its target and is stored. */
  draft: { most: 20, ofAll: 1_000, withinMs: 600_000 },
  /** Commands, forms and buttons that only read, perhaps from an API with a request budget. */
  command: { most: 60, ofAll: null, withinMs: 60_000 },
  /** Costs that are read again before the stored copy is old; a year takes 12 reads. */
  refresh: { most: 3, ofAll: 30, withinMs: 600_000 },
} as const;
type RateLimitedAction = keyof typeof RATE_LIMITS;

/**
 * `limited`: the first action above the limit of this window, which is recorded and answered.
 * `muted`: all later ones, which are neither recorded nor answered, so that a flood cannot fill the
 * log.
 */
export type RateLimitStatus = 'ok' | 'limited' | 'muted';

/** Counts one action, or several at once, and returns the status of the last one. */
export async function countAttempts(
  context: DecisionContext,
  kind: RateLimitedAction,
  by: UserId,
  more = 1,
): Promise<RateLimitStatus> {
  const counted = { kind, since: windowStart(kind, context.now()), by, more };
  const { status, recorded } = await transaction(context.store, (tx) => count(tx, counted));
  if (recorded !== null) {
    const attempt = { tried: recorded, by, identity: null };
    await recordRefusal(context, createDenial('rate-limited'), attempt);
  }
  return status;
}

function windowStart(kind: RateLimitedAction, now: Date): Date {
  const { withinMs } = RATE_LIMITS[kind];
  return new Date(Math.floor(now.getTime() / withinMs) * withinMs);
}

interface Counted {
  readonly kind: RateLimitedAction;
  readonly since: Date;
  readonly by: UserId;
  readonly more: number;
}

/** `recorded`: the limit that was reached just now, as its refusal names it. */
interface Limited {
  readonly status: RateLimitStatus;
  readonly recorded: string | null;
}

/** Stands for all users among the rate counters. No user has this id. */
const EVERYONE = '*';

/**
 * The total of all users counts only actions within the user's own limit, so that one user alone cannot lock out the
 * others. Every action above the total is answered.
 */
async function count(tx: StoreTx, { kind, since, by, more }: Counted): Promise<Limited> {
  const { most, ofAll } = RATE_LIMITS[kind];
  const added = ofAll === null ? [by] : [by, EVERYONE];
  const all = new Map(added.map((user) => [user, more]));
  const counts = await addToRateCounters(tx, { kind, since, more: all });
  const own = counts.get(by) ?? 0;
  if (own > most) {
    const less = { kind, since, user: EVERYONE, less: more };
    if (ofAll !== null) await subtractFromRateCounter(tx, less);
    const isFirst = own - more <= most;
    return isFirst ? { status: 'limited', recorded: kind } : { status: 'muted', recorded: null };
  }
  const total = counts.get(EVERYONE) ?? 0;
  if (ofAll === null || total <= ofAll) return { status: 'ok', recorded: null };
  const isFirst = total - more <= ofAll;
  return { status: 'limited', recorded: isFirst ? `${kind} of all` : null };
}

/** Counts one action. If it is above a limit: when the next one is possible, else null. */
export async function limitedUntil(
  context: DecisionContext,
  kind: RateLimitedAction,
  by: UserId,
): Promise<Date | null> {
  const since = windowStart(kind, context.now());
  const status = await countAttempts(context, kind, by);
  return status === 'ok' ? null : new Date(since.getTime() + RATE_LIMITS[kind].withinMs);
}

/**
 * Commands per user and minute that each replica counts in memory only. A database commit for every
 * command would cost more than the flood that it prevents.
 */
const UNCOUNTED = 20;

interface Minute {
  readonly since: number;
  readonly counts: Map<UserId, number>;
  readonly limited: Set<UserId>;
}

const minutes = new WeakMap<DecisionContext, Minute>();

/** Counts one command, form or reading button of a user and returns its status. */
export async function countCommand(context: DecisionContext, by: UserId): Promise<RateLimitStatus> {
  const { counts, limited } = minuteOf(context);
  if (limited.has(by)) return 'muted';
  const own = (counts.get(by) ?? 0) + 1;
  counts.set(by, own);
  if (own < UNCOUNTED) return 'ok';
  const status = await countAttempts(context, 'command', by, own === UNCOUNTED ? UNCOUNTED : 1);
  if (status !== 'ok') limited.add(by);
  return status;
}

function minuteOf(context: DecisionContext): Minute {
  const since = windowStart('command', context.now()).getTime();
  const known = minutes.get(context);
  if (known?.since === since) return known;
  const minute = { since, counts: new Map(), limited: new Set<UserId>() };
  minutes.set(context, minute);
  return minute;
}

const AGENT_WINDOW_MS = 60_000;
/** All persons of one agent together may call this many times as often as one of them. */
const AGENT_PEOPLE = 10;

interface AgentCall {
  readonly agent: string;
  readonly person: UserId | null;
  /** Calls per minute. */
  readonly most: number;
  /** Of a signed request: what names it, and its time. Null: its credential may be used again. */
  readonly delivery: { readonly key: string; readonly at: Date } | null;
}

/**
 * Counts one call of an agent, apart from what its person does in Slack, and remembers a signed request for all
 * replicas. `limitedUntil`: when the next call is possible. `repeated`: this request was received before.
 */
export async function receiveAgentCall(
  { store, now }: Pick<DecisionContext, 'store' | 'now'>,
  { agent, person, most, delivery }: AgentCall,
): Promise<{ readonly limitedUntil: Date | null; readonly repeated: boolean }> {
  const since = new Date(Math.floor(now().getTime() / AGENT_WINDOW_MS) * AGENT_WINDOW_MS);
  const [own, all] = [`${agent}|${person ?? ''}`, `${agent}|${EVERYONE}`];
  return transaction(store, async (tx) => {
    const counted = { kind: 'agent', since };
    const more = new Map([own, all].map((who) => [who, 1]));
    const counts = await addToRateCounters(tx, { ...counted, more });
    const isOver = (counts.get(own) ?? 0) > most;
    // One person must not use up the calls of the others.
    if (isOver) await subtractFromRateCounter(tx, { ...counted, user: all, less: 1 });
    const limited = isOver || (counts.get(all) ?? 0) > most * AGENT_PEOPLE;
    if (limited) {
      return { limitedUntil: new Date(since.getTime() + AGENT_WINDOW_MS), repeated: false };
    }
    if (delivery === null) return { limitedUntil: null, repeated: false };
    const { key, at } = delivery;
    const received = { kind: 'delivery', since: at, more: new Map([[key, 1]]) };
    const times = await addToRateCounters(tx, received);
    return { limitedUntil: null, repeated: (times.get(key) ?? 0) > 1 };
  });
}

/** Drops the counters of windows that have ended. */
export async function pruneRates({ store, now }: DecisionContext): Promise<void> {
  const longest = Math.max(...Object.values(RATE_LIMITS).map(({ withinMs }) => withinMs));
  const before = new Date(now().getTime() - 2 * longest);
  await transaction(store, (tx) => pruneRateCounters(tx, before));
}
