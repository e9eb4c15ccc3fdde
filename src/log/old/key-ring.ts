import { createHash } from 'node:crypto';

/** SIGNALBOX_KEY, and the keys of SIGNALBOX_PREVIOUS_KEYS: earlier ones, or the next one. */
export interface KeyRing {
  readonly current: Buffer;
  /** These verify and unseal. They sign only after a key-change event named them. */
  readonly previous: readonly Buffer[];
}

/** A buffer is a ring without previous keys. Null: the trail is a plain hash chain. */
export type AuditKey = KeyRing | Buffer | null;

export const NO_KEY = 'none';

/** Returns the ring of keys in base64; null without a current key. */
export function readKeyRing(current: string | null, previous: readonly string[]): KeyRing | null {
  const decoded = (text: string) => Buffer.from(text, 'base64');
  return current === null ? null : { current: decoded(current), previous: previous.map(decoded) };
}

/** Returns all keys, the current one first. */
export function keysOf(keys: AuditKey): readonly Buffer[] {
  if (keys === null) return [];
  return Buffer.isBuffer(keys) ? [keys] : [keys.current, ...keys.previous];
}

export function currentKey(keys: AuditKey): Buffer | null {
  return keysOf(keys)[0] ?? null;
}

/** Returns the key with this id, or null if the ring does not have it. */
export function keyWithId(keys: AuditKey, id: string): Buffer | null {
  return keysOf(keys).find((key) => keyId(key) === id) ?? null;
}

// Identifies a key without revealing it.
export function keyId(key: Buffer | null): string {
  if (!key) return NO_KEY;
  const known = keyIds.get(key) ?? createHash('sha256').update(key).digest('hex').slice(0, 8);
  keyIds.set(key, known);
  return known;
}

// Cached, because it is needed for every event and costs as much as the link.
const keyIds = new WeakMap<Buffer, string>();
