/** The next number in [0, 1) of a sequence that its seed alone decides. */
export type RandomSource = () => number;

/** A number in [0, 1) that depends on nothing but the words, so that any day can be drawn alone. */
export function randomFraction(...words: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const char of words.join('\u0000')) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  // FNV alone leaves neighbouring dates alike; these two rounds spread their bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export function createRandom(seed: string): RandomSource {
  let drawn = 0;
  return () => randomFraction(seed, String(drawn++));
}

function hex(chance: RandomSource, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(chance() * 16).toString(16)).join('');
}

export function uuid(chance: RandomSource): string {
  const variant = '89ab'.charAt(Math.floor(chance() * 4));
  const parts = [hex(chance, 8), hex(chance, 4), `4${hex(chance, 3)}`, variant + hex(chance, 3)];
  return [...parts, hex(chance, 12)].join('-');
}

export function objectId(chance: RandomSource): string {
  return hex(chance, 24);
}

export function password(chance: RandomSource): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789~_';
  return Array.from({ length: 20 }, () =>
    letters.charAt(Math.floor(chance() * letters.length)),
  ).join('');
}
