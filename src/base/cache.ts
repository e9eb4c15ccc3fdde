import { setTimeout as wait } from 'node:timers/promises';

/** The last values by key, in the order in which they were set. When it is full, the oldest one goes. */
export class Cache<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    const excess = Math.max(0, this.size + 1 - this.#most);
    for (const oldest of this.keys().take(excess)) this.delete(oldest);
    return super.set(key, value);
  }
}

/** The same function, which computes the last `most` results only once. They depend on the key alone. */
export function cached<Key, Value>(
  most: number,
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const results = new Cache<Key, Value>(most);
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const computed = compute(key);
    results.set(key, computed);
    return computed;
  };
}

/** How fresh a result must be. */
export interface Freshness {
  /** False: a cached result suffices. True: the result comes from a fetch that began after this call. */
  readonly fresh: boolean;
  /** With `fresh`: a fetch that began after this time suffices, also one that has ended. */
  readonly since?: Date | undefined;
}

export type SharedRead<Value> = ReturnType<typeof sharedRead<Value>>;

/** Runs a fetch, and again after each rate limit. `onWait` is called before each wait. */
export type Repeat = <Result>(fetch: () => Promise<Result>, onWait: () => void) => Promise<Result>;

/** How long a fresh read waits for others before its fetch starts. */
const GATHER_MS = 10;
/** While a rate limit lasts, a cached result of this age still suffices where none has to be fresh. */
const KEEP_LIMITED_MS = 10 * 60_000;
const RESULTS_MAX = 20_000;

interface Result<Value> {
  readonly value: Value;
  /** When its fetch began; null: unknown. */
  readonly begunAt: number | null;
  readonly keptAt: number;
}

interface Fetch<Value> {
  /** Null before it begins, and while it waits for the end of a rate limit: everyone may share it. */
  begunAt: number | null;
  readonly result: Promise<Value>;
  /** Resolves when it waits for the end of a rate limit. */
  readonly limited: PromiseWithResolvers<void>;
}

/**
 * A cache of reads by key. Concurrent callers share one fetch. A result is cached for `keepMs`; a
 * failure is not cached, so that the next caller fetches again.
 *
 * A fetch that waits for the end of a rate limit serves every fresh read that begins meanwhile. Other reads
 * do not wait for it where there is a recent result.
 */
export function sharedRead<Value>(
  fetch: (key: string) => Promise<Value>,
  keepMs: number,
  now: () => number,
  repeat: Repeat = (once) => once(),
) {
  const results = new Cache<string, Result<Value>>(RESULTS_MAX);
  const pending = new Map<string, Fetch<Value>>();

  async function run(key: string, own: Omit<Fetch<Value>, 'result'>): Promise<Value> {
    if (own.begunAt === null) await wait(GATHER_MS);
    const attempt = () => {
      own.begunAt = now();
      return fetch(key);
    };
    const value = await repeat(attempt, () => {
      own.begunAt = null;
      own.limited.resolve();
    });
    if (pending.get(key) === own) results.set(key, { value, begunAt: own.begunAt, keptAt: now() });
    return value;
  }

  function start(key: string, fresh: boolean): Fetch<Value> {
    for (const [old, { keptAt }] of results) {
      if (now() < keptAt + Math.max(keepMs, KEEP_LIMITED_MS)) break;
      results.delete(old);
    }
    const limited = Promise.withResolvers<void>();
    const own = { begunAt: fresh ? null : now(), limited };
    const started = Object.assign(own, { result: run(key, own) });
    pending.set(key, started);
    const settled = () => {
      if (pending.get(key) === started) pending.delete(key);
    };
    started.result.then(settled, settled);
    return started;
  }

  function valid(key: string): Value | null {
    const entry = results.get(key);
    return entry && now() < entry.keptAt + keepMs ? entry.value : null;
  }

  function isAfter(begunAt: number | null, since: Date | undefined): boolean {
    // A clock that was put back makes a result look newer than now.
    return since !== undefined && begunAt !== null && begunAt > since.getTime() && begunAt <= now();
  }

  async function readFresh(key: string, since: Date | undefined): Promise<Value> {
    const entry = results.get(key);
    if (entry && isAfter(entry.begunAt, since)) return entry.value;
    const running = pending.get(key);
    const isUsable = running && (running.begunAt === null || isAfter(running.begunAt, since));
    return (isUsable ? running : start(key, true)).result;
  }

  async function readCached(key: string): Promise<Value> {
    const known = valid(key);
    if (known !== null) return known;
    const { result, limited } = pending.get(key) ?? start(key, false);
    const last = results.get(key);
    if (!last || now() >= last.keptAt + KEEP_LIMITED_MS) return result;
    return Promise.race([result, limited.promise.then(() => last.value)]);
  }

  function forget(key: string): void {
    results.delete(key);
    // A fetch that has begun is older than the event, so its result is not cached either.
    if (pending.get(key)?.begunAt !== null) pending.delete(key);
  }

  return {
    /** Fresh reads within a few milliseconds share one fetch. */
    read: (key: string, { fresh, since }: Freshness) =>
      fresh ? readFresh(key, since) : readCached(key),
    /** Caches a result that the caller has read in another way, for example with a list. */
    keep: (key: string, value: Value) =>
      void results.set(key, { value, begunAt: null, keptAt: now() }),
    /** The cached result, or null where there is none that is valid now. */
    cached: valid,
    /** Drops the result after an event. A fetch that began before it is not cached, and serves no fresh read. */
    forget,
  };
}
