import { GENESIS } from '../../storage/old/001-initial.ts';
import type { Head } from '../../storage/old/checkpoint.ts';
import type { Db } from '../../storage/old/schema.ts';
import type { Walk } from './chain.ts';
import { type ArchiveCheckpoint, KEPT_KINDS, keptHash, lastCheckpoint } from './checkpoints.ts';
import { type AuditKey, NO_KEY } from './key-ring.ts';

/** Where the verification of the stored events begins. */
export interface ChainStart {
  readonly from: Walk;
  /** The archived event that the walk must pass, because its deletion has not finished; else null. */
  readonly pass: Head | null;
  /** Whether the kept events of the archived part are those that the checkpoint signs. */
  readonly ok: boolean;
}

/**
 * Returns the event after which the stored chain begins: event 0, or the last one that a signed
 * checkpoint covers. Archived events are deleted in order, so that the rest of an unfinished deletion
 * is a chain that ends at the checkpoint's last event. Any other archived row was put back.
 */
export async function chainStart(db: Db, keys: AuditKey): Promise<ChainStart> {
  const checkpoint = await lastCheckpoint(db, keys);
  if (!checkpoint) {
    return { from: { seq: 0, hash: GENESIS, keyId: NO_KEY }, pass: null, ok: true };
  }
  const { last: seq, lastHash: hash, nextKey: keyId } = checkpoint;
  const ok = (await keptHash(db, seq)) === checkpoint.kept;
  const rest = await firstRest(db, checkpoint);
  if (!rest) return { from: { seq, hash, keyId }, pass: null, ok };
  const from = { seq: rest.seq - 1, hash: rest.prev_hash, keyId: NO_KEY };
  return { from, pass: { seq, hash }, ok };
}

/** The first archived row that the deletion will remove. */
function firstRest(db: Db, { last }: ArchiveCheckpoint) {
  return db
    .selectFrom('audit_event')
    .select(['seq', 'prev_hash'])
    .where('seq', '<=', last)
    .where('kind', 'not in', KEPT_KINDS)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
}
