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
  const { withinMs, ...limits } = RATE_LIMITS[kind];
  const since = windowStart(context, withinMs);
  const counted = { kind, since, own: by, all: EVERYONE, more, ...limits };
  const { over, isFirst } = await transaction(context.store, (tx) => count(tx, counted));
  if (isFirst) {
    // The limit that was reached just now.
    const tried = over === 'all' ? `${kind} of all` : kind;
    await recordRefusal(context, createDenial('rate-limited'), { tried, by, identity: null });
  }
  if (over === null) return 'ok';
  return over === 'own' && !isFirst ? 'muted' : 'limited';
}

function windowStart({ now }: Pick<DecisionContext, 'now'>, withinMs: number): Date {
  return new Date(Math.floor(now().getTime() / withinMs) * withinMs);
}

/** Stands for all users among the rate counters. No user has this id. */
const EVERYONE = '*';

interface Counted {
  readonly kind: string;
  readonly since: Date;
  readonly own: string;
  readonly all: string;
  readonly more: number;
  readonly most: number;
  readonly ofAll: number | null;
}

/**
 * Which limit is exceeded now, and whether it was not before. The total of all users counts only actions within the
 * user's own limit, so that one user alone cannot lock out the others. Every action above the total is answered.
 */
async function count(
  tx: StoreTx,
  { kind, since, own, all, more, most, ofAll }: Counted,
): Promise<{ readonly over: 'own' | 'all' | null; readonly isFirst: boolean }> {
  const added = new Map((ofAll === null ? [own] : [own, all]).map((user) => [user, more]));
  const counts = await addToRateCounters(tx, { kind, since, more: added });
  const before = (counts.get(own) ?? 0) - more;
  if (before + more > most) {
    if (ofAll !== null) await subtractFromRateCounter(tx, { kind, since, user: all, less: more });
    return { over: 'own', isFirst: before <= most };
  }
  const beforeOfAll = (counts.get(all) ?? 0) - more;
  const isOver = ofAll !== null && beforeOfAll + more > ofAll;
  return { over: isOver ? 'all' : null, isFirst: isOver && beforeOfAll <= ofAll };
}

/** Counts one action. If it is above a limit: when the next one is possible, else null. */
export async function limitedUntil(
  context: DecisionContext,
  kind: RateLimitedAction,
  by: UserId,
): Promise<Date | null> {
  const { withinMs } = RATE_LIMITS[kind];
  const since = windowStart(context, withinMs);
  const status = await countAttempts(context, kind, by);
  return status === 'ok' ? null : new Date(since.getTime() + withinMs);
}

/**
 * Commands per user and minute that each replica counts in memory only. A database commit for every
 * command would cost more than the flood that it prevents.
 */
const UNCOUNTED = 20;

/** Of the current minute. A user who is limited has an infinite count. */
const minutes = new WeakMap<DecisionContext, { since: number; counts: Map<UserId, number> }>();

/** Counts one command, form or reading button of a user and returns its status. */
export async function countCommand(context: DecisionContext, by: UserId): Promise<RateLimitStatus> {
  const since = windowStart(context, RATE_LIMITS.command.withinMs).getTime();
  const known = minutes.get(context);
  const { counts } = known?.since === since ? known : { counts: new Map<UserId, number>() };
  minutes.set(context, { since, counts });
  const own = (counts.get(by) ?? 0) + 1;
  counts.set(by, own);
  if (own === Number.POSITIVE_INFINITY) return 'muted';
  if (own < UNCOUNTED) return 'ok';
  const status = await countAttempts(context, 'command', by, own === UNCOUNTED ? UNCOUNTED : 1);
  if (status !== 'ok') counts.set(by, Number.POSITIVE_INFINITY);
  return status;
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
  context: Pick<DecisionContext, 'store' | 'now'>,
  { agent, person, most, delivery }: AgentCall,
): Promise<{ readonly limitedUntil: Date | null; readonly repeated: boolean }> {
  const since = windowStart(context, AGENT_WINDOW_MS);
  const [own, all] = [`${agent}|${person ?? ''}`, `${agent}|${EVERYONE}`];
  return transaction(context.store, async (tx) => {
    const limits = { most, ofAll: most * AGENT_PEOPLE };
    const { over } = await count(tx, { kind: 'agent', since, own, all, more: 1, ...limits });
    const until = over === null ? null : new Date(since.getTime() + AGENT_WINDOW_MS);
    if (until || !delivery) return { limitedUntil: until, repeated: false };
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
