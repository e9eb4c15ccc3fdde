/** What became of a question: its answer, or why there is none. */
export type TimedResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** A class, so that it is told from what the other side answers. */
export class TimeoutError extends Error {
  override readonly name = 'DidNotAnswer';
  readonly afterMs: number;

  constructor(afterMs: number) {
    super(`did not answer in ${afterMs / 1_000} s`);
    this.afterMs = afterMs;
  }
}

/** Never throws and never takes longer: whatever hangs is left behind. */
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
