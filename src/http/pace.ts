import type { Clock } from './clock.ts';

interface PaceLimit {
  /** Calls that may start at once after a quiet time. */
  readonly burst: number;
  /** Milliseconds between the calls after them. */
  readonly everyMs: number;
}

interface Pace {
  /** Resolves when the next call may start. At most `burst` wait for none. */
  turn(): Promise<void>;
  /** Divides the limit by the number of replicas that share it; the burst is at least 1. */
  share(replicas: number): void;
}

export function createPace(
  { burst, everyMs }: PaceLimit,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Pace {
  let replicas = 1;
  // The time at which the whole burst is available again.
  let restored = Number.NEGATIVE_INFINITY;
  return {
    async turn() {
      const now = clock.now();
      const ownEveryMs = everyMs * replicas;
      restored = Math.max(restored, now) + ownEveryMs;
      const waitMs = restored - Math.max(1, Math.floor(burst / replicas)) * ownEveryMs - now;
      if (waitMs > 0) await clock.sleep(waitMs);
    },
    share(count) {
      replicas = count;
    },
  };
}
