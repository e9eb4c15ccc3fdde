const AT_MOST = 2_500;

/**
 * How much is tried: a little before every change, all of it with FUZZ_PAYLOADS or FUZZ_REPLIES set.
 * The same FUZZ_SEED draws the same again; the bot is started anew for each round.
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
