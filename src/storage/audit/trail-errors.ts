import { dropMeta, readMeta, replaceMeta } from '../tables/meta.ts';
import type { Db, Tx } from '../tables/schema.ts';

const BROKEN = 'audit-broken';

/** Returns the problem that a replica found in the audit trail, as a sentence; or null. */
export function storedTrailError(db: Db): Promise<string | null> {
  return readMeta(db, BROKEN);
}

/** Returns false if another replica was first. */
export function storeTrailError(tx: Tx, before: string | null, problem: string): Promise<boolean> {
  return replaceMeta(tx, BROKEN, before, problem);
}

export function clearTrailError(tx: Tx): Promise<void> {
  return dropMeta(tx, BROKEN);
}
