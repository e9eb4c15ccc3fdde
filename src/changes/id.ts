import type { ChangeId } from './change.ts';

// Without I, L, O, U, 0 and 1, because users read ids aloud and type them on phones.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Makes a six-character id from random bytes: 730 million ids; the database refuses duplicates. */
export function changeIdFrom(bytes: Uint8Array): ChangeId {
  const letters = [...bytes.slice(0, 6)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  // The only place that makes a ChangeId.
  return letters.join('') as ChangeId;
}

export function isChangeId(text: string): text is ChangeId {
  return /^[2-9A-HJKMNP-TV-Z]{6}$/.test(text);
}
