import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { auditHead } from '../../src/log/old/append.ts';
import { findRange } from '../../src/log/old/archive.ts';
import { lastCheckpoint } from '../../src/log/old/checkpoints.ts';
import { recordFreeze, recordFreezeLift } from '../../src/log/old/freeze-events.ts';
import { recordSchedule } from '../../src/log/old/schedule-events.ts';
import { recordTrailMark } from '../../src/log/old/trail-marks.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { verifySegments } from '../../src/log/old/verify-segments.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { acceptGap } from '../storage/accept-gap.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { ana, NOON } from '../storage/example-change.ts';
import {
  AT,
  aged,
  archiveInto,
  BEFORE,
  day,
  event,
  KEY,
  oldTrail,
  segmentsFolder,
  seqsOf,
} from '../storage/old-trail.ts';
import { modify, tamper } from '../storage/tamper.ts';

const ids = async ({ db }: Database) =>
  (await db.selectFrom('change').select('id').orderBy('created_at').execute()).map(({ id }) => id);

test.for(ENGINES)('old events leave the database for a signed segment on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes = await oldTrail(database);
  const folder = segmentsFolder();
  const { checkpoint, deleted } = await archiveInto(database, folder);
  expect(checkpoint).toMatchObject({ first: 1, last: 8, count: 8, seq: 11 });
  expect(deleted).toEqual({ events: 8, changes: 4 });
  expect(await seqsOf(database)).toEqual([9, 10, 11]);
  expect(await ids(database)).toEqual([changes[4]?.id]);
  const path = join(folder, checkpoint?.file ?? '');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual([checkpoint?.file]);
  const [line = ''] = readFileSync(path, 'utf8').split('\n');
  expect(JSON.parse(line)).toMatchObject({ seq: 1, change_id: changes[0]?.id });

  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 11 });
  expect(await verifyChain(database.db, KEY, { last: 10_000 })).toEqual({ ok: true, seq: 11 });
  const segments = await verifySegments(database.db, KEY, { folder });
  expect(segments).toEqual({ ok: true, events: 8, files: 1 });
});

test.for(ENGINES)('a second archive continues after the first on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await oldTrail(database);
  const folder = segmentsFolder();
  await archiveInto(database, folder);
  expect((await archiveInto(database, folder)).checkpoint).toBeNull();
  await aged(database, { from: 600, to: 601 });
  const { archiveTrail } = await import('../../src/log/old/archive.ts');
  const later = { before: day(550), at: day(900), folder };
  const { checkpoint } = await archiveTrail(database, KEY, later);
  expect(checkpoint).toMatchObject({ first: 9, last: 11, seq: 14 });
  // The first checkpoint stays.
  expect(await seqsOf(database)).toEqual([11, 12, 13, 14]);
  expect(await verifyChain(database.db, KEY)).toEqual({ ok: true, seq: 14 });
  const segments = await verifySegments(database.db, KEY, { folder });
  expect(segments).toEqual({ ok: true, events: 11, files: 2 });
});

/** Something that is still needed of the second old change, events 3 and 4. */
const HOLDERS: readonly (readonly [string, (database: Database) => Promise<unknown>])[] = [
  ['an open change', (database) => aged(database, { from: 5, state: 'unknown' })],
  ['a change that ended recently', (database) => aged(database, { from: 5, to: 200 })],
  ['a freeze in force', (database) => freeze(database, day(200))],
  [
    'a schedule in force',
    async (database) => {
      const change = await aged(database, { from: 5, to: 6 });
      await startSchedule(database, change, day(200));
    },
  ],
  [
    'a change whose row alone is open',
    async (database) => {
      const change = await aged(database, { from: 5, to: 6 });
      await update(database, change, { state: 'approved' });
    },
  ],
  [
    'a change whose row alone has ended',
    async (database) => {
      const change = await aged(database, { from: 5, state: 'approved' });
      await update(database, change, { state: 'expired', ended_at: day(6).toISOString() });
    },
  ],
  [
    'a change that waits for its review',
    async (database) => {
      const change = await aged(database, { from: 5, to: 6 });
      await update(database, change, { broken_glass: '{}' });
    },
  ],
  [
    'a change that waits for its revert',
    async (database) => {
      const change = await aged(database, { from: 5, to: 6 });
      await update(database, change, { back_at: day(200).toISOString() });
    },
  ],
  [
    'a change whose revert is open',
    async (database) => {
      const change = await aged(database, { from: 5, to: 6 });
      await aged(database, { from: 300, state: 'approved' }, { parent: change.id });
    },
  ],
];

async function update(database: Database, { id }: Change, set: object): Promise<void> {
  await database.transaction((tx) =>
    tx.updateTable('change').set(set).where('id', '=', id).execute(),
  );
}

async function freeze(database: Database, until: Date, lifted?: Date): Promise<void> {
  const change = await aged(database, { from: 5, to: 6 });
  const stored = { id: change.id, scope: {}, reason: 'x', createdBy: ana, from: day(6), until };
  await database.transaction(async (tx) => {
    await recordFreeze(tx, KEY, stored, day(6));
    if (lifted) await recordFreezeLift(tx, KEY, { id: change.id, by: ana, at: lifted });
  });
}

async function startSchedule(database: Database, { id }: Change, until: Date): Promise<void> {
  const facts = { until: until.toISOString() };
  await database.transaction((tx) =>
    recordSchedule(tx, KEY, id, { kind: 'schedule-started', by: 'signalbox', at: day(6), facts }),
  );
}

test.for(HOLDERS)('%s keeps its events and all later ones', async ([, make]) => {
  const database = await freshDatabase('sqlite');
  await aged(database, { from: 1, to: 2 });
  await make(database);
  await aged(database, { from: 20, to: 21 });
  const { checkpoint, holder } = await archiveInto(database, segmentsFolder());
  expect(checkpoint?.last).toBe(2);
  expect(holder?.seq).toBe(3);
  expect((await verifyChain(database.db, KEY)).ok).toBe(true);
});

test('a lifted freeze and an ended schedule keep nothing', async () => {
  const database = await freshDatabase('sqlite');
  await freeze(database, day(900), day(7));
  await startSchedule(database, await aged(database, { from: 8, to: 9 }), day(50));
  const { checkpoint, holder } = await archiveInto(database, segmentsFolder());
  expect(checkpoint?.last).toBe(7);
  expect(holder).toBeNull();
});

test('a change stays while one of its events stays', async () => {
  const database = await freshDatabase('sqlite');
  const change = await aged(database, { from: 1, to: 2 });
  await aged(database, { from: 3, to: 4 });
  await event(database, change, 3, 'succeeded', day(300));
  const { checkpoint, deleted } = await archiveInto(database, segmentsFolder());
  expect(checkpoint?.last).toBe(4);
  expect(deleted.changes).toBe(1);
  expect(await ids(database)).toEqual([change.id]);
});

test('a change stays while an event of its revert stays', async () => {
  const database = await freshDatabase('sqlite');
  const change = await aged(database, { from: 1, to: 2 });
  const revert = await aged(database, { from: 3, to: 4 }, { parent: change.id });
  await event(database, revert, 3, 'succeeded', day(300));
  const { deleted } = await archiveInto(database, segmentsFolder());
  expect(deleted.changes).toBe(0);
  expect(await ids(database)).toEqual([change.id, revert.id]);
});

test('a gap that two operators accepted is archived as a whole', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  await tamper(database, modify(4), modify(5));
  await acceptGap(database, KEY);
  const folder = segmentsFolder();
  const { checkpoint } = await archiveInto(database, folder);
  expect(checkpoint).toMatchObject({ last: 8, count: 8 });
  const segments = await verifySegments(database.db, KEY, { folder });
  expect(segments).toEqual({ ok: true, events: 8, files: 1 });
  expect((await verifyChain(database.db, KEY)).ok).toBe(true);
});

test('a boundary inside an accepted gap moves before the gap', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  await aged(database, { from: 402, to: 403 });
  await tamper(database, modify(8), modify(9));
  await acceptGap(database, KEY);
  const { end } = await findRange(database.db, KEY, { before: BEFORE });
  expect(end.seq).toBe(7);
});

test('a broken trail is not archived', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  await tamper(database, modify(4));
  const folder = segmentsFolder();
  await expect(archiveInto(database, folder)).rejects.toThrow(
    'The audit trail is not intact, so nothing was archived. Event 4 does not match its hash',
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a trail that is marked as broken is not archived', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const mark = { problem: 'x', at: AT };
  await database.transaction((tx) => recordTrailMark(tx, KEY, 'trail-broken', mark));
  await expect(archiveInto(database, segmentsFolder())).rejects.toThrow('marked as broken');
  expect((await seqsOf(database)).length).toBe(11);
});

test('nothing is archived without a key', async () => {
  const database = await freshDatabase('sqlite');
  await expect(archiveInto(database, segmentsFolder(), null)).rejects.toThrow(
    'SIGNALBOX_KEY is not set',
  );
});

test('a file with other contents is not overwritten', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  const { hash } = await database.db
    .selectFrom('audit_event')
    .select('hash')
    .where('seq', '=', 1)
    .executeTakeFirstOrThrow();
  const path = join(folder, `audit-${hash.slice(0, 16)}-1-8.jsonl`);
  writeFileSync(path, 'mine');
  await expect(archiveInto(database, folder)).rejects.toThrow('exists already with other contents');
  expect(readFileSync(path, 'utf8')).toBe('mine');
  expect(readdirSync(folder).length).toBe(1);
  expect((await seqsOf(database)).length).toBe(10);
});

/** The first transactions of two archives begin together, however slow one of the archives is. */
function startingTogether(database: Database): Database {
  const bothStarted = Promise.withResolvers<void>();
  let arrived = 0;
  const transaction: Database['transaction'] = async (body) => {
    arrived += 1;
    if (arrived === 2) bothStarted.resolve();
    await bothStarted.promise;
    return database.transaction(body);
  };
  return { ...database, transaction };
}

test.for(ENGINES)('of two archives at once on %s, one writes a checkpoint', async (engine) => {
  const database = await freshDatabase(engine);
  await oldTrail(database);
  const folder = segmentsFolder();
  const shared = startingTogether(database);
  const results = await Promise.allSettled([
    archiveInto(shared, folder),
    archiveInto(shared, folder),
  ]);
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  for (const reason of refused) expect(reason).toContain('Another archive finished meanwhile');
  expect(refused.length).toBe(1);
  expect(await seqsOf(database)).toEqual([9, 10, 11]);
  expect((await lastCheckpoint(database.db, KEY))?.last).toBe(8);
});

test('the head stays the end of the trail', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  await archiveInto(database, segmentsFolder());
  expect((await auditHead(database.db)).seq).toBe(11);
  expect(NOON < BEFORE).toBe(true);
});
