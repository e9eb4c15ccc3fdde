import type { ExpressionBuilder } from 'kysely';
import { z } from 'zod';
import { readMeta, writeMeta } from '../../storage/old/meta.ts';
import type { AuditEventTable, Db, Tables, Tx } from '../../storage/old/schema.ts';
import { appendEvent } from './append.ts';
import { isAuthentic, KEY_CHANGED, nextKeyId, readEventBody } from './chain.ts';
import { type AuditKey, currentKey, keyId } from './key-ring.ts';

/** For each key id that the trail has left, the number of its last event. */
export type LeftKeys = Readonly<Record<string, number>>;

const KEY_STARTED = 'key-started';
const POINTER = 'audit-key-started';
const Left = z.record(z.string(), z.int());

/** Selects the stored number of the last start of a key next to events, which saves a statement. */
export function keyStartPointer(eb: ExpressionBuilder<Tables, 'audit_event'>) {
  return eb.selectFrom('meta').select('value').where('key', '=', POINTER).as('pointer');
}

/** Appends the first event of a new key. It records where the events of each earlier key end. */
export async function storeKeyStart(
  tx: Tx,
  keys: AuditKey,
  { at, left }: { readonly at: Date; readonly left: LeftKeys },
): Promise<void> {
  const body = { by: 'signalbox', left };
  const { seq } = await appendEvent(tx, keys, { kind: KEY_STARTED, at, body });
  await writeMeta(tx, POINTER, String(seq));
}

/** `since` is null for a trail that had one key only. */
interface KeyStart {
  readonly id: string;
  readonly left: LeftKeys;
  readonly since: Date | null;
}

/**
 * Returns the authentic event that `storeKeyStart` wrote last, or null. It follows the event in which
 * the previous key names the new one: a leaked earlier key cannot declare that the trail returns to it.
 */
async function lastKeyStart(
  db: Db,
  keys: AuditKey,
  pointer: string | null,
): Promise<KeyStart | null> {
  const seq = Number(pointer ?? 'none');
  if (!Number.isInteger(seq)) return null;
  const query = db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', 'in', [seq - 1, seq]);
  const [change, row] = await query.orderBy('seq').execute();
  if (row?.kind !== KEY_STARTED || !isAuthentic(row, keys)) return null;
  const { key_id: id, at: since, body } = readEventBody(row);
  if (!change || !announces(change, id, keys) || row.prev_hash !== change.hash) return null;
  return { id, left: Left.safeParse(body.left).data ?? {}, since };
}

function announces(row: AuditEventTable, id: string, keys: AuditKey): boolean {
  if (row.kind !== KEY_CHANGED || !isAuthentic(row, keys)) return false;
  return readEventBody(row).key_id !== id && nextKeyId(row) === id;
}

/** Returns the keys that the trail left before it came to the key `active`. */
export async function leftKeys(db: Db, keys: AuditKey, active: string): Promise<LeftKeys> {
  const start = await lastKeyStart(db, keys, await readMeta(db, POINTER));
  return start?.id === active ? start.left : {};
}

/**
 * Returns whether an event is signed as it is, with the current key or, up to the recorded end of that
 * key, with an earlier one. An attacker who has a leaked earlier key cannot add such an event.
 * `pointer`: what `keyStartPointer` selected, if the caller has it already.
 */
export async function authenticityCheck(
  db: Db,
  keys: AuditKey,
  pointer?: string | null,
): Promise<(row: AuditEventTable) => boolean> {
  const { id, left } = await trustedStart(db, keys, pointer);
  return (row) => {
    if (!isAuthentic(row, keys)) return false;
    const { key_id } = readEventBody(row);
    // The chain begins with event 1: an event with a lower number has no place in it.
    return row.seq >= 1 && (key_id === id || row.seq <= (left[key_id] ?? 0));
  };
}

/**
 * Returns the start of the key that signs now. The own key signed the start, or the start records the
 * end of the own key. Others are not trusted.
 */
export async function trustedStart(
  db: Db,
  keys: AuditKey,
  pointer?: string | null,
): Promise<KeyStart> {
  const own = keyId(currentKey(keys));
  const stored = pointer === undefined ? await readMeta(db, POINTER) : pointer;
  const start = await lastKeyStart(db, keys, stored);
  const isTrusted = start !== null && (start.id === own || own in start.left);
  return isTrusted ? start : { id: own, left: {}, since: null };
}
