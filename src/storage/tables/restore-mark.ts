import { dropMeta, readMeta, replaceMeta, writeMeta } from './meta.ts';
import type { Db, Tx } from './schema.ts';

const EPOCH = 'restore-epoch';
const GUARDED = 'restore-guarded';

/** Records that this database is a restored copy. The next start stops its open changes. */
export async function announceRestore(tx: Tx, at: Date): Promise<void> {
  await writeMeta(tx, EPOCH, at.toISOString());
}

export function announcedRestore(db: Db): Promise<string | null> {
  return readMeta(db, EPOCH);
}

/** Returns the last restore that was handled, so that other replicas do not repeat it. */
export function lastHandledRestore(db: Db): Promise<string | null> {
  return readMeta(db, GUARDED);
}

/** Returns false if another replica was first. */
export async function recordHandledRestore(
  tx: Tx,
  before: string | null,
  restore: string,
): Promise<boolean> {
  if (!(await replaceMeta(tx, GUARDED, before, restore))) return false;
  await dropMeta(tx, EPOCH);
  return true;
}
