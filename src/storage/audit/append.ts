import type { ChangeId, JsonObject, State } from '../../changes/change.ts';
import type { AuditEventTable, Db, Tx } from '../tables/schema.ts';
import {
  type AuditEvent,
  type ChainProblem,
  GENESIS,
  type Head,
  keyId,
  keyIdOf,
  linkAfter,
  readEventBody,
  verifyNext,
  type Walk,
  walkAfter,
} from './chain.ts';

export type { AuditEvent, ChainProblem, Head } from './chain.ts';

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

/** Appends an event. No other writer can append until the transaction ends. */
export async function appendEvent(tx: Tx, key: Buffer | null, event: AuditEvent): Promise<Head> {
  const { seq, hash } = await tx
    .updateTable('audit_head')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('id', '=', 1)
    .returning(['seq', 'hash'])
    .executeTakeFirstOrThrow(missingHead);
  const row = linkAfter({ seq: seq - 1, hash }, key, event);
  await tx.insertInto('audit_event').values(row).execute();
  await tx.updateTable('audit_head').set({ hash: row.hash }).where('id', '=', 1).execute();
  return { seq: row.seq, hash: row.hash };
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

export interface VerifyOptions {
  /** Rows in memory at a time. */
  readonly batch?: number;
  readonly onProgress?: (seq: number) => void;
  /** Verifies only this many of the last events; earlier ones are assumed to be valid. */
  readonly last?: number;
  /** Awaited after each batch, so that other work of the process continues. */
  readonly pause?: () => Promise<void>;
  /** A head that was stored elsewhere: it detects a tail that was cut together with the head. */
  readonly anchor?: Head;
}

export type Verification =
  | { readonly ok: true; readonly seq: number }
  | { readonly ok: false; readonly seq: number; readonly problem: ChainProblem };

// An attacker may number an event below the first one.
const BEFORE_ALL = -(2 ** 31);

/** Verifies the chain in batches; returns the first event that was modified. */
export async function verifyChain(
  db: Db,
  key: Buffer | null,
  { batch = 1_000, onProgress, pause, anchor, last }: VerifyOptions = {},
): Promise<Verification> {
  const end = await headAndLast(db);
  let walk = await startOfWalk(db, last === undefined ? 0 : end.last - last);
  while (walk.seq < end.last) {
    const after = walk.seq === 0 ? BEFORE_ALL : walk.seq;
    const rows = await rowsAfter(db, after, Math.min(batch, end.last - walk.seq));
    for (const row of rows) {
      const next = verifyNext(walk, row, key);
      if (typeof next === 'string') return { ok: false, seq: walk.seq + 1, problem: next };
      if (anchor?.seq === next.seq && anchor.hash !== next.hash) return anchorDiffers(anchor);
      walk = next;
    }
    if (rows.length === 0) return { ok: false, seq: walk.seq + 1, problem: 'event-missing' };
    onProgress?.(walk.seq);
    await pause?.();
  }
  if (walk.seq !== end.seq || walk.hash !== end.hash || end.last !== end.seq) {
    return { ok: false, seq: Math.min(walk.seq, end.seq) + 1, problem: 'head-differs' };
  }
  return anchor && anchor.seq > walk.seq ? anchorDiffers(anchor) : { ok: true, seq: walk.seq };
}

async function startOfWalk(db: Db, afterSeq: number): Promise<Walk> {
  const genesis: Walk = { seq: 0, hash: GENESIS, keyed: false };
  if (afterSeq <= 0) return genesis;
  const [row] = await rowsAfter(db, afterSeq - 1, 1);
  // If that event is missing, the whole chain is read to find where it breaks.
  return row?.seq === afterSeq ? walkAfter(row) : genesis;
}

/** Returns why this key cannot continue the chain, or null. Another key would break the chain. */
export async function keyProblem(
  db: Db,
  key: Buffer | null,
): Promise<'key-missing' | 'key-differs' | null> {
  const { last } = await headAndLast(db);
  const [row] = last > 0 ? await rowsAfter(db, last - 1, 1) : [];
  const stored = row ? keyIdOf(row) : null;
  if (stored === null) return null;
  if (key === null) return 'key-missing';
  return stored === keyId(key) ? null : 'key-differs';
}

function anchorDiffers({ seq }: Head): Verification {
  return { ok: false, seq, problem: 'anchor-differs' };
}

// Not the hash of an empty chain, so that a deleted head is detected.
const NO_HEAD = '';

// One statement, so that concurrent writers do not look like tampering.
async function headAndLast(db: Db): Promise<Head & { last: number }> {
  const row = await db
    .selectFrom('audit_head')
    .select(['seq', 'hash'])
    .select((eb) =>
      eb
        .selectFrom('audit_event')
        .select((e) => e.fn.max('seq').as('m'))
        .as('last'),
    )
    .where('id', '=', 1)
    .executeTakeFirst();
  return { seq: row?.seq ?? 0, hash: row?.hash ?? NO_HEAD, last: row?.last ?? 0 };
}

function rowsAfter(db: Db, afterSeq: number, limit: number): Promise<AuditEventTable[]> {
  return db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

export function storedEvent(row: AuditEventTable): StoredEvent {
  const { change, key_id, ...facts } = readEventBody(row);
  return { ...facts, changeId: change, keyId: key_id, prevHash: row.prev_hash, hash: row.hash };
}
