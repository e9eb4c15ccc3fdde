import type { Clock } from './clock.ts';

export interface Limit {
  readonly requests: number;
  readonly perMs: number;
}

/** A person who waits for an answer comes before a report that nobody watches. */
export type Priority = 'people' | 'digest';

export type BudgetTurn = { readonly ok: true } | { readonly ok: false; readonly inMs: number };

export interface RequestBudget {
  /**
   * Resolves when one request may start, or with `ok: false` as soon as it is clear that it cannot
   * start by `until` (in the clock's milliseconds), or when the signal says that nobody waits for it
   * any more. `inMs` is the earliest that could be hoped for.
   */
  take(priority: Priority, until: number, signal?: AbortSignal): Promise<BudgetTurn>;
  /** The server says that the window is full, so nobody starts for a while. */
  pause(ms: number): void;
}

interface Waiter {
  readonly priority: Priority;
  readonly until: number;
  readonly answer: (turn: BudgetTurn) => void;
}

// More than any window serves before whoever waits gives up: the rest would only fill the memory.
const MOST_WAITING = 200;

/** At most `requests` starts in any stretch of `perMs`, shared by everyone who uses one key. */
export function createBudget(limit: Limit, clock: Pick<Clock, 'now' | 'sleep'>): RequestBudget {
  const starts: number[] = [];
  let waiting: readonly Waiter[] = [];
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let serving = false;
  let doze = new AbortController();
  // What was slept through has passed: by a clock that stands still the wait would never end.
  let sleptUntil = Number.NEGATIVE_INFINITY;

  const now = () => Math.max(clock.now(), sleptUntil);

  function nextStart(): number {
    const [oldest = 0] = starts;
    const free = starts.length < limit.requests ? now() : oldest + limit.perMs;
    return Math.max(now(), free, pausedUntil);
  }

  function sendAway(at: number): void {
    const late = waiting.filter(({ until }) => until < at);
    waiting = waiting.filter(({ until }) => until >= at);
    for (const { answer } of late) answer({ ok: false, inMs: at - now() });
  }

  /** Who does not wait any more keeps no place, and when nobody waits there is no timer either. */
  function leave(waiter: Waiter): void {
    waiting = waiting.filter((other) => other !== waiter);
    waiter.answer({ ok: false, inMs: nextStart() - now() });
    if (waiting.length === 0) doze.abort();
  }

  async function sleepUntil(at: number): Promise<void> {
    doze = new AbortController();
    await clock.sleep(at - now(), doze.signal);
    if (!doze.signal.aborted) sleptUntil = at;
  }

  function admitOne(): void {
    const next = waiting.find(({ priority }) => priority === 'people') ?? waiting[0];
    waiting = waiting.filter((waiter) => waiter !== next);
    starts.push(now());
    if (starts.length > limit.requests) starts.shift();
    next?.answer({ ok: true });
  }

  async function serve(): Promise<void> {
    if (serving) return;
    serving = true;
    while (waiting.length > 0) {
      const at = nextStart();
      sendAway(at);
      if (waiting.length > 0 && at > now()) await sleepUntil(at);
      else if (waiting.length > 0) admitOne();
    }
    serving = false;
  }

  return {
    async take(priority, until, signal) {
      const at = nextStart();
      const full = waiting.length >= MOST_WAITING;
      if (full || at > until || signal?.aborted) return { ok: false, inMs: at - now() };
      const { promise, resolve: answer } = Promise.withResolvers<BudgetTurn>();
      const waiter = { priority, until, answer };
      const giveUp = () => leave(waiter);
      signal?.addEventListener('abort', giveUp);
      waiting = [...waiting, waiter];
      void serve();
      return promise.finally(() => signal?.removeEventListener('abort', giveUp));
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
  };
}
