import { expect, test } from 'vitest';
import { auditHead, listEvents } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import {
  clearTrailError,
  isMarkedBroken,
  recordTrailMark,
  storedTrailError,
  storeTrailError,
} from '../../src/log/old/trail-marks.ts';
import { freshDatabase } from '../storage/engines.ts';
import { minutes, NOON } from '../storage/example-change.ts';

const [KEY, OTHER] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];

type Mark = readonly ['trail-broken' | 'trail-verified', Buffer];
const BROKEN: Mark = ['trail-broken', KEY];
const VERIFIED: Mark = ['trail-verified', KEY];

test.for<[string, readonly Mark[], boolean]>([
  ['is intact before any mark', [], false],
  ['is broken after a problem was found', [BROKEN], true],
  ['is intact after a later verification', [BROKEN, VERIFIED], false],
  ['is broken again after a second problem', [BROKEN, VERIFIED, BROKEN], true],
  [
    'stays broken after a verification with a foreign key',
    [BROKEN, ['trail-verified', OTHER]],
    true,
  ],
  ['is broken after a problem that a foreign key recorded', [['trail-broken', OTHER]], true],
])('a trail %s', async ([, marks, expected]) => {
  const database = await freshDatabase('sqlite');
  for (const [kind, key] of marks) {
    const head = await auditHead(database.db);
    const row = linkAfter(head, key, { kind, at: NOON, body: { by: 'signalbox', problem: 'p' } });
    await database.transaction(async (tx) => {
      await tx.insertInto('audit_event').values(row).execute();
      await tx.updateTable('audit_head').set({ seq: row.seq, hash: row.hash }).execute();
    });
  }
  expect(await isMarkedBroken(database.db, KEY)).toBe(expected);
});

test('a mark names Signalbox and the problem', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const at = minutes(3);
  await transaction((tx) => recordTrailMark(tx, KEY, 'trail-broken', { problem: 'Event 4.', at }));
  expect(await listEvents(db, { afterSeq: 0, limit: 2 })).toMatchObject([
    { kind: 'trail-broken', at, body: { by: 'signalbox', problem: 'Event 4.' } },
  ]);
});

test('of two replicas that find a problem, the first one stores it', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  expect(await storedTrailError(db)).toBeNull();
  expect(await transaction((tx) => storeTrailError(tx, null, 'Event 4.'))).toBe(true);
  expect(await transaction((tx) => storeTrailError(tx, null, 'Event 5.'))).toBe(false);
  expect(await storedTrailError(db)).toBe('Event 4.');
  expect(await transaction((tx) => storeTrailError(tx, 'Event 4.', 'Event 3.'))).toBe(true);
  expect(await storedTrailError(db)).toBe('Event 3.');
  await transaction((tx) => clearTrailError(tx));
  expect(await storedTrailError(db)).toBeNull();
});
