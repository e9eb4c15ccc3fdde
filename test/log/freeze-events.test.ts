import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { effectiveFreezes } from '../../src/log/old/active-freezes.ts';
import { appendEvent, listEvents } from '../../src/log/old/append.ts';
import {
  recordedFreezes,
  recordFreeze,
  recordFreezeLift,
} from '../../src/log/old/freeze-events.ts';
import { insertFreeze, type StoredFreeze } from '../../src/log/old/freezes.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { acceptGap } from '../storage/accept-gap.ts';
import { freshDatabase } from '../storage/engines.ts';
import { ana, ben, minutes, NOON } from '../storage/example-change.ts';
import { tamper } from '../storage/tamper.ts';

const KEY = Buffer.alloc(32, 7);
const id = (name: string) => name as ChangeId;
const FREEZE: StoredFreeze = {
  id: id('FREEZE'),
  scope: { tag: 'prod' },
  reason: 'launch',
  createdBy: ana,
  from: NOON,
  until: minutes(60),
};

const record = (database: Database, key: Buffer | null, freeze = FREEZE) =>
  database.transaction((tx) => recordFreeze(tx, key, freeze, NOON));
const lift = (database: Database, key: Buffer | null, freeze = FREEZE.id) =>
  database.transaction((tx) => recordFreezeLift(tx, key, { id: freeze, by: ben, at: minutes(1) }));
const active = async ({ db }: Database, now = NOON, key: Buffer | null = KEY) =>
  (await effectiveFreezes(db, key, now)).map((freeze) => freeze.id);

test('the trail records a freeze and its end for readers', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, KEY);
  await lift(database, KEY);
  const [created, lifted] = await listEvents(database.db, { afterSeq: 0, limit: 9 });
  expect(created).toMatchObject({
    kind: 'freeze-created',
    changeId: 'FREEZE',
    at: NOON,
    body: { by: ana, did: 'started the freeze of', reason: 'launch', scope: { tag: 'prod' } },
  });
  expect(lifted).toMatchObject({
    kind: 'freeze-lifted',
    changeId: 'FREEZE',
    at: minutes(1),
    body: { by: ben, did: 'ended the freeze of' },
  });
});

test('a freeze is read from the trail as it was recorded', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, KEY);
  const recorded = await recordedFreezes(database.db, KEY);
  expect(recorded.get(FREEZE.id)).toMatchObject({ freeze: FREEZE, lifted: false });
  await lift(database, KEY);
  expect((await recordedFreezes(database.db, KEY)).get(FREEZE.id)?.lifted).toBe(true);
});

test('a second event of a freeze changes nothing, and the lift of an unknown freeze neither', async () => {
  const database = await freshDatabase('sqlite');
  await lift(database, KEY);
  await record(database, KEY);
  await record(database, KEY, { ...FREEZE, until: minutes(1) });
  const recorded = await recordedFreezes(database.db, KEY);
  expect([...recorded.values()]).toMatchObject([{ freeze: FREEZE, lifted: false }]);
});

test('an event of a freeze without a change stops every decision', async () => {
  const database = await freshDatabase('sqlite');
  await database.transaction((tx) =>
    appendEvent(tx, KEY, { kind: 'freeze-created', at: NOON, body: {} }),
  );
  await expect(active(database)).rejects.toThrow(
    'Event 1 of the audit trail, which records a freeze',
  );
});

test('without a key a freeze is recorded and lifted', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, null);
  expect(await active(database, NOON, null)).toEqual(['FREEZE']);
  await lift(database, null);
  expect(await active(database, NOON, null)).toEqual([]);
});

test('freezes count until they end, and the first end comes first', async () => {
  const database = await freshDatabase('sqlite');
  const ends = [
    ['LATE', 90],
    ['TWO', 30],
    ['ONE', 30],
    ['THREE', 30],
    ['SOON', 5],
  ] as const;
  for (const [name, until] of ends) {
    await record(database, KEY, { ...FREEZE, id: id(name), until: minutes(until) });
  }
  expect(await active(database)).toEqual(['SOON', 'ONE', 'THREE', 'TWO', 'LATE']);
  expect(await active(database, minutes(5))).toEqual(['ONE', 'THREE', 'TWO', 'LATE']);
  expect(await active(database, minutes(90))).toEqual([]);
});

test('the row decides on a freeze that the trail does not record, and only on such a freeze', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, KEY);
  await lift(database, KEY);
  await database.transaction(async (tx) => {
    await insertFreeze(tx, FREEZE);
    await insertFreeze(tx, { ...FREEZE, id: id('EARLIER') });
  });
  expect(await active(database)).toEqual(['EARLIER']);
});

const modifyEvent = (seq: number) => `update audit_event set body = replace(body, 'UANA', 'UEVE')
  where seq = ${seq}`;

test('a freeze whose event was modified is an error until operators accept the gap', async () => {
  const database = await freshDatabase('sqlite');
  const [before, after] = [id('BEFORE'), id('AFTER')];
  await record(database, KEY, { ...FREEZE, id: before });
  await record(database, KEY);
  await record(database, KEY, { ...FREEZE, id: after });
  await tamper(database, modifyEvent(2));
  const modified = 'Event 2 of the audit trail, which records freeze FREEZE, was modified';
  await expect(active(database)).rejects.toThrow(modified);
  await acceptGap(database, KEY);
  expect(await active(database)).toEqual(['AFTER', 'BEFORE']);
});

test('a freeze whose two events are in an accepted gap counts once, by its row', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, KEY, { ...FREEZE, id: id('BEFORE') });
  await record(database, KEY);
  await lift(database, KEY);
  await record(database, KEY, { ...FREEZE, id: id('AFTER') });
  await database.transaction((tx) => insertFreeze(tx, FREEZE));
  for (const seq of [2, 3]) await tamper(database, modifyEvent(seq));
  await acceptGap(database, KEY);
  expect(await active(database)).toEqual(['AFTER', 'BEFORE', 'FREEZE']);
});

test.for([1, 3])(
  'an accepted gap does not cover the modified event %i outside of it',
  async (seq) => {
    const database = await freshDatabase('sqlite');
    for (const name of ['ONE', 'TWO', 'THREE'])
      await record(database, KEY, { ...FREEZE, id: id(name) });
    await tamper(database, modifyEvent(2));
    await acceptGap(database, KEY);
    await tamper(database, modifyEvent(seq));
    await expect(active(database)).rejects.toThrow(`Event ${seq} of the audit trail`);
  },
);

test('an unsigned freeze from before the key counts, although another event was accepted', async () => {
  const database = await freshDatabase('sqlite');
  await record(database, null, { ...FREEZE, id: id('EARLIER') });
  await record(database, KEY);
  await record(database, KEY, { ...FREEZE, id: id('AFTER') });
  await tamper(database, modifyEvent(2));
  await acceptGap(database, KEY);
  expect(await active(database)).toEqual(['AFTER', 'EARLIER']);
});
