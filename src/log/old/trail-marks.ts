import { type SqlBool, sql } from 'kysely';
import { dropMeta, readMeta, replaceMeta } from '../../storage/old/meta.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import { appendEvent } from './append.ts';
import { authenticityCheck } from './key-eras.ts';
import type { AuditKey } from './key-ring.ts';

type Mark = 'trail-broken' | 'trail-verified';

/** Records the result of a verification in the trail itself, where it cannot be deleted unnoticed. */
export async function recordTrailMark(
  tx: Tx,
  key: AuditKey,
  kind: Mark,
  { problem, at }: { readonly problem: string | null; readonly at: Date },
): Promise<void> {
  await appendEvent(tx, key, { kind, at, body: { by: 'signalbox', problem } });
}

/** Returns the last result; a signed one, except that an unsigned event also marks a broken trail. */
export async function lastTrailMark(
  db: Db,
  key: AuditKey,
): Promise<{ readonly kind: string; readonly seq: number } | null> {
  // Written as in the index `audit_event_marks`: SQLite uses such an index for the same text only.
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where(sql<SqlBool>`kind in ('trail-broken', 'trail-verified')`)
    .orderBy('seq')
    .execute();
  const isSigned = await authenticityCheck(db, key);
  return rows.findLast((row) => row.kind === 'trail-broken' || isSigned(row)) ?? null;
}

/** Whether the trail was found broken, and no later signed event records a successful verification. */
export async function isMarkedBroken(db: Db, key: AuditKey): Promise<boolean> {
  return (await lastTrailMark(db, key))?.kind === 'trail-broken';
}

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
