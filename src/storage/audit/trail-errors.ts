import { dropMeta, readMeta, replaceMeta } from '../tables/meta.ts';
import type { Db, Tx } from '../tables/schema.ts';

const BROKEN = 'audit-broken';

/** What the last look at the audit trail found, in words, by whichever replica; null for nothing. */
export function storedTrailError(db: Db): Promise<string | null> {
  return readMeta(db, BROKEN);
}

/** False: another replica was first. */
export function storeTrailError(tx: Tx, before: string | null, trouble: string): Promise<boolean> {
  return replaceMeta(tx, BROKEN, before, trouble);
}

export function clearTrailError(tx: Tx): Promise<void> {
  return dropMeta(tx, BROKEN);
}
