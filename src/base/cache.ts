import { setTimeout as wait } from 'node:timers/promises';

/** The last values by key. When it is full, it starts again. */
export class Cache<Key, Value> {
  readonly #most: number;
  readonly #values = new Map<Key, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#values.size >= this.#most) this.#values.clear();
    this.#values.set(key, value);
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

/**
 * A cache of reads by key. Concurrent callers share one fetch. A result is cached for `keepMs`; a
 * failure is not cached, so that the next caller fetches again.
 */
export interface SharedRead<Value> {
  /**
   * With `fresh`, the result comes from a fetch that starts after this call. Fresh reads within a
   * few milliseconds share one fetch.
   */
  read(key: string, how: { readonly fresh: boolean }): Promise<Value>;
  /** Caches a result that the caller has read in another way, for example with a list. */
  keep(key: string, value: Value): void;
  /** The cached result, or null where there is none that is valid now. */
  cached(key: string): Value | null;
  forget(key: string): void;
}

/** How long a fresh read waits for others before its fetch starts. */
const GATHER_MS = 10;

interface Fetch<Value> {
  isStarted: boolean;
  result: Promise<Value>;
}

/** Each fetch waits for its `turn`; fresh reads that begin during this wait share the fetch. */
export function sharedRead<Value>(
  fetch: (key: string) => Promise<Value>,
  keepMs: number,
  now: () => number,
  turn: () => Promise<void> = async () => undefined,
): SharedRead<Value> {
  const results = new Map<string, { readonly value: Value; readonly until: number }>();
  const pending = new Map<string, Fetch<Value>>();

  async function run(key: string, own: Omit<Fetch<Value>, 'result'>): Promise<Value> {
    if (!own.isStarted) await wait(GATHER_MS);
    await turn();
    own.isStarted = true;
    const value = await fetch(key);
    if (pending.get(key) === own) results.set(key, { value, until: now() + keepMs });
    return value;
  }

  function start(key: string, fresh: boolean): Promise<Value> {
    for (const [old, { until }] of results) if (now() >= until) results.delete(old);
    const own = { isStarted: !fresh };
    const result = run(key, own);
    pending.set(key, Object.assign(own, { result }));
    const settled = () => {
      if (pending.get(key) === own) pending.delete(key);
    };
    result.then(settled, settled);
    return result;
  }

  function valid(key: string): Value | null {
    const entry = results.get(key);
    return entry && now() < entry.until ? entry.value : null;
  }

  return {
    read: (key, { fresh }) => {
      const running = pending.get(key);
      if (running && (!fresh || !running.isStarted)) return running.result;
      const value = fresh ? null : valid(key);
      return value === null ? start(key, fresh) : Promise.resolve(value);
    },
    keep: (key, value) => void results.set(key, { value, until: now() + keepMs }),
    cached: valid,
    forget: (key) => {
      results.delete(key);
      // A fetch that is still running is older than the change, so its result is not cached either.
      pending.delete(key);
    },
  };
}
