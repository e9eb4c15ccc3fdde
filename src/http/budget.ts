import type { Clock } from './clock.ts';

export interface Limit {
  readonly requests: number;
  readonly perMs: number;
}

/** A person who waits for an answer comes before a report that nobody watches. */
export type Priority = 'people' | 'digest';

export type Turn = { readonly ok: true } | { readonly ok: false; readonly inMs: number };

export interface Budget {
  /**
   * Resolves when one request may start, or with `ok: false` as soon as it is clear that it cannot
   * start by `until` (in the clock's milliseconds). `inMs` is the earliest that could be hoped for.
   */
  take(priority: Priority, until: number): Promise<Turn>;
  /** The server says that the window is full, so nobody starts for a while. */
  pause(ms: number): void;
}

interface Waiter {
  readonly priority: Priority;
  readonly until: number;
  readonly answer: (turn: Turn) => void;
}

/** At most `requests` starts in any stretch of `perMs`, shared by everyone who uses one key. */
export function createBudget(limit: Limit, clock: Pick<Clock, 'now' | 'sleep'>): Budget {
  const starts: number[] = [];
  let waiting: readonly Waiter[] = [];
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let serving = false;

  function nextStart(): number {
    const [oldest = 0] = starts;
    const free = starts.length < limit.requests ? clock.now() : oldest + limit.perMs;
    return Math.max(clock.now(), free, pausedUntil);
  }

  function sendAway(at: number): void {
    const late = waiting.filter(({ until }) => until < at);
    waiting = waiting.filter(({ until }) => until >= at);
    for (const { answer } of late) answer({ ok: false, inMs: at - clock.now() });
  }

  function admitOne(): void {
    const next = waiting.find(({ priority }) => priority === 'people') ?? waiting[0];
    waiting = waiting.filter((waiter) => waiter !== next);
    starts.push(clock.now());
    if (starts.length > limit.requests) starts.shift();
    next?.answer({ ok: true });
  }

  async function serve(): Promise<void> {
    if (serving) return;
    serving = true;
    while (waiting.length > 0) {
      const at = nextStart();
      sendAway(at);
      const waitMs = at - clock.now();
      if (waiting.length > 0 && waitMs > 0) await clock.sleep(waitMs);
      else if (waiting.length > 0) admitOne();
    }
    serving = false;
  }

  return {
    take(priority, until) {
      const at = nextStart();
      if (at > until) return Promise.resolve({ ok: false, inMs: at - clock.now() });
      return new Promise((answer) => {
        waiting = [...waiting, { priority, until, answer }];
        void serve();
      });
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
  };
}
