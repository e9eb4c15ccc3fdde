import timers from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { replaceExport } from '../harness/replace-export.ts';
import { runnable } from './runnable.ts';

/** Sends a change while the database refuses this many transactions after the answer. */
async function sentWhile(refusals: number) {
  const pauses: number[] = [];
  // The clock of the retries, so that the test does not wait. No retry passes a value on.
  const pause = async (ms?: number) => void pauses.push(ms ?? 0);
  replaceExport(timers, 'setTimeout', pause as typeof timers.setTimeout);
  const lines: { msg: string; err: { message: string } }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  let left = 0;
  const all = await runnable({
    context: { log },
    command: {
      send: async () => {
        left = refusals;
        return { requestId: null, reported: [], learned: null };
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
  expect(lines.map(({ msg, err }) => [msg, err.message])).toEqual(
    Array.from({ length: 3 }, () => [
      'outcome could not be stored; it is tried again',
      'the database is unavailable',
    ]),
  );
});

test('storing an outcome is retried for more than a minute, but not beyond the lease', async () => {
  const { result, pauses } = await sentWhile(100);
  await expect(result).rejects.toThrow(/^The outcome of \w+ could not be stored\./);
  const seconds = pauses.reduce((sum, ms) => sum + ms, 0) / 1_000;
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThan(120);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
});
