import leven from 'leven';

/** Returns at most `most` known words similar to `typed`, best first; empty if none is similar. */
export function nearest(typed: string, known: readonly string[], most = 3): readonly string[] {
  const wanted = typed.toLowerCase();
  const limit = Math.max(2, Math.ceil(wanted.length / 3));
  return [...new Set(known)]
    .map((word) => ({ word, distance: distance(wanted, word.toLowerCase(), limit) }))
    .filter((candidate) => candidate.distance <= limit)
    .sort((a, b) => a.distance - b.distance || a.word.localeCompare(b.word))
    .slice(0, most)
    .map(({ word }) => word);
}

// People most often type the beginning or a part of a name.
function distance(wanted: string, word: string, limit: number): number {
  if (wanted !== '' && word.startsWith(wanted)) return 0.5;
  if (wanted.length >= 3 && word.includes(wanted)) return 1;
  // The difference in length alone exceeds the limit; this skips the costly comparison.
  if (Math.abs(wanted.length - word.length) > limit) return Number.POSITIVE_INFINITY;
  return leven(wanted, word);
}
