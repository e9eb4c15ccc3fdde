import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent, auditHead, listEvents } from '../../src/log/old/append.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);

/** A trail of ten events, and an attacker who can change any row of it. */
async function trailOfTen() {
  const database = await freshDatabase('sqlite');
  await append(database, 10);
  const attack = (statement: string) =>
    database.transaction(async (tx) => {
      await sql.raw('drop trigger audit_event_no_update').execute(tx);
      await sql.raw('drop trigger audit_event_no_delete').execute(tx);
      await sql.raw(statement).execute(tx);
    });
  return { database, db: database.db, attack };
}

async function append(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      await appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: { n } });
    }
  });
}

const overwrite = (seq: number) => `update audit_event set body = 'x' where seq = ${seq}`;

test('a verification of the last events does not read the earlier ones', async () => {
  const { db, attack } = await trailOfTen();
  await attack(overwrite(4));
  const ok = { ok: true, seq: 10 };
  const broken = { ok: false, seq: 4, problem: 'unreadable' };
  expect(await verifyChain(db, KEY, { last: 5 })).toEqual(ok);
  expect(await verifyChain(db, KEY, { last: 7 })).toEqual(broken);
  expect(await verifyChain(db, KEY, { last: 10 })).toEqual(broken);
  expect(await verifyChain(db, KEY, { last: 99 })).toEqual(broken);
  expect(await verifyChain(db, KEY)).toEqual(broken);
});

test('a verification of the last events reads all where their beginning is missing', async () => {
  const { db, attack } = await trailOfTen();
  await attack('delete from audit_event where seq = 5');
  const missing = { ok: false, seq: 5, problem: 'event-missing' };
  expect(await verifyChain(db, KEY, { last: 5 })).toEqual(missing);
  expect(await verifyChain(db, KEY, { last: 4 })).toEqual({ ok: true, seq: 10 });
});

test('a verification pauses and reports its progress after each batch', async () => {
  const { db } = await trailOfTen();
  const steps: string[] = [];
  const pause = async () => void steps.push('pause');
  const onProgress = (seq: number) => void steps.push(`event ${seq}`);
  const options = { batch: 4, last: 9, pause, onProgress };
  expect(await verifyChain(db, KEY, options)).toEqual({ ok: true, seq: 10 });
  expect(steps).toEqual(['event 5', 'pause', 'event 9', 'pause', 'event 10', 'pause']);
});

test('an anchor within the trail must have the hash of its event', async () => {
  const { db, database } = await trailOfTen();
  const anchor = await auditHead(db);
  await append(database, 2);
  expect(await verifyChain(db, KEY, { anchor })).toEqual({ ok: true, seq: 12 });
  const other = { ...anchor, hash: 'f'.repeat(64) };
  const differs = { ok: false, seq: 10, problem: 'anchor-differs' };
  expect(await verifyChain(db, KEY, { anchor: other })).toEqual(differs);
  expect(await verifyChain(db, KEY, { anchor: { ...other, seq: 13 } })).toEqual({
    ...differs,
    seq: 13,
  });
});

test.for([
  ['another hash', `update audit_head set hash = '${'f'.repeat(64)}'`, 11],
  ['a later number', 'update audit_head set seq = 11', 11],
  ['an earlier number', 'update audit_head set seq = 9', 10],
] as const)('a head with %s is detected', async ([, statement, seq]) => {
  const { db, attack } = await trailOfTen();
  await attack(statement);
  expect(await verifyChain(db, KEY)).toEqual({ ok: false, seq, problem: 'head-differs' });
});

test.for(['kind', 'change_id', 'version', 'from_state', 'to_state'])(
  'a modified column %s is detected',
  async (column) => {
    const { db, attack } = await trailOfTen();
    const value = column === 'version' ? 7 : "'approved'";
    await attack(`update audit_event set ${column} = ${value} where seq = 3`);
    const expected = { ok: false, seq: 3, problem: 'columns-changed' };
    expect(await verifyChain(db, KEY)).toEqual(expected);
    expect(await listEvents(db, { afterSeq: 2, limit: 1 })).toMatchObject([{ kind: 'refused' }]);
  },
);
