import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import {
  currentSchedules,
  dueSchedules,
  hasSchedule,
  insertRun,
  insertSchedule,
  lastRuns,
  lockSchedule,
  manualChangeSince,
  markEnded,
  setNextAt,
} from '../../src/log/old/schedules.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, minutes, NOON, newId, STAGING, stored } from '../storage/example-change.ts';

const all = { limit: 9, except: [] };

/** A schedule of the service with this id, created by a change. */
async function created(database: Database, service: string, nextAt = minutes(60)) {
  const change = aChange();
  await stored(database, change);
  const schedule = { id: change.id, service, nextAt, until: minutes(9_000), createdAt: NOON };
  await database.transaction((tx) => insertSchedule(tx, schedule));
  return { ...schedule, endedAt: null };
}

test.for(ENGINES)('a schedule is stored and found until it ends (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const { db, transaction } = database;
  const [one, other] = [await created(database, 's-1'), await created(database, 's-2')];
  expect(await currentSchedules(db, 's-1')).toEqual([one]);
  expect(await currentSchedules(db)).toHaveLength(2);
  expect(await hasSchedule(db, one.id)).toBe(true);
  expect(await hasSchedule(db, newId())).toBe(false);
  expect(await transaction((tx) => lockSchedule(tx, other.id))).toEqual(other);
  expect(await transaction((tx) => lockSchedule(tx, newId()))).toBeNull();
  expect(await transaction((tx) => markEnded(tx, one.id, minutes(5)))).toBe(true);
  expect(await transaction((tx) => markEnded(tx, one.id, minutes(6)))).toBe(false);
  expect(await currentSchedules(db)).toEqual([other]);
  const ended = { ...one, nextAt: null, endedAt: minutes(5) };
  expect(await transaction((tx) => lockSchedule(tx, one.id))).toEqual(ended);
});

test.for(ENGINES)('a service has one current schedule (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const first = await created(database, 's-1');
  await expect(created(database, 's-1')).rejects.toThrow();
  await database.transaction((tx) => markEnded(tx, first.id, NOON));
  await expect(created(database, 's-1')).resolves.toBeDefined();
});

test.for(ENGINES)('schedules are due from their next time on (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const { db, transaction } = database;
  const [late, early] = [await created(database, 's-1'), await created(database, 's-2', NOON)];
  expect(await dueSchedules(db, minutes(59), all)).toEqual([early.id]);
  expect(await dueSchedules(db, minutes(60), all)).toEqual([early.id, late.id]);
  expect(await dueSchedules(db, minutes(60), { limit: 1, except: [early.id] })).toEqual([late.id]);
  await transaction((tx) => setNextAt(tx, early.id, minutes(120)));
  await transaction((tx) => markEnded(tx, late.id, minutes(60)));
  // An ended schedule stays ended.
  await transaction((tx) => setNextAt(tx, late.id, NOON));
  expect(await dueSchedules(db, minutes(119), all)).toEqual([]);
  expect(await dueSchedules(db, minutes(120), all)).toEqual([early.id]);
});

const runOf = (schedule: ChangeId, occurrence: Date, change: ChangeId | null = null) => ({
  ...{ schedule, occurrence, action: 'stop' as const, change, at: occurrence },
  skipped: change ? null : 'a freeze',
});

test.for(ENGINES)('an occurrence is handled once, also by three replicas (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const { id } = await created(database, 's-1');
  const runs = [newId(), newId(), newId()].map((change) =>
    database.transaction((tx) => insertRun(tx, runOf(id, NOON, change))),
  );
  expect((await Promise.all(runs)).filter(Boolean)).toHaveLength(1);
  await database.transaction((tx) => insertRun(tx, runOf(id, minutes(60))));
  const other = await created(database, 's-2');
  await database.transaction((tx) => insertRun(tx, runOf(other.id, minutes(30))));
  const last = await lastRuns(database.db, [id, other.id, newId()]);
  expect([...last.keys()].toSorted()).toEqual([id, other.id].toSorted());
  expect(last.get(id)).toEqual(runOf(id, minutes(60)));
  expect(last.get(other.id)).toEqual(runOf(other.id, minutes(30)));
});

test.for(ENGINES)('a change that a person sent since a time is found (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const { id: schedule } = await created(database, 's-1');
  const sent = (state: 'succeeded' | 'unknown' | 'failed', at: Date) => {
    const facts = { at, tookMs: 1, requestId: null };
    const outcome =
      state === 'succeeded'
        ? ({ how: state, ...facts, reported: [] } as const)
        : ({ how: state, ...facts, status: null, text: 'x' } as const);
    return aChange({ state, outcome });
  };
  const found = (since: Date) => manualChangeSince(database.db, STAGING, since);
  const [run, failed] = [sent('succeeded', minutes(30)), sent('failed', minutes(40))];
  await stored(database, run, failed);
  await database.transaction((tx) => insertRun(tx, runOf(schedule, NOON, run.id)));
  // Its own run, and a request that was not applied, do not count.
  expect(await found(NOON)).toBeNull();
  const [manual, unknown] = [sent('succeeded', minutes(10)), sent('unknown', minutes(20))];
  await stored(database, manual);
  expect(await found(minutes(10))).toBe(manual.id);
  expect(await found(minutes(11))).toBeNull();
  await stored(database, unknown);
  expect(await found(minutes(10))).toBe(unknown.id);
  expect(await manualChangeSince(database.db, 'service:other', NOON)).toBeNull();
});
