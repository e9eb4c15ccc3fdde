// What a client may reach and how often it may call: addresses, request budgets, and the pace of calls.

import { lookup } from 'node:dns';
import { once } from 'node:events';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import {
  Agent,
  buildConnector,
  EnvHttpProxyAgent,
  fetch,
  type RequestInit,
  type Response,
} from 'undici';
import type { Clock } from './time.ts';

/**
 * A dispatcher of undici that sends directly, or through the proxy that the usual variables name for the host.
 * `setGlobalProxyFromEnv` in main.ts does the same for `fetch` and everything else without its own dispatcher.
 */
export function outbound(options: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent {
  const requestTls = { allowH2: false };
  return new EnvHttpProxyAgent({ ...options, allowH2: false, proxyTunnel: true, requestTls });
}

const HERE = new Agent();

/** A request to this machine, to which no proxy leads. */
export function fetchHere(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, dispatcher: HERE });
}

/**
 * An undici connector that checks each address right before it connects (DNS can change). `allowPrivate`: private
 * network addresses are allowed as well.
 */
export function guardedConnector(
  allowPrivate: boolean,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(allowPrivate) });
  return (target, done) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    // A literal address has no DNS lookup, so it is checked here.
    if (isIP(literal) === 0 || mayReach(target.hostname, literal, allowPrivate)) {
      return connect(target, done);
    }
    done(new AddressRefusedError(target.hostname, literal), null);
  };
}

function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const refused = found.find(({ address }) => !mayReach(hostname, address, allowPrivate));
      if (refused) return done(new AddressRefusedError(hostname, refused.address), []);
      const [first] = found;
      if (options.all) return done(null, found);
      done(null, first?.address ?? '', first?.family);
    });
  };
}

/** A configured API name resolves to a forbidden address, which would receive the API key. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';

  constructor(hostname: string, address: string) {
    super(`${hostname} resolves to ${address}`);
  }
}

/** Whether a request for this name may connect to this address. */
export function mayReach(hostname: string, address: string, allowPrivate: boolean): boolean {
  if (isIP(address) === 0) return false;
  // Loopback names and loopback addresses belong together: plain HTTP is allowed for them only.
  if (isLoopbackAddress(address) || isThisMachine(hostname))
    return isLoopbackAddress(address) && isThisMachine(hostname);
  return !isNeverAllowed(address) && (allowPrivate || !isPrivate(address));
}

/** Of the host in an address: its name, or a loopback address with or without brackets. */
export function isThisMachine(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname);
}

type Range = readonly [address: string, bits: number];

const LOOPBACK: readonly Range[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];
const PRIVATE: readonly Range[] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['198.18.0.0', 15],
  ['fc00::', 7],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
];
// Unspecified, link-local, multicast and reserved ranges, and the metadata services of clouds,
// which return the credentials of the machine.
const NEVER_ALLOWED: readonly Range[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['::', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['2002::', 16],
];
const isLoopbackAddress = within(LOOPBACK);
const isPrivate = within(PRIVATE);
const isNeverAllowed = within(NEVER_ALLOWED);

function within(ranges: readonly Range[]): (address: string) => boolean {
  const list = new BlockList();
  for (const [address, bits] of ranges) {
    list.addSubnet(address, bits, versionOf(address));
  }
  return (address) => list.check(address, versionOf(address));
}

/** Of a valid address. The first `isIP` of an IPv6 address takes 13 ms, which every start would wait for. */
function versionOf(address: string) {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** At most `requests` within any `perMs` milliseconds. */
export interface Limit {
  readonly requests: number;
  /** How many of them may be reads; 70 % if it is absent. */
  readonly reads?: number;
  readonly perMs: number;
}

export const PRIORITIES = ['write', 'people', 'background', 'optional'] as const;
/**
 * Writes are sent first, then the reads of people, then background work, then reads that nothing
 * needs. The last have at most 30 % of the requests.
 */
export type Priority = (typeof PRIORITIES)[number];

type BudgetTurn =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: 'budget' | 'paused'; readonly inMs: number };

/** A request that is to start, and how many may start within `perMs` milliseconds: in all, as reads and as optional reads. */
export interface StartWindow {
  readonly priority: Priority;
  readonly requests: number;
  readonly reads: number;
  readonly optional: number;
  readonly perMs: number;
}

/**
 * The same window for all replicas that use one API key: records a start and returns 0, or returns the
 * milliseconds until the next one may start.
 */
export type SharedBudget = (window: StartWindow) => Promise<number>;

interface Start {
  readonly at: number;
  readonly priority: Priority;
}

/** When the next request may start after these, the oldest first; not before `now`. */
export function nextStart(starts: readonly Start[], window: StartWindow, now: number): number {
  const { priority, requests, reads, optional, perMs } = window;
  const last = [starts.at(-requests)];
  if (priority !== 'write') last.push(starts.filter((one) => one.priority !== 'write').at(-reads));
  if (priority === 'optional')
    last.push(starts.filter((one) => one.priority === 'optional').at(-optional));
  return Math.max(now, ...last.map((start) => (start ? start.at + perMs : now)));
}

// For each priority more requests than a window serves before their deadlines.
const MOST_WAITING = 200;
/** The part of a window that reads leave free, so that a write need not wait for them. */
const KEPT_FOR_WRITES = 0.3;
/** The part of a window that optional reads may use. */
const FOR_OPTIONAL = 0.3;

interface Waiter {
  readonly priority: Priority;
  readonly until: number;
  readonly answer: (turn: BudgetTurn) => void;
}

/**
 * A sliding window: at most `requests` starts within any `perMs`. One budget per API key. With a
 * shared window it counts the starts of all replicas; while that cannot be reached, its own only.
 */
export function createBudget(
  limit: Limit,
  clock: Pick<Clock, 'now' | 'sleep'>,
  shared: SharedBudget | null = null,
) {
  const window = {
    ...limit,
    reads: limit.reads ?? limit.requests - Math.floor(limit.requests * KEPT_FOR_WRITES),
    optional: Math.max(1, Math.floor(limit.requests * FOR_OPTIONAL)),
  };
  const starts: Start[] = [];
  let waiting: readonly Waiter[] = [];
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let serving = false;
  let idle = new AbortController();
  // After a sleep its time counts as passed. With a clock that stands still the wait would not end.
  let sleptUntil = Number.NEGATIVE_INFINITY;

  const now = () => Math.max(clock.now(), sleptUntil);

  const startOf = (priority: Priority) =>
    Math.max(pausedUntil, nextStart(starts, { ...window, priority }, now()));

  function refused(priority: Priority) {
    const why = pausedUntil > now() ? 'paused' : 'budget';
    return { ok: false, why, inMs: startOf(priority) - now() } as const;
  }

  function dismissLate(): void {
    const isLate = ({ until, priority }: Waiter) => until < startOf(priority);
    const late = waiting.filter(isLate);
    waiting = waiting.filter((waiter) => !isLate(waiter));
    for (const { answer, priority } of late) answer(refused(priority));
  }

  /** Removes an aborted request from the queue; an empty queue needs no timer. */
  function withdraw(waiter: Waiter): void {
    waiting = waiting.filter((other) => other !== waiter);
    waiter.answer(refused(waiter.priority));
    if (waiting.length === 0) idle.abort();
  }

  async function sleepUntil(at: number): Promise<void> {
    idle = new AbortController();
    const { signal } = idle;
    await Promise.race([clock.sleep(at - now(), signal), once(signal, 'abort')]);
    if (!signal.aborted) sleptUntil = at;
  }

  function admit(next: Waiter): void {
    // Aborted while its place was claimed.
    if (!waiting.includes(next)) return;
    waiting = waiting.filter((waiter) => waiter !== next);
    starts.push({ at: now(), priority: next.priority });
    if (starts.length > limit.requests) starts.shift();
    next.answer({ ok: true });
  }

  async function serve(): Promise<void> {
    if (serving) return;
    serving = true;
    for (;;) {
      dismissLate();
      const [next] = waiting.toSorted((a, b) => rank(a.priority) - rank(b.priority));
      if (!next) break;
      const at = startOf(next.priority);
      const { priority } = next;
      const claimed = at <= now() && shared?.({ ...window, priority }).catch(() => 0);
      const waitMs = claimed ? await claimed : at - now();
      if (waitMs > 0) await sleepUntil(now() + waitMs);
      else admit(next);
    }
    serving = false;
  }

  return {
    /**
     * Resolves when one request may start. Resolves with `ok: false` when the request cannot start by
     * `until` (in the clock's milliseconds), when the queue is full, or when the signal aborts.
     * `inMs` is the earliest possible start.
     */
    async take(priority: Priority, until: number, signal?: AbortSignal): Promise<BudgetTurn> {
      const at = startOf(priority);
      const full = waiting.filter((each) => each.priority === priority).length >= MOST_WAITING;
      if (full || at > until || signal?.aborted) return refused(priority);
      const { promise, resolve: answer } = Promise.withResolvers<BudgetTurn>();
      const waiter = { priority, until, answer };
      const giveUp = () => withdraw(waiter);
      signal?.addEventListener('abort', giveUp);
      // It need not wait until a request of a lower priority may start.
      if (waiting.every((each) => rank(priority) < rank(each.priority))) idle.abort();
      waiting = [...waiting, waiter];
      void serve();
      return promise.finally(() => signal?.removeEventListener('abort', giveUp));
    },
    /** After a 429: starts no request for `ms` milliseconds. */
    pause(ms: number): void {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
  };
}

function rank(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}
