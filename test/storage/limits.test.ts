import { expect } from 'vitest';
import { transaction } from '../../src/storage/database.ts';
import {
  addToRateCounters,
  dropInstance,
  listInstances,
  pruneRateCounters,
  saveInstance,
  subtractFromRateCounter,
} from '../../src/storage/limits.ts';
import { onEngines } from './engines.ts';
import { freshStore } from './stores.ts';

const [ana, ben] = ['UANA', 'UBEN'];
const NOON = new Date('2026-11-20T12:00:00.000Z');
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);

const press = { kind: 'press', since: NOON };

onEngines('each user has one count per window, whichever replica counts', async (engine) => {
  const store = await freshStore(engine);
  const add = (more: [string, number][], about = press) =>
    transaction(store, (tx) => addToRateCounters(tx, { ...about, more: new Map(more) }));
  await Promise.all(Array.from({ length: 20 }, () => add([[ana, 2]])));
  // In both orders at once: replicas take the rows in one, so that neither waits for the other.
  const both: [string, number][] = [ana, ben].map((user) => [user, 1]);
  await Promise.all([add(both.toReversed()), add(both)]);
  expect(await add([[ana, 1]])).toEqual(new Map([[ana, 43]]));
  expect(await add([[ana, 1]], { kind: 'draft', since: NOON })).toEqual(new Map([[ana, 1]]));
  expect(await add([[ana, 1]], { kind: 'press', since: minutes(1) })).toEqual(new Map([[ana, 1]]));
  expect(await add([])).toEqual(new Map());
});

onEngines('counts of old time windows are deleted', async (engine) => {
  const store = await freshStore(engine);
  const one = (since: Date) =>
    transaction(store, (tx) =>
      addToRateCounters(tx, { kind: 'press', since, more: new Map([[ana, 1]]) }),
    );
  await one(NOON);
  await one(minutes(5));
  await transaction(store, (tx) => pruneRateCounters(tx, minutes(5)));
  expect(await one(NOON)).toEqual(new Map([[ana, 1]]));
  expect(await one(minutes(5))).toEqual(new Map([[ana, 2]]));
});

onEngines('a count that is taken back stays above 0', async (engine) => {
  const store = await freshStore(engine);
  const add = (more: number) =>
    transaction(store, (tx) => addToRateCounters(tx, { ...press, more: new Map([[ana, more]]) }));
  const take = (less: number) =>
    transaction(store, (tx) => subtractFromRateCounter(tx, { ...press, user: ana, less }));
  await add(3);
  await take(2);
  await take(1);
  expect(await add(1)).toEqual(new Map([[ana, 2]]));
});

onEngines('a process is listed until it leaves, or is not seen', async (engine) => {
  const store = await freshStore(engine);
  const instance = (id: string, at: number) => ({
    ...{ id, release: '2.0.0', startedAt: minutes(at), seenAt: minutes(at) },
  });
  const see = (id: string, at: number) =>
    transaction(store, (tx) => saveInstance(tx, instance(id, at), minutes(at - 3)));
  const listed = async () => (await listInstances(store.root)).map(({ id }) => id);
  await see('r-1', 0);
  await see('r-2', 1);
  expect(await listInstances(store.root)).toEqual([instance('r-1', 0), instance('r-2', 1)]);
  await see('r-2', 4);
  expect(await listed()).toEqual(['r-2']);
  await transaction(store, (tx) => dropInstance(tx, 'r-2'));
  expect(await listed()).toEqual([]);
});
