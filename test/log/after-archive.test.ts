import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { installationId } from '../../src/log/old/anchor.ts';
import { appendEvent, auditHead } from '../../src/log/old/append.ts';
import { archiveTrail, findRange } from '../../src/log/old/archive.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import { lastCheckpoint } from '../../src/log/old/checkpoints.ts';
import { firstSeqSince } from '../../src/log/old/read-range.ts';
import { segmentName, writeSegment } from '../../src/log/old/segment.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { verifySegments } from '../../src/log/old/verify-segments.ts';
import { GENESIS } from '../../src/storage/old/001-initial.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { adoptKey } from '../../src/workflow/old/key-change.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import {
  AT,
  aged,
  archiveInto,
  BEFORE,
  day,
  KEY,
  oldTrail,
  segmentsFolder,
  seqsOf,
} from '../storage/old-trail.ts';
import { remove, tamper } from '../storage/tamper.ts';

const OTHER = Buffer.alloc(32, 8);

async function archived() {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const rows = await database.db.selectFrom('audit_event').selectAll().orderBy('seq').execute();
  const folder = segmentsFolder();
  const { checkpoint } = await archiveInto(database, folder);
  const put = (seq: number) =>
    database.transaction(async (tx) => {
      const row = rows.find((one) => one.seq === seq);
      if (row) await tx.insertInto('audit_event').values(row).execute();
    });
  return { database, db: database.db, folder, path: join(folder, checkpoint?.file ?? ''), put };
}

const verify = ({ db }: Pick<Database, 'db'>) => verifyChain(db, KEY);

test('a missing segment is named', async () => {
  const { db, folder, path } = await archived();
  rmSync(path);
  expect(await verifySegments(db, KEY, { folder })).toEqual({
    ok: false,
    sentence: expect.stringMatching(
      /^The segment audit-\w+-1-8.jsonl is missing: it has the events 1 to 8\.$/,
    ),
  });
});

test.for<[string, (path: string) => void]>([
  ['edited', (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('UANA', 'UBEN'))],
  ['truncated', (path) => truncateSync(path, 100)],
])('an %s segment is named', async ([, attack]) => {
  const { db, folder, path } = await archived();
  attack(path);
  expect(await verifySegments(db, KEY, { folder })).toEqual({
    ok: false,
    sentence: expect.stringMatching(/^The segment audit-\w+-1-8.jsonl was modified or truncated/),
  });
});

test('an anchor in a segment must have the hash of its event', async () => {
  const { db, folder } = await archived();
  const anchor = { seq: 5, hash: 'f'.repeat(64) };
  expect(await verifySegments(db, KEY, { folder, anchor })).toMatchObject({
    ok: false,
    sentence: expect.stringContaining('Event 5 differs from the stored anchor'),
  });
});

test('the anchor of the last archived event must have the hash of the checkpoint', async () => {
  const { db } = await archived();
  const anchor = { seq: 8, hash: 'f'.repeat(64) };
  expect(await verifyChain(db, KEY, { anchor })).toMatchObject({
    problem: 'anchor-differs',
    seq: 8,
  });
  expect(await verifyChain(db, KEY, { anchor: { ...anchor, seq: 5 } })).toMatchObject({ ok: true });
});

test('a deleted event that no checkpoint covers is missing', async () => {
  const { database } = await archived();
  await tamper(database, remove(9));
  expect(await verify(database)).toEqual({ ok: false, seq: 9, problem: 'event-missing' });
});

test('an archived event that was inserted again is found, also among the last events', async () => {
  const { database, db, put } = await archived();
  await put(3);
  const differs = { ok: false, seq: 4, problem: 'event-missing' };
  expect(await verify(database)).toEqual(differs);
  expect(await verifyChain(db, KEY, { last: 9 })).toEqual(differs);
});

test('the last archived event with other contents is found', async () => {
  const { database } = await archived();
  const row = linkAfter({ seq: 7, hash: GENESIS }, KEY, { kind: 'x', at: AT, body: {} });
  await database.transaction((tx) => tx.insertInto('audit_event').values(row).execute());
  expect(await verify(database)).toEqual({ ok: false, seq: 8, problem: 'archive-differs' });
});

test('an event that was kept cannot be deleted', async () => {
  const { database, folder } = await archived();
  await aged(database, { from: 600, to: 601 });
  await archiveTrail(database, KEY, { before: day(550), at: day(900), folder });
  await tamper(database, remove(11));
  expect(await verify(database)).toEqual({ ok: false, seq: 11, problem: 'archive-differs' });
});

test('a checkpoint without a valid signature hides and prunes nothing', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  const { checkpoint } = await archiveInto(await copyOf(database), folder);
  const { seq, ...body } = JSON.parse(JSON.stringify(checkpoint));
  const forged = { kind: 'trail-archived', at: AT, body };
  await database.transaction(async (tx) => {
    await tx
      .insertInto('audit_event')
      .values(linkAfter(await auditHead(tx), OTHER, forged))
      .execute();
  });
  expect(seq).toBe(11);
  expect(await lastCheckpoint(database.db, KEY)).toBeNull();
  await expect(archiveInto(database, folder)).rejects.toThrow('Event 11 was not signed');
  await tamper(database, ...[1, 2, 3, 4, 5, 6, 7, 8].map(remove));
  expect(await verify(database)).toEqual({ ok: false, seq: 1, problem: 'event-missing' });
});

async function copyOf({ db }: Database): Promise<Database> {
  const copy = await freshDatabase('sqlite');
  const rows = await db.selectFrom('audit_event').selectAll().execute();
  const head = await auditHead(db);
  await copy.transaction(async (tx) => {
    await tx.insertInto('audit_event').values(rows).execute();
    await tx.updateTable('audit_head').set(head).execute();
  });
  return copy;
}

test.for(ENGINES)(
  'the database on %s refuses to delete events that are not archived',
  async (engine) => {
    const database = await freshDatabase(engine);
    await oldTrail(database);
    await archiveInto(database, segmentsFolder());
    const drop = database.transaction((tx) =>
      tx.deleteFrom('audit_event').where('seq', '=', 9).execute(),
    );
    await expect(drop).rejects.toThrow('audit events are only ever added');
    const edit = database.transaction((tx) =>
      tx.updateTable('audit_event').set({ kind: 'x' }).execute(),
    );
    await expect(edit).rejects.toThrow('audit events are only ever added');
  },
);

test('the id of the installation stays the same, also without its stored copy', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const before = await installationId(database.db);
  await archiveInto(database, segmentsFolder());
  await database.transaction((tx) =>
    tx.deleteFrom('meta').where('key', '=', 'installation').execute(),
  );
  expect(await installationId(database.db)).toBe(before);
});

test('a time is found among the events that stay', async () => {
  const { db } = await archived();
  expect(await firstSeqSince(db, day(0))).toBeLessThanOrEqual(9);
  expect(await firstSeqSince(db, day(401))).toBe(10);
  expect(await firstSeqSince(db, day(900))).toBe(12);
});

test('a trail of two keys is archived, verified and continued', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const ring = { current: OTHER, previous: [KEY] };
  const log = createLog({ level: 'silent' });
  await adoptKey({ database, auditKey: ring, now: () => day(402), log });
  const folder = segmentsFolder();
  const later = { before: day(450), at: day(900), folder };
  await database.transaction((tx) => appendEvent(tx, ring, { kind: 'x', at: day(460), body: {} }));
  const { checkpoint } = await archiveTrail(database, ring, later);
  // The events of the key stay, so that a replica with the earlier key knows the newer one.
  expect(checkpoint?.last).toBe(12);
  expect(await seqsOf(database)).toEqual([11, 12, 13, 14]);
  expect(await verifyChain(database.db, ring)).toEqual({ ok: true, seq: 14 });
  const segments = await verifySegments(database.db, ring, { folder });
  expect(segments).toEqual({ ok: true, events: 12, files: 1 });
  const earlier = { current: KEY, previous: [OTHER] };
  expect(await verifyChain(database.db, earlier)).toEqual({ ok: true, seq: 14 });
});

/** Lets this many transactions commit; then the process has crashed. */
function crashAfter(database: Database, commits: number): Pick<Database, 'db' | 'transaction'> {
  let left = commits;
  const transaction: Database['transaction'] = (body) => {
    left -= 1;
    if (left < 0) throw new Error('crashed');
    return database.transaction(body);
  };
  return { db: database.db, transaction };
}

test.for(ENGINES.flatMap((engine) => [0, 1, 2, 3, 4].map((commits) => [engine, commits] as const)))(
  'an archive on %s that crashed after %s transactions is verified, and continued',
  async ([engine, commits]) => {
    const database = await freshDatabase(engine);
    await oldTrail(database);
    const folder = segmentsFolder();
    const request = { before: BEFORE, at: AT, folder };
    const run = archiveTrail(crashAfter(database, commits), KEY, request);
    if (commits < 4) await expect(run).rejects.toThrow('crashed');
    else await run;
    expect((await verify(database)).ok).toBe(true);
    await archiveInto(database, folder);
    expect(await seqsOf(database)).toEqual([9, 10, 11]);
    expect((await database.db.selectFrom('change').select('id').execute()).length).toBe(1);
    const segments = await verifySegments(database.db, KEY, { folder });
    expect(segments).toEqual({ ok: true, events: 8, files: 1 });
  },
);

test('half of the deletion leaves a trail that is intact, and the rest is deleted by the next run', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  const request = { before: BEFORE, at: AT, folder };
  await expect(archiveTrail(crashAfter(database, 2), KEY, request)).rejects.toThrow('crashed');
  await database.transaction((tx) => tx.deleteFrom('audit_event').where('seq', '<=', 5).execute());
  expect(await verify(database)).toEqual({ ok: true, seq: 11 });
  expect((await archiveInto(database, folder)).deleted.events).toBe(3);
});

test('a file that a crash left without a checkpoint is used by the next run', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  const { from, end } = await findRange(database.db, KEY, { before: BEFORE });
  const file = segmentName((await installationId(database.db)) ?? '', 1, end);
  await writeSegment(database.db, { after: from, last: end.seq, folder, file });
  expect((await archiveInto(database, folder)).checkpoint?.file).toBe(file);
});

test('a verification continues when events are archived meanwhile', async () => {
  const database = await freshDatabase('sqlite');
  await oldTrail(database);
  const folder = segmentsFolder();
  let paused = 0;
  const pause = async () => {
    paused += 1;
    if (paused === 1) await archiveInto(database, folder);
  };
  const result = await verifyChain(database.db, KEY, { batch: 2, pause });
  expect(result).toEqual({ ok: true, seq: 11 });
});
