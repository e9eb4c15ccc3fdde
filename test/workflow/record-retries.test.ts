import timers from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { sendAndFinish } from '../../src/workflow/old/send.ts';
import { replaceExport } from '../harness/replace-export.ts';
import { minutes, NOON } from '../storage/example-change.ts';
import { storedChange } from './stored-change.ts';

const pauses: number[] = [];

beforeEach(() => {
  pauses.length = 0;
  // The clock of the retries, so that the test does not wait.
  const pause = async (ms?: number) => void pauses.push(ms ?? 0);
  // No retry passes a value on.
  replaceExport(timers, 'setTimeout', pause as typeof timers.setTimeout);
});

/** Sends a claimed change while the database refuses this many transactions. */
async function sentWhile(refusals: number) {
  const { context, current } = await storedChange({
    change: { state: 'executing', lease: { owner: 'tests', until: minutes(2) } },
  });
  const change = await current();
  if (!change) throw new Error('The change is gone');
  await context.database.transaction((tx) =>
    tx
      .insertInto('send_permit')
      .values({ change_id: change.id, n: 1, single: null, owner: 'tests', at: NOON.toISOString() })
      .execute(),
  );
  let left = refusals;
  const transaction: WorkflowContext['database']['transaction'] = (work) => {
    if (left === 0) return context.database.transaction(work);
    left -= 1;
    return Promise.reject(new Error('the database is unavailable'));
  };
  const logged: object[] = [];
  const write = (line: string) => {
    const { change: id, msg, err } = JSON.parse(line);
    logged.push({ isOwn: id === change.id, msg, cause: err.message });
  };
  const log = pino({ level: 'warn' }, { write });
  const failing = { ...context, log, database: { ...context.database, transaction } };
  await sendAndFinish(failing, change, 1, minutes(1));
  return { state: (await current())?.state, logged };
}

test('an outcome that cannot be stored at once is stored when the database responds again', async () => {
  expect(await sentWhile(0)).toEqual({ state: 'succeeded', logged: [] });
  expect(pauses).toEqual([0]);
  const msg = 'outcome could not be stored; retrying';
  const line = { isOwn: true, msg, cause: 'the database is unavailable' };
  expect(await sentWhile(3)).toEqual({ state: 'succeeded', logged: [line, line, line] });
});

test('storing an outcome is retried for more than a minute, but not beyond the lease', async () => {
  await expect(sentWhile(100)).rejects.toThrow(/^The outcome of \w+ could not be stored\./);
  const seconds = pauses.reduce((sum, ms) => sum + ms, 0) / 1_000;
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThan(120);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
});
