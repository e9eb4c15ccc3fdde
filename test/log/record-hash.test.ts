import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { UserId } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { loadVerifiable } from '../../src/log/old/changes.ts';
import {
  checkReadRecord,
  checkRecord,
  hashOfRecord,
  recordFacts,
  recordHash,
} from '../../src/log/old/record-hash.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, ben, cleo, NOON, stored } from '../storage/example-change.ts';

/** A stored change whose event of version 1 records this about the row. */
async function recorded(facts: ((hash: string) => JsonObject) | null) {
  const database = await freshDatabase('sqlite');
  const change = aChange();
  await stored(database, change);
  const hash = await recordHash(database.db, change.id);
  if (facts) {
    const event = { kind: 'drafted', changeId: change.id, version: 1, at: NOON };
    await database.transaction((tx) => appendEvent(tx, null, { ...event, body: facts(hash) }));
  }
  return { db: database.db, change, hash };
}

test.for<[string, ((hash: string) => JsonObject) | null, string]>([
  ['intact where its event has the same hash', (record) => ({ record }), 'intact'],
  ['altered where its event has another hash', () => ({ record: 'other' }), 'altered'],
  ['altered where its event is missing', null, 'altered'],
  ['altered after it was altered before', (record) => ({ record, altered: true }), 'altered'],
  ['unrecorded where release 1.0 wrote its event', () => ({}), 'unrecorded'],
])('the row of a change is %s', async ([, facts, state]) => {
  const { db, change } = await recorded(facts);
  expect(await checkRecord(db, change)).toMatchObject({ state, record: { verdicts: [] } });
  expect(await checkRecord(db, { ...change, version: 2 })).toMatchObject({ state: 'altered' });
  const read = await loadVerifiable(db, change.id);
  expect(read && checkReadRecord(read)).toMatchObject({ state, record: { verdicts: [] } });
});

test('the next event records the row, unless an earlier version is not confirmed', async () => {
  const { db, hash } = await recorded(null);
  const row = await db.selectFrom('change').selectAll().executeTakeFirstOrThrow();
  const factsAfter = (state: 'intact' | 'altered' | 'unrecorded') =>
    recordFacts({ state, record: { row, verdicts: [] } }, { row, verdicts: [] });
  expect(factsAfter('intact')).toEqual({ record: hash });
  expect(factsAfter('altered')).toEqual({ altered: true });
  expect(factsAfter('unrecorded')).toEqual({});
});

test('the next event covers the earlier verdicts and the new ones', async () => {
  const { db, change } = await recorded(null);
  const row = await db.selectFrom('change').selectAll().executeTakeFirstOrThrow();
  const verdictOf = (person: UserId) =>
    ({
      change_id: change.id,
      person,
      decision: 'approved',
      digest: '',
      at: '',
      source: '',
    }) as const;
  const [earlier, added] = [ben, cleo].map(verdictOf);
  if (!earlier || !added) throw new Error('There are two verdicts');
  const check = { state: 'intact', record: { row, verdicts: [earlier] } } as const;
  const record = hashOfRecord({ row, verdicts: [earlier, added] });
  expect(recordFacts(check, { row, verdicts: [added] })).toEqual({ record });
});

test.for(ENGINES)('the hash has the verdicts in the order of their users on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const users = ['UZED', 'UBEN', 'UANA'] as UserId[];
  const change = aChange({ approvals: users.map((by) => ({ by, at: NOON })) });
  await stored(database, change);
  const row = await database.db.selectFrom('change').selectAll().executeTakeFirstOrThrow();
  const verdicts = await database.db.selectFrom('approval').selectAll().execute();
  const ordered = verdicts.toSorted((a, b) => (a.person < b.person ? -1 : 1));
  const hash = await recordHash(database.db, change.id);
  expect(hash).toBe(hashOfRecord({ row, verdicts: ordered }));
  expect(hash).toBe(hashOfRecord({ row, verdicts: ordered.toReversed() }));
});
