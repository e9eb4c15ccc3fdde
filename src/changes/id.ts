import type { ChangeId } from './change.ts';

// No I, L, O, U, 0, 1: an id is read aloud and typed from a phone.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Six characters from random bytes: some 730 million, and the database refuses a second use. */
export function changeIdFrom(bytes: Uint8Array): ChangeId {
  const letters = [...bytes.slice(0, 6)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  // The brand is put on here and nowhere else.
  return letters.join('') as ChangeId;
}

export function isChangeId(text: string): text is ChangeId {
  return /^[2-9A-HJKMNP-TV-Z]{6}$/.test(text);
}
