export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

interface Admission {
  readonly allowed: boolean;
  readonly remaining: number;
  /** The time until the oldest request leaves the window. */
  readonly resetMs: number;
}

/** Limits the requests of each key in a sliding window. A refused request does not count. */
export function createRateLimiter(): (key: string, limit: RateLimit, now: Date) => Admission {
  const accepted = new Map<string, readonly number[]>();
  return (key, { requests, perMs }, now) => {
    const at = now.getTime();
    const window = (accepted.get(key) ?? []).filter((time) => at - time < perMs);
    const allowed = window.length < requests;
    const counted = allowed ? [...window, at] : window;
    accepted.set(key, counted);
    const oldest = counted[0] ?? at;
    return { allowed, remaining: requests - counted.length, resetMs: oldest + perMs - at };
  };
}
