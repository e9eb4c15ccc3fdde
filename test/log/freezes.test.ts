import { expect, test } from 'vitest';
import { activeFreezes, hasFreeze, insertFreeze, liftFreeze } from '../../src/log/old/freezes.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { ana, ben, cleo, minutes, NOON, newId } from '../storage/example-change.ts';

const freeze = {
  id: newId(),
  scope: { tag: 'prod' },
  reason: 'launch',
  createdBy: ana,
  from: NOON,
  until: minutes(60),
};

test.for(ENGINES)('a change creates its freeze once (%s)', async (e) => {
  const database = await freshDatabase(e);
  const make = (reason: string) =>
    database.transaction((tx) => insertFreeze(tx, { ...freeze, reason }));
  expect(await make('launch')).toBe(true);
  expect(await make('another')).toBe(false);
  expect(await activeFreezes(database.db, NOON)).toEqual([freeze]);
  expect(await hasFreeze(database.db, freeze.id)).toBe(true);
  expect(await hasFreeze(database.db, newId())).toBe(false);
});

test.for(ENGINES)('of several concurrent lifts of a freeze one succeeds (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  await database.transaction((tx) => insertFreeze(tx, freeze));
  const lifts = [ana, ben, cleo].map((by) =>
    database.transaction((tx) => liftFreeze(tx, { id: freeze.id, by, at: minutes(1) })),
  );
  expect((await Promise.all(lifts)).filter(Boolean)).toHaveLength(1);
  expect(await activeFreezes(database.db, minutes(2))).toEqual([]);
});

test.for(ENGINES)('an ended freeze is not active and cannot be lifted (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  await database.transaction((tx) => insertFreeze(tx, freeze));
  expect(await activeFreezes(database.db, minutes(59))).toHaveLength(1);
  expect(await activeFreezes(database.db, minutes(60))).toEqual([]);
  const late = { id: freeze.id, by: ben, at: minutes(60) };
  expect(await database.transaction((tx) => liftFreeze(tx, late))).toBe(false);
});
