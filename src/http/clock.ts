import { setTimeout as delay } from 'node:timers/promises';

/** The time and randomness that the clients use; tests pass their own. */
export interface Clock {
  /** Monotonic milliseconds with an arbitrary origin. */
  now(): number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<unknown>;
  /** A signal that aborts after `ms` milliseconds. */
  timeout(ms: number): AbortSignal;
  /** Calls `run` after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
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
  after: (ms, run) => {
    const timer = setTimeout(run, Math.ceil(ms)).unref();
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;

/** The wait after this number of failures in a row: doubled from 1 s to 30 s, less up to a half. */
export function backoffMs(failures: number, { random }: Pick<Clock, 'random'>): number {
  const fullMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1));
  return fullMs * (0.5 + random() / 2);
}
