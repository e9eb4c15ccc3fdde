import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import { HOUR_MS } from '../../base/time.ts';
import type { Db, InboxTable } from '../../storage/old/schema.ts';
import { trustedStart } from './key-eras.ts';
import { type AuditKey, currentKey, keyId, keysOf, keyWithId } from './key-ring.ts';

/** An older click is not handled: its user does not expect an effect any more. */
export const CLICK_LIFETIME_MS = HOUR_MS;
/** Clicks from before a key change are accepted this long after it; then a leaked key is useless. */
const AFTER_KEY_CHANGE_MS = 5 * 60_000;

/** `unsigned`: release 1.0 stored the click, or an attacker with access to the database. */
export type ClickProblem = 'unsigned' | 'signature-differs' | 'expired' | 'unreadable';

type SignedColumns = Pick<Selectable<InboxTable>, 'dedup_key' | 'kind' | 'body' | 'at'>;

/** `signing` is null without a SIGNALBOX_KEY: then clicks have no signature. */
export interface ClickKeys {
  readonly signing: Buffer | null;
  readonly accepted: readonly Buffer[];
}

/** Returns the keys of stored clicks: that of the audit trail, and for 5 minutes those before it. */
export async function clickKeys(db: Db, keys: AuditKey, now: Date): Promise<ClickKeys> {
  if (keys === null) return { signing: null, accepted: [] };
  const { id, left, since } = await trustedStart(db, keys);
  const signing = keyWithId(keys, id) ?? currentKey(keys);
  const isRotating = since !== null && now.getTime() - since.getTime() < AFTER_KEY_CHANGE_MS;
  const before = isRotating ? Object.keys(left) : [];
  const accepted = keysOf(keys).filter((key) => key === signing || before.includes(keyId(key)));
  return { signing, accepted };
}

/** Returns the HMAC-SHA-256 of everything that counts in a stored click, in hexadecimal digits. */
export function signClick(key: Buffer, { dedup_key, kind, body, at }: SignedColumns): string {
  return createHmac('sha256', signatureKey(key))
    .update(JSON.stringify([dedup_key, kind, body, at]))
    .digest('hex');
}

// SIGNALBOX_KEY also signs the audit chain: each use derives a key of its own.
const signatureKeys = new WeakMap<Buffer, Buffer>();

function signatureKey(key: Buffer): Buffer {
  const known = signatureKeys.get(key);
  if (known) return known;
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'signalbox click v1', 32));
  signatureKeys.set(key, derived);
  return derived;
}

/** Returns why a stored click must not be handled, or null. */
export function problemOf(
  row: SignedColumns & Pick<Selectable<InboxTable>, 'signature'>,
  { signing, accepted }: ClickKeys,
  now: Date,
): ClickProblem | null {
  const { signature } = row;
  if (signing && signature === null) return 'unsigned';
  if (signing && !accepted.some((key) => isSame(signature ?? '', signClick(key, row)))) {
    return 'signature-differs';
  }
  const ageMs = now.getTime() - new Date(row.at).getTime();
  if (Number.isNaN(ageMs)) return 'unreadable';
  return ageMs > CLICK_LIFETIME_MS ? 'expired' : null;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
