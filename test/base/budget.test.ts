import { describe, expect, test, vi } from 'vitest';
import { createBudget } from '../../src/base/http-limits.ts';

/** A clock that tests advance; it wakes the sleepers whose time has come. */
function handClock() {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number) => new Promise<void>((wake) => void sleepers.push({ at: now + ms, wake })),
    async advance(ms: number) {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
      await settled();
    },
  };
}

async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const NEVER = Number.POSITIVE_INFINITY;

/** A budget of so many requests in ten seconds. */
function opened(requests: number) {
  const clock = handClock();
  return { clock, budget: createBudget({ requests, perMs: 10_000 }, clock) };
}

test('ten requests start at once, the eleventh when the first leaves the window', async () => {
  const { clock, budget } = opened(10);
  const started: number[] = [];
  for (let n = 1; n <= 11; n += 1) void budget.take('write', NEVER).then(() => started.push(n));
  await settled();
  expect(started).toHaveLength(10);
  await clock.advance(9_999);
  expect(started).toHaveLength(10);
  await clock.advance(1);
  expect(started).toHaveLength(11);
});

test('the window slides: a late start frees its slot late', async () => {
  const { clock, budget } = opened(2);
  const started: string[] = [];
  const take = (name: string) => void budget.take('people', NEVER).then(() => started.push(name));
  take('at 0');
  await clock.advance(6_000);
  for (const name of ['at 6', 'then', 'last']) take(name);
  await clock.advance(4_000);
  expect(started).toEqual(['at 0', 'at 6', 'then']);
  await clock.advance(5_999);
  expect(started).toHaveLength(3);
  await clock.advance(1);
  expect(started).toEqual(['at 0', 'at 6', 'then', 'last']);
});

test('reads leave three of ten places to writes, which start at once', async () => {
  const { clock, budget } = opened(10);
  const reads: number[] = [];
  for (let n = 1; n <= 10; n += 1) void budget.take('people', NEVER).then(() => reads.push(n));
  await settled();
  expect(reads).toHaveLength(7);
  for (let n = 1; n <= 3; n += 1) expect(await budget.take('write', 0)).toEqual({ ok: true });
  expect(await budget.take('write', 9_999)).toEqual({ ok: false, why: 'budget', inMs: 10_000 });
  await clock.advance(10_000);
  expect(reads).toHaveLength(10);
});

test('optional reads have three of ten places, and a read of a person starts at once', async () => {
  const { clock, budget } = opened(10);
  const optional: number[] = [];
  for (let n = 1; n <= 5; n += 1) void budget.take('optional', NEVER).then(() => optional.push(n));
  await settled();
  expect(optional).toEqual([1, 2, 3]);
  const started: string[] = [];
  for (const priority of ['background', 'people', 'write'] as const) {
    void budget.take(priority, clock.now()).then(({ ok }) => started.push(`${priority} ${ok}`));
    await settled();
    expect(started).toContain(`${priority} true`);
  }
  await clock.advance(10_000);
  expect(optional).toEqual([1, 2, 3, 4, 5]);
});

test('writes start before waiting reads, these before background work, optional reads last', async () => {
  const { clock, budget } = opened(1);
  const started: string[] = [];
  await budget.take('people', NEVER);
  for (const priority of ['optional', 'background', 'people', 'write'] as const) {
    void budget.take(priority, NEVER).then(() => started.push(priority));
  }
  for (let window = 0; window < 4; window += 1) await clock.advance(10_000);
  expect(started).toEqual(['write', 'people', 'background', 'optional']);
});

test('two viewers with 60 reads a minute each keep no write waiting', async () => {
  const { clock, budget } = opened(10);
  const waits: number[] = [];
  for (let second = 0; second < 120; second += 1) {
    for (let viewer = 0; viewer < 2; viewer += 1) {
      void budget.take('people', clock.now() + 40_000);
    }
    if (second % 24 === 23) {
      const at = clock.now();
      const turn = budget.take('write', at + 12_000);
      void turn.then(({ ok }) => waits.push(ok ? clock.now() - at : NEVER));
    }
    await settled();
    await clock.advance(1_000);
  }
  expect(waits).toEqual([0, 0, 0, 0, 0]);
});

test('a full queue of reads does not refuse a write', async () => {
  const { clock, budget } = opened(1);
  await budget.take('people', NEVER);
  for (let n = 0; n < 201; n += 1) void budget.take('people', NEVER);
  const write = budget.take('write', NEVER);
  await settled();
  await clock.advance(10_000);
  expect(await write).toEqual({ ok: true });
});

test('a request that cannot start in time is refused at once, also while others wait', async () => {
  const { budget } = opened(1);
  await budget.take('people', NEVER);
  void budget.take('people', NEVER);
  await settled();
  const answers: unknown[] = [];
  void budget.take('people', 5_000).then((turn) => answers.push(turn));
  await settled();
  expect(answers).toEqual([{ ok: false, why: 'budget', inMs: 10_000 }]);
});

test('a request starts if its limit equals the waiting time', async () => {
  const { clock, budget } = opened(1);
  await budget.take('people', NEVER);
  const turn = budget.take('people', 10_000);
  await settled();
  await clock.advance(10_000);
  expect(await turn).toEqual({ ok: true });
});

test('a digest that was overtaken too often is refused and frees its slot', async () => {
  const { clock, budget } = opened(1);
  await budget.take('people', NEVER);
  const digest = budget.take('background', 15_000);
  const ana = budget.take('people', NEVER);
  await settled();
  await clock.advance(10_000);
  expect(await ana).toEqual({ ok: true });
  expect(await digest).toEqual({ ok: false, why: 'budget', inMs: 10_000 });
});

test('no request starts during a pause', async () => {
  const { clock, budget } = opened(10);
  budget.pause(60_000);
  expect(await budget.take('people', 59_999)).toEqual({ ok: false, why: 'paused', inMs: 60_000 });
  const turn = budget.take('people', NEVER);
  await settled();
  await clock.advance(60_000);
  expect(await turn).toEqual({ ok: true });
});

test('a shorter pause does not end a longer one early', async () => {
  const { budget } = opened(10);
  budget.pause(60_000);
  budget.pause(1_000);
  expect(await budget.take('people', 5_000)).toEqual({ ok: false, why: 'paused', inMs: 60_000 });
});

test('a sleep counts as passed even if the clock stands still', async () => {
  const sleep = vi.fn(async () => {
    // Otherwise an endless wait would block this test.
    if (sleep.mock.calls.length > 100) throw new Error('still waiting');
  });
  const clock = { now: () => 0, sleep };
  const budget = createBudget({ requests: 10, perMs: 10_000 }, clock);
  const turns = Array.from({ length: 25 }, () => budget.take('write', NEVER));
  expect(await Promise.all(turns)).toEqual(Array(25).fill({ ok: true }));
  expect(sleep).toHaveBeenCalledTimes(2);
  expect(await budget.take('write', 29_999)).toMatchObject({ ok: true });
});

test('a full queue refuses new requests and still serves the queued ones', async () => {
  const { clock, budget } = opened(1);
  await budget.take('people', NEVER);
  const waiting = Array.from({ length: 200 }, () => budget.take('people', NEVER));
  await settled();
  expect(await budget.take('people', NEVER)).toEqual({ ok: false, why: 'budget', inMs: 10_000 });
  await clock.advance(10_000);
  expect(await waiting[0]).toEqual({ ok: true });
  // One request has started, so there is a free place.
  const late = budget.take('background', NEVER).then(({ ok }) => ok);
  await settled();
  expect(await Promise.race([late, 'waits'])).toBe('waits');
});

describe('an aborted wait', () => {
  async function full() {
    const clock = handClock();
    const sleep = vi.fn((ms: number, _signal?: AbortSignal) => clock.sleep(ms));
    const budget = createBudget({ requests: 1, perMs: 10_000 }, { ...clock, sleep });
    await budget.take('people', NEVER);
    return { clock, sleep, budget };
  }

  test('ends at once and leaves no timer', async () => {
    const { budget, sleep } = await full();
    const patience = new AbortController();
    const turn = budget.take('people', NEVER, patience.signal);
    await settled();
    patience.abort();
    expect(await turn).toEqual({ ok: false, why: 'budget', inMs: 10_000 });
    expect(sleep.mock.lastCall?.[1]?.aborted).toBe(true);
  });

  test('keeps no place from the others', async () => {
    const { clock, budget, sleep } = await full();
    const patience = new AbortController();
    const given = budget.take('people', NEVER, patience.signal);
    const other = budget.take('people', NEVER);
    await settled();
    patience.abort();
    expect(await given).toMatchObject({ ok: false });
    expect(sleep.mock.lastCall?.[1]?.aborted).toBe(false);
    await clock.advance(10_000);
    expect(await other).toEqual({ ok: true });
  });

  test('does not start if it was aborted before', async () => {
    const { budget, sleep } = await full();
    expect(await budget.take('people', NEVER, AbortSignal.abort())).toMatchObject({ ok: false });
    expect(sleep).not.toHaveBeenCalled();
  });
});

describe('a window of all replicas', () => {
  const LIMIT = { requests: 9, perMs: 10_000 };

  function counted(budget: ReturnType<typeof createBudget>) {
    const started: number[] = [];
    for (let n = 1; n <= 9; n += 1) void budget.take('write', NEVER).then(() => started.push(n));
    return started;
  }

  test('delays a start until it has a place', async () => {
    const clock = handClock();
    const waits = [0, 2_000, 0];
    const shared = async () => waits.shift() ?? 0;
    const budget = createBudget(LIMIT, clock, shared);
    expect(await budget.take('write', NEVER)).toEqual({ ok: true });
    const second = budget.take('write', NEVER).then(() => clock.now());
    await settled();
    await clock.advance(2_000);
    expect(await second).toBe(2_000);
  });

  test('that cannot be reached leaves each replica its own', async () => {
    const clock = handClock();
    const shared = () => Promise.reject(new Error('away'));
    const started = counted(createBudget(LIMIT, clock, shared));
    await settled();
    await settled();
    expect(started).toHaveLength(9);
  });

  test('does not count a request that was aborted during its claim', async () => {
    const clock = handClock();
    const answer = Promise.withResolvers<number>();
    const shared = () => answer.promise;
    const budget = createBudget({ requests: 1, perMs: 10_000 }, clock, shared);
    const patience = new AbortController();
    const given = budget.take('people', NEVER, patience.signal);
    await settled();
    patience.abort();
    answer.resolve(0);
    expect(await given).toMatchObject({ ok: false });
    expect(await budget.take('people', clock.now())).toEqual({ ok: true });
  });
});
