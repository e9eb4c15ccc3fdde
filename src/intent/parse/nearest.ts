import leven from 'leven';

/** The known words most like what was typed, best first; none where nothing is near. */
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

// A beginning or a part of a name is what people type most often.
function distance(wanted: string, word: string, limit: number): number {
  if (wanted !== '' && word.startsWith(wanted)) return 0.5;
  if (wanted.length >= 3 && word.includes(wanted)) return 1;
  // That far apart they are by their lengths alone: a very long line is not compared to every name.
  if (Math.abs(wanted.length - word.length) > limit) return Number.POSITIVE_INFINITY;
  return leven(wanted, word);
}
