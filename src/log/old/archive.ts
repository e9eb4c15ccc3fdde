import { join } from 'node:path';
import { GENESIS } from '../../storage/old/001-initial.ts';
import type { Database } from '../../storage/old/database.ts';
import { acceptedGaps } from './accepted-gaps.ts';
import { installationId } from './anchor.ts';
import {
  createBoundaryScan,
  firstHolder,
  type Holder,
  lastSeqBefore,
  outsideGaps,
} from './boundary.ts';
import { type Walk, walkAfter } from './chain.ts';
import { problemSentence } from './chain-problems.ts';
import { type ArchiveCheckpoint, lastCheckpoint, SEGMENT_NAME } from './checkpoints.ts';
import { type AuditKey, currentKey, NO_KEY } from './key-ring.ts';
import { type Deleted, pruneArchived } from './prune.ts';
import { segmentName, writeSegment } from './segment.ts';
import { findProblem } from './verify-chain.ts';
import { verifySegment } from './verify-segments.ts';
import { writeCheckpoint } from './write-checkpoint.ts';

interface ArchiveRequest {
  /** Events of changes that ended before this time are archived. */
  readonly before: Date;
  readonly at: Date;
  readonly folder: string;
}

export interface Archived {
  /** The new checkpoint; null: nothing is old enough. */
  readonly checkpoint: ArchiveCheckpoint | null;
  /** The change that keeps further old events in the database. */
  readonly holder: Holder | null;
  readonly deleted: Deleted;
}

/**
 * Archives the oldest events: verifies the trail, writes a segment and reads it back, appends the
 * signed checkpoint, and deletes the archived rows. An interrupted run is continued by the next one.
 * Throws with a sentence where it refuses; then nothing was deleted.
 * Source: docs/retention.md#what-a-run-does.
 */
export async function archiveTrail(
  database: Pick<Database, 'db' | 'transaction'>,
  keys: AuditKey,
  request: ArchiveRequest,
): Promise<Archived> {
  if (!currentKey(keys))
    throw new Error('SIGNALBOX_KEY is not set, so no checkpoint can be signed');
  const previous = await lastCheckpoint(database.db, keys);
  const range = await findRange(database.db, keys, request);
  const before = previous ? await pruneArchived(database, keys, previous) : NOTHING;
  const { holder } = range;
  if (range.end.seq <= range.from.seq) return { checkpoint: null, holder, deleted: before };
  const checkpoint = await storeSegment(database, keys, { ...request, ...range, previous });
  const deleted = await pruneArchived(database, keys, checkpoint);
  return { checkpoint, holder, deleted: sumOf(before, deleted) };
}

const NOTHING: Deleted = { events: 0, changes: 0 };

function sumOf(one: Deleted, other: Deleted): Deleted {
  return { events: one.events + other.events, changes: one.changes + other.changes };
}

interface ArchiveRange {
  readonly from: Walk;
  readonly end: Walk;
  readonly firstHash: string;
  readonly holder: Holder | null;
}

/** Verifies the whole trail, and returns which events may be archived. */
export async function findRange(
  db: Database['db'],
  keys: AuditKey,
  { before }: Pick<ArchiveRequest, 'before'>,
): Promise<ArchiveRange> {
  const checkpoint = await lastCheckpoint(db, keys);
  const latest = await lastSeqBefore(db, before);
  const scan = createBoundaryScan(latest);
  const verified = await findProblem(db, keys, { onEvent: scan.add });
  if (!verified.ok) {
    const problem = problemSentence(verified.problem, verified.seq);
    throw new Error(`The audit trail is not intact, so nothing was archived. ${problem}`);
  }
  const gaps = await acceptedGaps(db, keys);
  const holder = await firstHolder(db, { keys, before, latest, scan, gaps });
  const from = startAfter(checkpoint);
  const limit = Math.min(latest, holder ? holder.seq - 1 : latest);
  const seq = outsideGaps(limit, gaps, from);
  const [end, first] = [await rowAt(db, seq), await rowAt(db, from.seq + 1)];
  if (seq <= from.seq || !end) return { from, end: from, firstHash: from.hash, holder };
  return { from, end: walkAfter(end), firstHash: first?.hash ?? end.hash, holder };
}

function startAfter(checkpoint: ArchiveCheckpoint | null): Walk {
  if (!checkpoint) return { seq: 0, hash: GENESIS, keyId: NO_KEY };
  return { seq: checkpoint.last, hash: checkpoint.lastHash, keyId: checkpoint.nextKey };
}

function rowAt(db: Database['db'], seq: number) {
  const query = db.selectFrom('audit_event').selectAll().where('seq', '=', seq);
  return query.executeTakeFirst();
}

const WRONG_INSTALLATION =
  'The row “installation” of the table “meta” is not 16 hexadecimal digits, so nothing was archived. ' +
  'Delete this row: Signalbox stores the id again';

async function storeSegment(
  database: Pick<Database, 'db' | 'transaction'>,
  keys: AuditKey,
  request: ArchiveRequest & ArchiveRange & { readonly previous: ArchiveCheckpoint | null },
): Promise<ArchiveCheckpoint> {
  const { from, end, firstHash, folder, before, at, previous } = request;
  const installation = (await installationId(database.db)) ?? '';
  const file = segmentName(installation, from.seq + 1, end);
  // The row can be written by anyone with access to the database, and must not choose another folder.
  if (!SEGMENT_NAME.test(file)) throw new Error(WRONG_INSTALLATION);
  const written = await writeSegment(database.db, { after: from, last: end.seq, folder, file });
  // Read from the disk: only what can be verified again is deleted.
  const [first, last, nextKey] = [from.seq + 1, end.seq, end.keyId];
  const facts = { file, first, last, nextKey, firstHash, lastHash: end.hash, previous: from.hash };
  const gaps = await acceptedGaps(database.db, keys);
  const context = { keys, gaps, anchor: null, path: join(folder, file) };
  const read = await verifySegment(from, { ...facts, ...written }, context);
  if (typeof read === 'string') throw new Error(`${read} Nothing was deleted`);
  const created = { from, end, firstHash, file, written, before, at, previous };
  return writeCheckpoint(database, keys, created);
}
