/** Returns the next number in [0, 1) of a sequence that depends only on its seed. */
export type RandomSource = () => number;

/** A number in [0, 1) that depends only on the words. */
export function randomFraction(...words: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const [index, word] of words.entries()) {
    // As if the words were joined with the character 0.
    if (index > 0) hash = Math.imul(hash, 0x01000193);
    for (let at = 0; at < word.length; at += 1) {
      hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
    }
  }
  // FNV alone gives similar numbers for neighbouring dates; these two rounds spread the bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The seed of all that the simulators make up. */
export const SEED = 'signalbox';

export function createRandom(seed = SEED): RandomSource {
  let count = 0;
  return () => randomFraction(seed, String(count++));
}

function hex(random: RandomSource, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
}

export function uuid(random: RandomSource): string {
  const variant = '89ab'.charAt(Math.floor(random() * 4));
  const parts = [hex(random, 8), hex(random, 4), `4${hex(random, 3)}`, variant + hex(random, 3)];
  return [...parts, hex(random, 12)].join('-');
}

export function objectId(random: RandomSource): string {
  return hex(random, 24);
}

export function password(random: RandomSource): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789~_';
  return Array.from({ length: 20 }, () =>
    letters.charAt(Math.floor(random() * letters.length)),
  ).join('');
}
