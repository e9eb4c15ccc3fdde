import { expect, test } from 'vitest';
import { Damaged } from '../../src/log/chain.ts';
import { eventsBefore } from '../../src/log/history.ts';
import type { Log } from '../../src/log/log.ts';
import { appendProblem } from '../../src/log/log.ts';
import { prune } from '../../src/log/upkeep.ts';
import { ENGINES } from '../storage/engines.ts';
import {
  approvedChange,
  confirmed,
  drafted,
  freshLog,
  installation,
  KEYS,
  replaceRow,
  rowsIn,
  tamper,
  user,
  write,
} from './logs.ts';

async function page(log: Log, before: number | null, limit: number, until: Date | null = null) {
  const { events, next } = await eventsBefore(log, { before, until, limit });
  return { found: events.map(({ stream, event }) => `${stream} ${event.type}`), next };
}

test.for(ENGINES)(
  'events of all streams are read page by page on %s, the newest first',
  async (engine) => {
    const log = await freshLog(engine);
    await approvedChange(log, 'A');
    await write(log, 'change/B', drafted(), confirmed);
    expect(await page(log, null, 3)).toEqual({
      found: ['change/B confirmed', 'change/B drafted', 'change/A approved'],
      next: 3,
    });
    expect(await page(log, 3, 3)).toEqual({
      found: ['change/A confirmed', 'change/A drafted'],
      next: null,
    });
  },
);

test('a log without events has no page', async () => {
  expect(await page(await freshLog('sqlite'), null, 3)).toEqual({ found: [], next: null });
});

test('a page may end before a time', async () => {
  const clock = { now: 1_000 };
  const log = await (await installation('sqlite')).open(KEYS, { now: () => clock.now });
  await write(log, 'change/A', drafted());
  clock.now = 2_000;
  await write(log, 'change/B', drafted());
  expect((await page(log, null, 9, new Date(2_000))).found).toEqual(['change/A drafted']);
  expect((await page(log, null, 9, new Date(2_001))).found).toHaveLength(2);
});

test('an event that was modified, removed or moved is never shown', async () => {
  const attacks: readonly ((log: Log) => Promise<void>)[] = [
    async ({ store }) => {
      const [, second] = await rowsIn(store);
      if (second) await replaceRow(store, { ...second, body: '{"by":"UEVE"}' });
    },
    async ({ store }) => {
      const [, second] = await rowsIn(store);
      if (second) await replaceRow(store, { ...second, at: second.at - 1 });
    },
    ({ store }) => tamper(store, 'delete from event where seq = 2'),
  ];
  for (const attack of attacks) {
    const log = await freshLog('sqlite');
    await approvedChange(log, 'A');
    await attack(log);
    await expect(page(log, null, 9)).rejects.toThrow(Damaged);
    expect(appendProblem(log)).toBeInstanceOf(Damaged);
  }
});

test('events whose bodies were pruned are left out', async () => {
  const clock = { now: 1_000 };
  const log = await (await installation('sqlite')).open(KEYS, { now: () => clock.now });
  await write(log, 'change/A', drafted(), confirmed, {
    type: 'rejected',
    by: user('UBEN'),
    reason: 'no',
  });
  clock.now = 2_000;
  await write(log, 'change/B', drafted());
  await prune(log, { before: 1_500, export: 'e1' });
  expect((await page(log, null, 9)).found).toEqual([
    'installation/pruned pruned',
    'change/B drafted',
  ]);
});
