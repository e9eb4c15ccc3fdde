import type { Child } from '../child.ts';
import { median } from '../figures.ts';

const EVERY_MS = 10_000;
/** So many in a row are told as one, for a single sample is mostly a matter of the last collection. */
const AS_ONE = 6;

export interface Memory {
  readonly samples: readonly number[];
  readonly stop: () => void;
}

/** The resident set of the bot in MiB, every ten seconds. */
export function watchMemory(bot: Child): Memory {
  const samples: number[] = [];
  const timer = setInterval(() => {
    bot.gauge().then(
      ({ rssBytes }) => samples.push(rssBytes / 2 ** 20),
      // A bot that has died is told by everything else.
      () => clearInterval(timer),
    );
  }, EVERY_MS);
  return { samples, stop: () => clearInterval(timer) };
}

export interface Growth {
  readonly early: number;
  readonly late: number;
  readonly most: number;
}

/** After the first five minutes, or a sixth of what is shorter than half an hour, and at the end. */
export function growthOf(samples: readonly number[], minutes: number): Growth {
  const earlyAt = Math.round((Math.min(5, minutes / 6) * 60_000) / EVERY_MS);
  const early = samples.slice(Math.max(0, earlyAt - AS_ONE / 2), earlyAt + AS_ONE / 2);
  return {
    early: median(early),
    late: median(samples.slice(-AS_ONE)),
    most: Math.max(...samples),
  };
}
