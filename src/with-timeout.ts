/** A call exceeded its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(afterMs: number) {
    super(`did not answer in ${afterMs / 1_000} s`);
  }
}

/**
 * Returns the result of the work, or rejects after `limitMs` milliseconds: with `TimeoutError`, or
 * with the error of `onTimeout`. The work is not cancelled, and its late result is ignored.
 */
export async function withTimeout<T>(
  limitMs: number,
  work: Promise<T>,
  onTimeout: () => Error = () => new TimeoutError(limitMs),
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(onTimeout()), limitMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of a call with a time limit. */
export type TimedResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Returns the result or error of the work, or a TimeoutError after `withinMs`. Never throws. */
export async function withinTime<T>(
  withinMs: number,
  work: () => Promise<T>,
): Promise<TimedResult<T>> {
  try {
    return { ok: true, value: await withTimeout(withinMs, work()) };
  } catch (error) {
    return { ok: false, error };
  }
}
