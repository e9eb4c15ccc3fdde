import { expect, test } from 'vitest';
import { anchorLine, readAnchor } from '../../src/log/old/anchor.ts';
import { appendEvent, auditHead, listEvents } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import { authenticityCheck } from '../../src/log/old/key-eras.ts';
import { type AuditKey, keyId } from '../../src/log/old/key-ring.ts';
import { seal, unseal } from '../../src/log/old/seal.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Database, Db } from '../../src/storage/old/database.ts';
import { writeMeta } from '../../src/storage/old/meta.ts';
import type { AuditEventTable } from '../../src/storage/old/schema.ts';
import { adoptKey } from '../../src/workflow/old/key-change.ts';
import { openSecret, sealSecret } from '../../src/workflow/old/stored-secrets.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, ana, minutes, NOON, stored } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const [OLD, NEW, NEWER] = [7, 8, 9].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
];
// The keys of a replica before its turn, and after it.
const BEFORE = { current: OLD, previous: [NEW] };
const AFTER = { current: NEW, previous: [OLD] };

async function write(database: Database, keys: AuditKey, kind = 'refused'): Promise<void> {
  const event = { kind, at: NOON, body: { by: ana } };
  await database.transaction((tx) => appendEvent(tx, keys, event));
}

async function adopt(database: Database, auditKey: AuditKey): Promise<void> {
  const { context } = await createTestContext();
  await adoptKey({ ...context, database, auditKey });
}

/** The kind and the key of each event. */
async function trailOf({ db }: Database) {
  const events = await listEvents(db, { afterSeq: 0, limit: 100 });
  return events.map((event) => [event.kind, event.keyId]);
}

async function areAuthentic(db: Db, keys: AuditKey, rows: readonly AuditEventTable[]) {
  return rows.every(await authenticityCheck(db, keys));
}

const rowsOf = ({ db }: Database) => db.selectFrom('audit_event').selectAll().execute();

/** A trail of one event of each key, with the change between them. */
async function rotated(engine: (typeof ENGINES)[number]): Promise<Database> {
  const database = await freshDatabase(engine);
  await write(database, OLD);
  await adopt(database, AFTER);
  await write(database, AFTER);
  return database;
}

test.for(ENGINES)('the old key signs the event that names the new key on %s', async (engine) => {
  const database = await rotated(engine);
  expect(await trailOf(database)).toEqual([
    ['refused', keyId(OLD)],
    ['key-changed', keyId(OLD)],
    ['key-started', keyId(NEW)],
    ['refused', keyId(NEW)],
  ]);
  const [, changed] = await listEvents(database.db, { afterSeq: 0, limit: 2 });
  expect(changed?.body).toEqual({ by: 'signalbox', key: keyId(NEW), previous: keyId(OLD) });
  expect(await verifyChain(database.db, AFTER)).toEqual({ ok: true, seq: 4 });
  expect(await areAuthentic(database.db, AFTER, await rowsOf(database))).toBe(true);
  await adopt(database, AFTER);
  expect(await trailOf(database)).toHaveLength(4);
});

test.for(ENGINES)('a trail with an unknown key is a problem on %s', async (engine) => {
  const { db } = await rotated(engine);
  const problem = 'other-key';
  expect(await verifyChain(db, NEW)).toEqual({ ok: false, seq: 1, problem });
  expect(await verifyChain(db, OLD)).toEqual({ ok: false, seq: 3, problem });
});

test.for(ENGINES)('a change of the key without its event is a problem on %s', async (engine) => {
  const database = await rotated(engine);
  const { db } = database;
  // Signed with the old key, which is known but not the key of this part of the trail.
  await forge(database, OLD, 'refused');
  expect(await verifyChain(db, AFTER)).toEqual({ ok: false, seq: 5, problem: 'key-replaced' });
});

/** Appends with a key of the attacker, who has write access to the database. */
async function forge(database: Database, key: Buffer, kind: string): Promise<void> {
  const body = { by: ana, left: {} };
  await database.transaction(async (tx) => {
    const row = linkAfter(await auditHead(tx), key, { kind, at: NOON, body });
    await tx.insertInto('audit_event').values(row).execute();
    await tx.updateTable('audit_head').set({ seq: row.seq, hash: row.hash }).execute();
    if (kind === 'key-started') await writeMeta(tx, 'audit-key-started', String(row.seq));
  });
}

test.for(ENGINES)('an event of a leaked earlier key is not authentic on %s', async (engine) => {
  const database = await rotated(engine);
  await forge(database, OLD, 'approved');
  const isAccepted = async () =>
    areAuthentic(database.db, AFTER, (await rowsOf(database)).slice(4));
  expect(await isAccepted()).toBe(false);
  // Not even with a forged record of the keys, which the old key signed.
  await forge(database, OLD, 'key-started');
  expect(await isAccepted()).toBe(false);
});

test.for(ENGINES)(
  'a leaked earlier key cannot declare that the trail returns to it on %s',
  async (engine) => {
    const database = await rotated(engine);
    // The forged record names an end of the current key, as in a rotation from that key.
    const body = { by: ana, left: { [keyId(NEW)]: 1_000 } };
    await database.transaction(async (tx) => {
      const event = { at: NOON, body: { by: ana, key: keyId(OLD), previous: keyId(NEW) } };
      const changed = linkAfter(await auditHead(tx), OLD, { kind: 'key-changed', ...event });
      const start = linkAfter(changed, OLD, { kind: 'key-started', at: NOON, body });
      await tx.insertInto('audit_event').values([changed, start]).execute();
      await tx.updateTable('audit_head').set({ seq: start.seq, hash: start.hash }).execute();
      await writeMeta(tx, 'audit-key-started', String(start.seq));
    });
    await forge(database, OLD, 'approved');
    expect(await areAuthentic(database.db, AFTER, (await rowsOf(database)).slice(4))).toBe(false);
  },
);

test.for(ENGINES)(
  'three replicas rotate one by one without a broken trail on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const rings: AuditKey[] = [BEFORE, BEFORE, BEFORE];
    const all = async () => {
      for (const keys of rings) await write(database, keys);
      for (const keys of rings) {
        expect(await verifyChain(database.db, keys)).toMatchObject({ ok: true });
        expect(await areAuthentic(database.db, keys, await rowsOf(database))).toBe(true);
      }
    };
    await all();
    for (const index of rings.keys()) {
      rings[index] = AFTER;
      await adopt(database, AFTER);
      await all();
      // A replica that restarts before its turn does not undo the change.
      for (const keys of rings) await adopt(database, keys);
    }
    const kinds = (await trailOf(database)).map(([kind]) => kind);
    expect(kinds.filter((kind) => kind === 'key-changed')).toHaveLength(1);
  },
);

test('a second rotation accepts both earlier keys', async () => {
  const database = await rotated('sqlite');
  const keys = { current: NEWER, previous: [NEW, OLD] };
  await adopt(database, keys);
  await write(database, keys);
  expect(await verifyChain(database.db, keys)).toEqual({ ok: true, seq: 7 });
  expect(await areAuthentic(database.db, keys, await rowsOf(database))).toBe(true);
});

test('a replica without the new key does not continue the trail', async () => {
  const database = await rotated('sqlite');
  await expect(write(database, OLD)).rejects.toThrow('SIGNALBOX_PREVIOUS_KEYS');
  expect(await verifyChain(database.db, AFTER)).toEqual({ ok: true, seq: 4 });
});

test('an anchor of an earlier key is read, and one of an unknown key is not', () => {
  const head = { seq: 3, hash: 'a'.repeat(64), installation: null };
  expect(readAnchor(anchorLine(head, OLD), AFTER)).toEqual(head);
  expect(readAnchor(anchorLine(head, NEWER), AFTER)).toBeNull();
});

test.for(ENGINES)('stored passwords are sealed with the new key on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await write(database, OLD);
  const change = aChange();
  await stored(database, change);
  const changeId = change.id;
  const context = { purpose: 'password of a created service', changeId, requester: ana } as const;
  const secret = { changeId, requester: ana, expiresAt: minutes(60) };
  const sealed = seal(OLD, 'Pässword', context);
  await database.transaction((tx) => sealSecret(tx, { ...secret, sealed }));
  await adopt(database, AFTER);
  const text = await openSecret(database.db, changeId, { requester: ana, now: NOON });
  expect(unseal(NEW, text ?? '', context)).toBe('Pässword');
});
