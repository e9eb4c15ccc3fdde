import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { addJobs, type ClaimedJob, reading, sql, transaction } from '../../src/storage/index.ts';
import { createJobLoop, type JobKinds, type JobTry, repeated } from '../../src/workflow/jobs.ts';
import { freshStore } from '../storage/stores.ts';

/** A loop on a database in memory, with a clock that stands still. */
async function aLoop(kinds: JobKinds) {
  const clock = { now: new Date(1_000_000) };
  const store = await freshStore('sqlite');
  const errors: unknown[] = [];
  const onError = async (error: unknown) => void errors.push(error);
  const late: string[] = [];
  const onLate = async (job: ClaimedJob) => void late.push(`${job.kind} ${job.key}`);
  const log = pino({ level: 'silent' });
  const loop = createJobLoop(
    { ...{ store, log, onError, onLate }, now: () => clock.now, instance: 'tests' },
    kinds,
  );
  onTestFinished(() => loop.stop());
  const add = (kind: string, ...keys: readonly string[]) =>
    transaction(store, async (tx) => {
      for (const key of keys) await addJobs(tx, { kind, key, dueAt: clock.now.getTime() });
    });
  return {
    ...{ loop, store, add, errors, late },
    /** Starts the loop with these jobs. */
    start: async (...jobs: Parameters<typeof add>) => {
      await add(...jobs);
      loop.start(60_000);
    },
    /** When the next job is due that does not run; null without one. */
    nextAt: () =>
      reading(store, async (reader) => {
        const { rows } = await sql<{ at: number | null }>`
          select min(max(due_at, lease_until)) as at from job`.execute(reader);
        return rows[0]?.at ?? null;
      }),
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
      loop.wake();
    },
    now: () => clock.now.getTime(),
  };
}

/** A kind that records its tries. */
function recording(tries: JobTry[], fails: (job: JobTry) => boolean = () => false) {
  const run = async (job: JobTry) => {
    tries.push(job);
    if (fails(job)) throw new Error('no');
    return 'done' as const;
  };
  return { run, lane: 'messages' } as const;
}

test('a job that is done is gone', async () => {
  const tries: JobTry[] = [];
  const { nextAt, start } = await aLoop({ card: recording(tries) });
  await start('card', 'A', 'B');
  await expect.poll(() => tries.length).toBe(2);
  await expect.poll(nextAt).toBeNull();
  expect(tries).toContainEqual({ key: 'A', attempts: 1, again: false });
});

test('a job that is requested while it runs is run again, whenever the loop claims', async () => {
  const tries = new Map<string, number>();
  const keys = Array.from({ length: 40 }, (_, index) => `K${index}`);
  const run = async ({ key }: JobTry) => {
    tries.set(key, (tries.get(key) ?? 0) + 1);
    if (tries.get(key) === 1) await add('card', key);
    return 'done' as const;
  };
  const { loop, nextAt, start, add } = await aLoop({ card: { run, lane: 'messages' } });
  await start('card', ...keys);
  const claims = setInterval(loop.wake, 0);
  await expect.poll(nextAt).toBeNull();
  clearInterval(claims);
  expect(tries).toEqual(new Map(keys.map((key) => [key, 2])));
});

test.for<[string, 'replaced' | 'no database' | null, readonly string[]]>([
  ['sends the messages about the change that it waited for', null, ['A']],
  ['leaves them to the bot that replaces this one', 'replaced', []],
  ['leaves them to a later process where the database is away', 'no database', []],
])('a stop %s', async ([, happens, expected]) => {
  const tries: JobTry[] = [];
  const answer = Promise.withResolvers<void>();
  const run = async ({ key }: JobTry) => {
    await answer.promise;
    await add('card', key);
    if (happens === 'no database') await store.close();
    return 'done' as const;
  };
  const kinds = { card: recording(tries), run: { run, lane: 'runs' } } as const;
  const { loop, store, start, nextAt, add, now } = await aLoop(kinds);
  await start('run', 'A');
  await expect.poll(nextAt).toBeGreaterThan(now());
  if (happens === 'replaced') await loop.pause();
  const stopped = loop.stop();
  answer.resolve();
  await stopped;
  expect(tries.map(({ key }) => key)).toEqual(expected);
});

test('a job that asks for a later time runs then, and did not fail', async () => {
  const tries: JobTry[] = [];
  const later = { at: new Date(0) };
  const run = async (job: JobTry) => {
    tries.push(job);
    return tries.length === 1 ? later.at : ('done' as const);
  };
  const { nextAt, pass, now, errors, start } = await aLoop({ run: { run, lane: 'runs' } });
  later.at = new Date(now() + 5_000);
  await start('run', 'A');
  await expect.poll(nextAt).toBe(later.at.getTime());
  pass(5_000);
  await expect.poll(() => tries.length).toBe(2);
  expect(tries[1]).toEqual({ key: 'A', attempts: 1, again: false });
  expect(errors).toEqual([]);
});

test('a message that only waits stays as late as it is, and after two minutes that is reported', async () => {
  const tries: JobTry[] = [];
  const until = { at: new Date(0) };
  const run = async (job: JobTry) => {
    tries.push(job);
    return tries.length < 4 ? { waitsUntil: until.at } : ('done' as const);
  };
  const { nextAt, pass, now, late, start } = await aLoop({ run: { run, lane: 'messages' } });
  await start('run', 'A');
  for (const tried of [1, 2]) {
    expect(late).toEqual([]);
    until.at = new Date(now() + 60_000);
    await expect.poll(() => tries.length).toBe(tried);
    await expect.poll(nextAt).toBe(until.at.getTime());
    pass(60_000);
  }
  await expect.poll(() => late).toEqual(['run A']);
  expect(tries).toEqual(Array(4).fill({ key: 'A', attempts: 1, again: false }));
});

test('a job that fails is tried again after growing waits, and learns that it is', async () => {
  const tries: JobTry[] = [];
  const kinds = { card: recording(tries, ({ attempts }) => attempts < 4) };
  const { nextAt, pass, now, errors, start } = await aLoop(kinds);
  await start('card', 'A');
  for (const wait of [2_000, 4_000, 8_000]) {
    await expect.poll(nextAt).toBe(now() + wait);
    pass(wait);
  }
  await expect.poll(nextAt).toBeNull();
  const expected = [1, 2, 3, 4].map((attempts) => ({ attempts, again: attempts > 1 }));
  expect(tries).toMatchObject(expected);
  expect(errors).toHaveLength(3);
});

test('jobs of one subject run one after the other, the lowest rank first', async () => {
  const order: string[] = [];
  const kindOf = (name: string, rank: number) => ({
    ...({ lane: 'messages', rank } as const),
    run: async ({ key }: JobTry) => {
      order.push(`${name} ${key} begins`);
      await new Promise((resolve) => void setTimeout(resolve, 10));
      order.push(`${name} ${key} ends`);
      return 'done' as const;
    },
  });
  const { add, nextAt, start } = await aLoop({
    thread: kindOf('thread', 1),
    card: kindOf('card', 0),
  });
  await add('thread', 'A/1');
  await start('card', 'A');
  await expect.poll(nextAt).toBeNull();
  expect(order).toEqual(['card A begins', 'card A ends', 'thread A/1 begins', 'thread A/1 ends']);
});

test('a slow subject does not delay another one', async () => {
  const free = Promise.withResolvers<void>();
  const ended: string[] = [];
  const run = async ({ key }: JobTry) => {
    if (key === 'slow') await free.promise;
    ended.push(key);
    return 'done' as const;
  };
  const { start } = await aLoop({ card: { run, lane: 'messages' } });
  await start('card', 'slow', 'fast');
  await expect.poll(() => ended).toEqual(['fast']);
  free.resolve();
  await expect.poll(() => ended).toEqual(['fast', 'slow']);
});

test('a job that failed for a day is given up', async () => {
  const given: string[] = [];
  const tries: JobTry[] = [];
  const giveUp = async (key: string) => void given.push(key);
  const kind = { ...recording(tries, () => true), retryMs: () => 0, giveUp };
  const { nextAt, start } = await aLoop({ card: kind });
  await start('card', 'A');
  await expect.poll(nextAt).toBeNull();
  expect(tries).toHaveLength(155);
  expect(given).toEqual(['A']);
});

test('a job of a kind that this release does not know waits', async () => {
  const tries: JobTry[] = [];
  const { add, nextAt, now, start } = await aLoop({ card: recording(tries) });
  await add('of a later release', 'A');
  await start('card', 'B');
  await expect.poll(() => tries.length).toBe(1);
  expect(await nextAt()).toBe(now());
});

test('a stop waits for what runs, and claims nothing more', async () => {
  const free = Promise.withResolvers<void>();
  const tries: JobTry[] = [];
  const run = async (job: JobTry) => {
    tries.push(job);
    await free.promise;
    return 'done' as const;
  };
  const { loop, add, nextAt, now, start } = await aLoop({ card: { run, lane: 'messages' } });
  await start('card', 'A');
  await expect.poll(() => tries.length).toBe(1);
  const stopping = loop.stop();
  await add('card', 'B');
  loop.wake();
  free.resolve();
  await stopping;
  expect(tries).toHaveLength(1);
  expect(await nextAt()).toBe(now());
});

test('an outage of repeated work has one line, also if nothing was due meanwhile', async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line).msg) });
  const runs = ['fails', 'not-due', 'fails', 'works'];
  const work = async () => {
    const run = runs.shift();
    if (run === 'fails') throw new Error('500');
    return run;
  };
  const { wake, stop } = repeated(log, { began: 'no', ended: 'yes' }, { work, everyMs: 60_000 });
  while (runs.length > 0) {
    await setImmediate();
    wake();
  }
  await stop();
  expect(lines).toEqual(['no', 'yes']);
});
