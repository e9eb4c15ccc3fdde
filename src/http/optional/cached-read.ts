import { type SharedRead, sharedRead } from '../../base/cache.ts';
import type { Priority } from '../../base/http-limits.ts';
import type { Capabilities } from './capabilities.ts';
import type { OptionalRead, ReadOptions } from './optional-read.ts';

/** How a read is sent: the same for every optional read. */
export interface OptionalCall {
  readonly priority: Priority;
  /** A slow optional read is dropped, not awaited. */
  readonly withinMs: number;
}

export interface CachedRead<Name extends string, T> {
  readonly name: Name;
  /** How long a value is cached; 0: callers only share a read that is under way. */
  readonly keepMs: number;
  readonly send: (key: string, call: OptionalCall) => Promise<T>;
  /** True for a read of the whole organization: a refusal concerns all of its keys. */
  readonly isOfAll?: boolean;
}

const WITHIN_MS = 10_000;
const PRIORITIES = { waiting: 'people', background: 'optional' } as const;

export function callFor({ waiting = false }: ReadOptions): OptionalCall {
  const priority = waiting ? PRIORITIES.waiting : PRIORITIES.background;
  return { priority, withinMs: WITHIN_MS };
}

/** Returns a read by key that is cached, and sent once for callers that ask at the same time. */
export function cachedRead<Name extends string, T>(
  capabilities: Capabilities<Name>,
  now: () => Date,
  { name, keepMs, send, isOfAll = false }: CachedRead<Name, T>,
): (key: string, options?: ReadOptions) => Promise<OptionalRead<T>> {
  const subjectOf = (key: string) => (isOfAll ? null : key);
  const cacheFor = (options: ReadOptions): SharedRead<OptionalRead<T>> =>
    sharedRead(
      (key) =>
        capabilities.attempt(name, {
          subject: subjectOf(key),
          send: () => send(key, callFor(options)),
        }),
      keepMs,
      () => now().getTime(),
    );
  // A read for which a person waits does not wait for one with the lowest priority.
  const people = cacheFor({ waiting: true });
  const background = cacheFor({ waiting: false });

  return async (key, { fresh = false, waiting = false } = {}) => {
    const blocked = capabilities.blocked(name, fresh ? null : subjectOf(key));
    if (blocked !== null) return blocked;
    const cached = fresh ? null : (people.cached(key) ?? background.cached(key));
    if (cached !== null) return cached;
    const cache = waiting ? people : background;
    const result = await cache.read(key, { fresh });
    if (!result.known) cache.forget(key);
    return result;
  };
}
