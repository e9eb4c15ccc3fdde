import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { type AuditEvent, appendEvent } from '../../src/log/old/append.ts';
import { plannedParents } from '../../src/log/old/planned-reverts.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { freshDatabase } from '../storage/engines.ts';
import { aChange, ana, NOON, stored } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 8);
const parent = aChange({ state: 'succeeded' });
const revert = aChange({ state: 'approved', parent: parent.id });

async function trailWith(events: readonly Partial<AuditEvent>[], key = KEY): Promise<Database> {
  const database = await freshDatabase('sqlite');
  await stored(database, parent);
  await database.transaction(async (tx) => {
    for (const event of events) {
      const body = { by: ana, parent: parent.id };
      const planned = { kind: 'planned-return', changeId: revert.id, version: 1, at: NOON, body };
      await appendEvent(tx, key, { ...planned, ...event });
    }
  });
  return database;
}

const planned = async ({ db }: Database, ...changes: ChangeId[]) => [
  ...(await plannedParents(db, KEY, changes)),
];

test('a change whose revert the trail plans is found', async () => {
  const database = await trailWith([{}]);
  await stored(database, revert);
  expect(await planned(database, parent.id, 'OTHER7' as ChangeId)).toEqual([parent.id]);
});

test('it is also found when the row of the revert was deleted', async () => {
  const database = await trailWith([{}]);
  expect(await planned(database, parent.id, 'OTHER7' as ChangeId)).toEqual([parent.id]);
});

test('nobody asked for: nothing is found', async () => {
  expect(await planned(await trailWith([{}]))).toEqual([]);
});

test.for([
  ['of another kind', [{ kind: 'approved' }], KEY],
  ['signed with a foreign key', [{}], OTHER_KEY],
] as const)('an event %s plans no revert', async ([, events, key]) => {
  const withoutRow = await trailWith(events, key);
  expect(await planned(withoutRow, parent.id)).toEqual([]);
  await stored(withoutRow, revert);
  expect(await planned(withoutRow, parent.id)).toEqual([]);
});
