import type { Database } from '../../storage/old/database.ts';
import { writeMeta } from '../../storage/old/meta.ts';
import { requireSchema } from '../../storage/old/migrate.ts';
import { toText } from '../../storage/old/portable.ts';
import type { Tx } from '../../storage/old/schema.ts';
import { storeInstallationId } from './anchor.ts';
import { appendEvent, eventHashes, lockHead } from './append.ts';
import type { Walk } from './chain.ts';
import { ARCHIVED, type ArchiveCheckpoint, keptHash, lastCheckpoint } from './checkpoints.ts';
import type { AuditKey } from './key-ring.ts';
import type { SegmentFile } from './segment.ts';
import { isMarkedBroken, storedTrailError } from './trail-marks.ts';

/** The schema of the first release that verifies a trail from a checkpoint on. */
const FIRST_SCHEMA = 16;
/** Read by the trigger of migration 016, which permits no other deletion. */
const DELETABLE = 'audit-archived';

interface NewCheckpoint {
  readonly from: Walk;
  readonly end: Walk;
  readonly firstHash: string;
  readonly file: string;
  readonly written: SegmentFile;
  readonly before: Date;
  readonly at: Date;
  /** The checkpoint after which the segment was read; null for the first segment. */
  readonly previous: ArchiveCheckpoint | null;
}

/**
 * Appends the signed event after which the events of a segment may be deleted. Throws if another
 * archive finished meanwhile, or if the trail was found broken.
 */
export async function writeCheckpoint(
  { transaction }: Pick<Database, 'transaction'>,
  keys: AuditKey,
  created: NewCheckpoint,
): Promise<ArchiveCheckpoint> {
  await transaction((tx) => append(tx, keys, created));
  const checkpoint = await transaction((tx) => lastCheckpoint(tx, keys));
  if (checkpoint?.last === created.end.seq) return checkpoint;
  throw new Error('The signed checkpoint could not be read again, so nothing was deleted');
}

async function append(tx: Tx, keys: AuditKey, created: NewCheckpoint): Promise<void> {
  const { from, end, firstHash, file, written, before, at, previous } = created;
  await lockHead(tx);
  const last = await lastCheckpoint(tx, keys);
  const stored = await eventHashes(tx, [end.seq]);
  if (last?.seq !== previous?.seq || stored.get(end.seq) !== end.hash) throw new Error(OVERTAKEN);
  if ((await storedTrailError(tx)) !== null || (await isMarkedBroken(tx, keys))) {
    throw new Error('The audit trail is marked as broken. Repair it, or accept the gap, first');
  }
  const range = { first: from.seq + 1, last: end.seq, count: written.count };
  const body = {
    by: 'signalbox',
    did: `archived events ${range.first} to ${range.last} of the audit trail`,
    ...range,
    previous: from.hash,
    firstHash,
    lastHash: end.hash,
    nextKey: end.keyId,
    sha256: written.sha256,
    file,
    kept: await keptHash(tx, end.seq),
    installation: (await storeInstallationId(tx)) ?? '',
    before: toText(before),
  };
  await appendEvent(tx, keys, { kind: ARCHIVED, at, body });
  await writeMeta(tx, DELETABLE, String(end.seq));
  await requireSchema(tx, FIRST_SCHEMA);
}

const OVERTAKEN =
  'Another archive finished meanwhile, so this one wrote no checkpoint and deleted nothing. Run it again';
