export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

export interface Admission {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the oldest request of the window leaves it. */
  readonly resetMs: number;
}

/** A sliding window for each key; a refused request does not count. */
export function createRateLimiter(): (key: string, limit: RateLimit, now: Date) => Admission {
  const seen = new Map<string, readonly number[]>();
  return (key, { requests, perMs }, now) => {
    const at = now.getTime();
    const window = (seen.get(key) ?? []).filter((time) => at - time < perMs);
    const allowed = window.length < requests;
    const counted = allowed ? [...window, at] : window;
    seen.set(key, counted);
    const oldest = counted[0] ?? at;
    return { allowed, remaining: requests - counted.length, resetMs: oldest + perMs - at };
  };
}
