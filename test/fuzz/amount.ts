const AT_MOST = 2_500;

/**
 * The number of tried cases: a short share by default, or the value of FUZZ_PAYLOADS, FUZZ_REPLIES or FUZZ_AGENTS.
 * The same FUZZ_SEED draws the same cases; each round starts a new bot.
 */
export function howMany(wanted: string | undefined, usual: number) {
  const total = Number(wanted ?? usual);
  const count = Math.ceil(total / AT_MOST);
  return {
    seed: process.env.FUZZ_SEED ?? 'signalbox',
    rounds: Array.from({ length: count }, (_, round) => round + 1),
    each: Math.ceil(total / count),
  };
}
