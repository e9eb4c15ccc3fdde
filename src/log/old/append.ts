import type { JsonObject } from '../../base/text.ts';
import type { ChangeId, State } from '../../domain/change.ts';
import type { Head } from '../../storage/old/checkpoint.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { onPostgres } from '../../storage/old/postgres.ts';
import type { AuditEventTable, Db, Tx } from '../../storage/old/schema.ts';
import { keepRows, type Read, runTogether } from '../../storage/old/together.ts';
import { commitAfter } from '../../storage/old/transaction.ts';
import { type AuditEvent, linkAfter, nextKeyId, readEventBody } from './chain.ts';
import { type AuditKey, currentKey, keyWithId, NO_KEY } from './key-ring.ts';

export type { Head } from '../../storage/old/checkpoint.ts';
export type { AuditEvent } from './chain.ts';

export interface StoredEvent extends Head {
  readonly kind: string;
  readonly changeId: ChangeId | null;
  readonly version: number | null;
  readonly from: State | null;
  readonly to: State | null;
  readonly at: Date;
  readonly body: JsonObject;
  readonly keyId: string;
  readonly prevHash: string;
}

/**
 * Appends an event, signed with the key that the trail requires at its place. No other writer can
 * append until the transaction ends. Throws if the ring does not have that key.
 */
export async function appendEvent(tx: Tx, keys: AuditKey, event: AuditEvent): Promise<Head> {
  const taking = takingHead(tx);
  await runTogether(tx, [taking]);
  return appendAfter(tx, keys, taking.head(), event);
}

/** A statement that lets no other writer append until the transaction ends. `head`: the end of the trail. */
interface HeadStatement extends Read<Head> {
  readonly head: () => Head;
}

/** The first half of `appendEvent`, to be sent together with other statements. */
export function takingHead(tx: Tx): HeadStatement {
  const read = keepRows(onPostgres(tx) ? lockAndReadHead.with(tx) : readHead.with(tx));
  const head = () => {
    const [row] = read.rows();
    if (!row) throw missingHead();
    return row;
  };
  return { ...read, head };
}

/** The second half of `appendEvent`. */
export async function appendAfter(
  tx: Tx,
  keys: AuditKey,
  head: Head,
  event: AuditEvent,
): Promise<Head> {
  const keyId = head.hash === appended.hash ? appended.nextKey : await lastKeyId(tx);
  const row = linkAfter(head, signingKey(keys, keyId), event);
  await storeEvent(tx, row);
  appended = { hash: row.hash, nextKey: nextKeyId(row) };
  return { seq: row.seq, hash: row.hash };
}

/**
 * The event that this process appended last, of any database, and the key that signs after it. Its hash
 * covers the id of that key, so that the event need not be read while other writers wait.
 */
let appended = { hash: '', nextKey: NO_KEY };

// A transaction of SQLite has locked the whole database already.
const readHead = compileOnce((tx: Tx) =>
  tx.selectFrom('audit_head').select(['seq', 'hash']).where('id', '=', 1),
);
const lockAndReadHead = compileOnce((tx: Tx) =>
  tx.selectFrom('audit_head').select(['seq', 'hash']).where('id', '=', 1).forUpdate(),
);

async function storeEvent(tx: Tx, row: AuditEventTable): Promise<void> {
  if (onPostgres(tx)) {
    await commitAfter(insertAndMove(tx, ...valuesOf(row)));
    return;
  }
  const { seq, hash } = row;
  await runTogether(tx, [insertEvent.with(tx, ...valuesOf(row)), moveHead.with(tx, seq, hash)]);
}

type EventValues = ReturnType<typeof valuesOf>;

function valuesOf({ seq, kind, change_id, version, ...row }: AuditEventTable) {
  const { from_state, to_state, body, prev_hash, hash } = row;
  return [seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash] as const;
}

function rowFrom(values: EventValues): AuditEventTable {
  const [seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash] = values;
  return { seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash };
}

const insertEvent = compileOnce((tx: Tx, ...values: EventValues) =>
  tx.insertInto('audit_event').values(rowFrom(values)),
);

const moveHead = compileOnce((tx: Tx, seq: number, hash: string) =>
  tx.updateTable('audit_head').set({ seq, hash }).where('id', '=', 1),
);

const insertAndMove = compileOnce((tx: Tx, ...values: EventValues) => {
  const { seq, hash, ...row } = rowFrom(values);
  return tx
    .with('event', (first) => first.insertInto('audit_event').values({ seq, hash, ...row }))
    .updateTable('audit_head')
    .set({ seq, hash })
    .where('id', '=', 1);
});

// A replica that still has the previous key as its current one signs with the next key as well.
function signingKey(keys: AuditKey, id: string): Buffer | null {
  if (keys === null || id === NO_KEY) return currentKey(keys);
  const key = keyWithId(keys, id);
  if (key) return key;
  throw new Error(
    'The audit trail continues with another SIGNALBOX_KEY. Add that key to ' +
      'SIGNALBOX_PREVIOUS_KEYS, and restart this Signalbox.',
  );
}

/** Returns the id of the key that signs the next event; `none` if the trail is not signed. */
export async function lastKeyId(db: Db): Promise<string> {
  const last = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '=', (eb) =>
      eb.selectFrom('audit_event').select((max) => max.fn.max('seq').as('seq')),
    )
    .executeTakeFirst();
  return last ? nextKeyId(last) : NO_KEY;
}

/** Returns the highest number of an event; 0 for an empty trail. */
export async function lastSeq(db: Db): Promise<number> {
  const query = db.selectFrom('audit_event').select('seq').orderBy('seq', 'desc').limit(1);
  return (await query.executeTakeFirst())?.seq ?? 0;
}

/** Lets no other writer append until the transaction ends. */
export async function lockHead(tx: Tx): Promise<void> {
  await tx
    .updateTable('audit_head')
    .set((eb) => ({ seq: eb.ref('seq') }))
    .where('id', '=', 1)
    .execute();
}

export async function eventsOf(db: Db, changeId: ChangeId): Promise<StoredEvent[]> {
  const query = db.selectFrom('audit_event').selectAll().where('change_id', '=', changeId);
  return (await query.orderBy('seq').execute()).map(storedEvent);
}

export async function listEvents(
  db: Db,
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Promise<StoredEvent[]> {
  return (await rowsAfter(db, afterSeq, limit)).map(storedEvent);
}

export function auditHead(db: Db): Promise<Head> {
  const query = db.selectFrom('audit_head').select(['seq', 'hash']).where('id', '=', 1);
  return query.executeTakeFirstOrThrow(missingHead);
}

function missingHead(): Error {
  return new Error(
    'The audit trail has no head: the row of audit_head was deleted. ' +
      'Keep this database for the investigation, and restore a backup to a new one.',
  );
}

/** Returns why these keys cannot continue the chain, or null. Another key would break the chain. */
export async function keyProblem(
  db: Db,
  keys: AuditKey,
): Promise<'key-missing' | 'key-differs' | null> {
  const id = await lastKeyId(db);
  if (id === NO_KEY) return null;
  if (keys === null) return 'key-missing';
  return keyWithId(keys, id) ? null : 'key-differs';
}

/** Returns the events after a sequence number as they are stored, in order. */
export function rowsAfter(db: Db, afterSeq: number, limit: number): Promise<AuditEventTable[]> {
  return db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Returns the stored hashes of the events with these numbers, by number. */
export async function eventHashes(
  db: Db,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (numbers.length === 0) return new Map();
  const query = db.selectFrom('audit_event').select(['seq', 'hash']).where('seq', 'in', numbers);
  return new Map((await query.execute()).map(({ seq, hash }) => [seq, hash]));
}

export function storedEvent(row: AuditEventTable): StoredEvent {
  const { change, key_id, ...facts } = readEventBody(row);
  return { ...facts, changeId: change, keyId: key_id, prevHash: row.prev_hash, hash: row.hash };
}
