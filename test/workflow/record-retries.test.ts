import timers from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { lostKind } from '../../src/workflow/execute.ts';
import { replaceExport } from '../harness/replace-export.ts';
import { minutes, NOON } from './context.ts';
import { runnable } from './runnable.ts';

type Ran = Awaited<ReturnType<typeof runnable>>;

/** Sends a change while the database refuses this many transactions after the answer; `then` is what happens first. */
async function sentWhile(refusals: number, then?: (all: Ran) => Promise<void>) {
  const pauses: number[] = [];
  // The clock of the retries, so that the test does not wait. No retry passes a value on.
  const pause = async (ms?: number) => {
    pauses.push(ms ?? 0);
    if (left === 0 && refusals > 0) await then?.(all);
  };
  replaceExport(timers, 'setTimeout', pause as typeof timers.setTimeout);
  const lines: { msg: string; err: { message: string } }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  let left = 0;
  const all = await runnable({
    context: { log },
    command: {
      send: async () => {
        left = refusals;
        return { requestId: null, reported: ['stopping'], learned: null };
      },
    },
  });
  const { store } = all.context;
  const { commit } = store;
  Object.assign(store, {
    commit: (body: Parameters<typeof commit>[0]) => {
      if (left === 0) return commit(body);
      left -= 1;
      return Promise.reject(new Error('the database is unavailable'));
    },
  });
  const result = all.run();
  return { ...all, result, pauses, lines };
}

test('an outcome that cannot be stored at once is stored when the database responds again', async () => {
  const { result, current, lines } = await sentWhile(3);
  expect(await result).toBe('done');
  expect((await current()).state).toBe('succeeded');
  expect(lines.map(({ msg, err }) => [msg, err.message])).toEqual([
    ['outcome could not be stored; it is tried again', 'the database is unavailable'],
  ]);
});

test('storing an outcome is retried while its process lives, for an hour', async () => {
  const { result, pauses } = await sentWhile(10_000);
  await expect(result).rejects.toThrow(/^The outcome of \w+ could not be stored\./);
  const seconds = pauses.reduce((sum, ms) => sum + ms, 0) / 1_000;
  expect(seconds).toBeGreaterThan(3_600);
  expect(seconds).toBeLessThan(3_700);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
});

const LATE = { lateAnswer: { as: 'succeeded', text: 'stopping', answeredAt: NOON } };

test('an answer that could not be stored within the lease is added to the unknown outcome', async () => {
  const { result, current, events } = await sentWhile(20, (all) => lostAfter(all, 'another'));
  expect(await result).toBe('done');
  expect(await current()).toMatchObject({ state: 'unknown', ...LATE });
  expect((await events()).slice(-2).map(({ type }) => type)).toEqual(['unknown', 'late-answer']);
});

test('a process that holds the answer stores it, although the lease has ended', async () => {
  const { result, current } = await sentWhile(20, (all) => lostAfter(all, all.context.instance));
  await result;
  expect(await current()).toMatchObject({ state: 'succeeded' });
});

/** The lease ends, and the database answers again, for this process first. */
async function lostAfter({ context, clock, change }: Ran, instance: string) {
  clock.now = minutes(10);
  await lostKind({ ...context, instance }).run({ key: change.id, again: false, attempts: 1 });
}
