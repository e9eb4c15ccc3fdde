import type { Clock } from './clock.ts';

export interface Limit {
  readonly requests: number;
  readonly perMs: number;
}

/** Requests of people are sent before those of scheduled reports. */
export type Priority = 'people' | 'digest';

export type BudgetTurn = { readonly ok: true } | { readonly ok: false; readonly inMs: number };

export interface RequestBudget {
  /**
   * Resolves when one request may start. Resolves with `ok: false` when the request cannot start by
   * `until` (in the clock's milliseconds), when the queue is full, or when the signal aborts.
   * `inMs` is the earliest possible start.
   */
  take(priority: Priority, until: number, signal?: AbortSignal): Promise<BudgetTurn>;
  /** After a 429: starts no request for `ms` milliseconds. */
  pause(ms: number): void;
}

interface Waiter {
  readonly priority: Priority;
  readonly until: number;
  readonly answer: (turn: BudgetTurn) => void;
}

// More requests than a window serves before their deadlines; a longer queue only uses memory.
const MOST_WAITING = 200;

/** A sliding window: at most `requests` starts within any `perMs`. One budget per API key. */
export function createBudget(limit: Limit, clock: Pick<Clock, 'now' | 'sleep'>): RequestBudget {
  const starts: number[] = [];
  let waiting: readonly Waiter[] = [];
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let serving = false;
  let idle = new AbortController();
  // After a sleep its time counts as passed. With a clock that stands still the wait would not end.
  let sleptUntil = Number.NEGATIVE_INFINITY;

  const now = () => Math.max(clock.now(), sleptUntil);

  function nextStart(): number {
    const [oldest = 0] = starts;
    const free = starts.length < limit.requests ? now() : oldest + limit.perMs;
    return Math.max(now(), free, pausedUntil);
  }

  function dismissLate(at: number): void {
    const late = waiting.filter(({ until }) => until < at);
    waiting = waiting.filter(({ until }) => until >= at);
    for (const { answer } of late) answer({ ok: false, inMs: at - now() });
  }

  /** Removes an aborted request from the queue; an empty queue needs no timer. */
  function withdraw(waiter: Waiter): void {
    waiting = waiting.filter((other) => other !== waiter);
    waiter.answer({ ok: false, inMs: nextStart() - now() });
    if (waiting.length === 0) idle.abort();
  }

  async function sleepUntil(at: number): Promise<void> {
    idle = new AbortController();
    await clock.sleep(at - now(), idle.signal);
    if (!idle.signal.aborted) sleptUntil = at;
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
      dismissLate(at);
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
      const giveUp = () => withdraw(waiter);
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
