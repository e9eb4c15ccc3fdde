import { createHash } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { StoredInstant } from '../../storage/old/portable.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { readEventBody } from './chain.ts';
import { authenticityCheck } from './key-eras.ts';
import { type AuditKey, currentKey } from './key-ring.ts';

/** The kind of the event that signs a segment. */
export const ARCHIVED = 'trail-archived';

/**
 * Archived events of these kinds stay in the database: later verifications need them. They are few.
 */
export const KEPT_KINDS = [ARCHIVED, 'key-changed', 'key-started', 'trail-accepted'] as const;

// Written as in the index `audit_event_kept`: SQLite uses such an index for the same text only.
const IS_KEPT = sql<SqlBool>`kind in ('trail-archived', 'key-changed', 'key-started', 'trail-accepted')`;

/** A segment is a file of this name in the folder that the operator names. */
export const SEGMENT_NAME = /^audit-[0-9a-f]{16}-\d{1,15}-\d{1,15}\.jsonl$/;

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** What the checkpoint event signs. Loose: a newer release may add facts. */
const Checkpoint = z.object({
  /** The number of the first event of the segment. */
  first: z.int().min(1),
  /** The number of its last event, and of the last event that may be deleted. */
  last: z.int().min(1),
  /** Lines of the segment. */
  count: z.int().min(1),
  /** The hash of the event before the segment. */
  previous: Hash,
  firstHash: Hash,
  lastHash: Hash,
  /** The id of the key that signs the event after the segment. */
  nextKey: z.string(),
  /** SHA-256 of the file. */
  sha256: Hash,
  file: z.string().regex(SEGMENT_NAME),
  /** SHA-256 over the archived events that stay in the database, of all segments so far. */
  kept: Hash,
  installation: z.string(),
  /** Changes that ended before this time may be deleted. */
  before: StoredInstant,
});

/** An archived part of the trail, as a signed event records it. */
export interface ArchiveCheckpoint extends z.output<typeof Checkpoint> {
  /** The number of the checkpoint event. */
  readonly seq: number;
}

/**
 * Returns the checkpoints that are signed as they are, the first one first; none without a key,
 * because an unsigned one can be forged.
 */
export async function archiveCheckpoints(
  db: Db,
  keys: AuditKey,
): Promise<readonly ArchiveCheckpoint[]> {
  if (!currentKey(keys)) return [];
  const kept = await db
    .selectFrom('audit_event')
    .selectAll()
    .where(IS_KEPT)
    .orderBy('seq')
    .execute();
  const rows = kept.filter(({ kind }) => kind === ARCHIVED);
  if (rows.length === 0) return [];
  return rows.filter(await authenticityCheck(db, keys)).flatMap((row) => {
    const { data } = Checkpoint.safeParse(readEventBody(row).body);
    return data && data.last < row.seq ? [{ ...data, seq: row.seq }] : [];
  });
}

/** Returns the last checkpoint, which covers everything that was archived; null if there is none. */
export async function lastCheckpoint(db: Db, keys: AuditKey): Promise<ArchiveCheckpoint | null> {
  return (await archiveCheckpoints(db, keys)).at(-1) ?? null;
}

/**
 * Returns the last checkpoint as it is stored, without a check of its signature: for commands that have
 * no key and only report what is archived.
 */
export async function storedCheckpoint(db: Db): Promise<ArchiveCheckpoint | null> {
  const query = db.selectFrom('audit_event').selectAll().where(IS_KEPT);
  const row = await query.where('kind', '=', ARCHIVED).orderBy('seq', 'desc').executeTakeFirst();
  const { data } = Checkpoint.safeParse(row && readEventBody(row).body);
  return row && data ? { ...data, seq: row.seq } : null;
}

/** Returns SHA-256 over the rows of the kept kinds up to an event, as they are stored. */
export async function keptHash(db: Db, last: number): Promise<string> {
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '<=', last)
    .where(IS_KEPT)
    .orderBy('seq')
    .execute();
  const digest = createHash('sha256');
  for (const row of rows) digest.update(`${segmentLine(row)}\n`);
  return digest.digest('hex');
}

/** Returns the line of an event in a segment: its columns in a fixed order, as JSON. */
export function segmentLine(row: AuditEventTable): string {
  const { seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash } = row;
  const columns = { seq, kind, change_id, version, from_state, to_state, body, prev_hash, hash };
  return JSON.stringify(columns);
}
