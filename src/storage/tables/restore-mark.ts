import { dropMeta, readMeta, replaceMeta, writeMeta } from './meta.ts';
import type { Db, Tx } from './schema.ts';

const EPOCH = 'restore-epoch';
const GUARDED = 'restore-guarded';

/** A person says that this database is an older copy; the next start acts on it. */
export async function announceRestore(tx: Tx, at: Date): Promise<void> {
  await writeMeta(tx, EPOCH, at.toISOString());
}

export function announcedRestore(db: Db): Promise<string | null> {
  return readMeta(db, EPOCH);
}

/** The last sign of a restore that was acted on: another replica finds the same one. */
export function lastHandledRestore(db: Db): Promise<string | null> {
  return readMeta(db, GUARDED);
}

/** False: another replica was first. */
export async function recordHandledRestore(
  tx: Tx,
  before: string | null,
  sign: string,
): Promise<boolean> {
  if (!(await replaceMeta(tx, GUARDED, before, sign))) return false;
  await dropMeta(tx, EPOCH);
  return true;
}
