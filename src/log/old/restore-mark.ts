import { dropMeta, readMeta, replaceMeta, writeMeta } from '../../storage/old/meta.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';

const EPOCH = 'restore-epoch';
const GUARDED = 'restore-guarded';
const SIGNS_MAX = 1_000;

/** How the record of a handled restore names one that an operator announced. */
export const ANNOUNCED = 'announced ';

/** Records that this database is a restored copy. The next start stops its open changes. */
export async function announceRestore(tx: Tx, at: Date): Promise<void> {
  await writeMeta(tx, EPOCH, at.toISOString());
}

export function announcedRestore(db: Db): Promise<string | null> {
  return readMeta(db, EPOCH);
}

/** Whether an operator announced this database as the replacement of another one, at any time. */
export async function isReplacement(db: Db): Promise<boolean> {
  if ((await announcedRestore(db)) !== null) return true;
  const { signs } = await handledRestores(db);
  return signs.some((sign) => sign.startsWith(ANNOUNCED));
}

interface HandledRestores {
  /** One line per sign of a restore that was handled, oldest first. */
  readonly signs: readonly string[];
  /** As stored, so that a replica notices another one. */
  readonly stored: string | null;
}

export async function handledRestores(db: Db): Promise<HandledRestores> {
  const stored = await readMeta(db, GUARDED);
  return { signs: stored ? stored.split('\n') : [], stored };
}

/** Adds signs to the handled ones, of which the newest are kept. Returns false if another replica was first. */
export async function recordHandledRestore(
  tx: Tx,
  { signs, stored }: HandledRestores,
  fresh: readonly string[],
): Promise<boolean> {
  const all = [...signs, ...fresh].slice(-SIGNS_MAX).join('\n');
  if (!(await replaceMeta(tx, GUARDED, stored, all))) return false;
  await dropMeta(tx, EPOCH);
  return true;
}
