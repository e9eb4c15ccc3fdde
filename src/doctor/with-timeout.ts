/** The result of a call with a time limit. */
export type TimedResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** A call exceeded its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(afterMs: number) {
    super(`did not answer in ${afterMs / 1_000} s`);
  }
}

/** Returns the result or error of the work, or a TimeoutError after `withinMs`. Never throws. */
export async function withinTime<T>(
  withinMs: number,
  work: () => Promise<T>,
): Promise<TimedResult<T>> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(withinMs)), withinMs);
  try {
    return { ok: true, value: await Promise.race([work(), late]) };
  } catch (error) {
    return { ok: false, error };
  } finally {
    clearTimeout(timer);
  }
}
