import { setTimeout as delay } from 'node:timers/promises';

/** The time and randomness that the clients use; tests pass their own. */
export interface Clock {
  /** Monotonic milliseconds with an arbitrary origin. */
  now(): number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<unknown>;
  /** A signal that aborts after `ms` milliseconds. */
  timeout(ms: number): AbortSignal;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
  timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
  random: () => Math.random(),
};
