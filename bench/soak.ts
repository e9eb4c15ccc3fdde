import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkEndState } from './soak/check-end-state.ts';
import { live } from './soak/load.ts';
import { watchMemory } from './soak/memory.ts';
import { promises, report } from './soak/report.ts';
import { type SoakSandbox, startSoakSandbox } from './soak/soak-sandbox.ts';

/** A lease that a fault left behind runs out in three minutes; then its work is done by others. */
const CALM_WITHIN_MS = 240_000;
const QUIET = [
  'signalbox_open_changes{state="approved"} 0',
  'signalbox_open_changes{state="executing"} 0',
  'signalbox_queue_depth{queue="outbox"} 0',
  'signalbox_queue_depth{queue="inbox"} 0',
];

interface Options {
  readonly minutes: number;
  readonly perSecond: number;
  readonly seed: string;
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '30' },
      rate: { type: 'string', default: '4' },
      seed: { type: 'string', default: 'a monday' },
    },
  });
  const minutes = Number(values.minutes);
  const perSecond = Number(values.rate);
  if (!(minutes > 0 && minutes <= 1_440)) throw new Error('--minutes must be from 1 to 1440');
  if (!(perSecond > 0 && perSecond <= 20)) throw new Error('--rate must be from 1 to 20');
  return { minutes, perSecond, seed: values.seed };
}

/** Mixed work of many people with faults, for a while, and what is left of the promises then. */
export async function soak(args: readonly string[], folder: string): Promise<boolean> {
  const { minutes, perSecond, seed } = readOptions(args);
  const sandbox = await startSoakSandbox(folder);
  try {
    const memory = watchMemory(sandbox.bot);
    const until = performance.now() + minutes * 60_000;
    const tally = await live(sandbox, { perSecond, seed, until });
    memory.stop();
    await calm(sandbox);
    const died = sandbox.bot.hasStopped();
    await sandbox.bot.stop();
    const verdict = await checkEndState(sandbox, tally.confirmed);
    const soaked = { minutes, samples: memory.samples, tally, verdict, died };
    process.stdout.write(`${report(soaked)}\n`);
    return promises(soaked).every(({ kept }) => kept);
  } finally {
    await sandbox.close();
  }
}

async function calm({ bot }: SoakSandbox): Promise<void> {
  let isQuiet = false;
  const look = async () => {
    const told = await (await fetch(`${bot.origin}/metrics`)).text();
    isQuiet = QUIET.every((line) => told.includes(line));
  };
  const until = performance.now() + CALM_WITHIN_MS;
  while (!isQuiet && performance.now() < until && !bot.hasStopped()) {
    await look();
    await wait(isQuiet ? 0 : 1_000);
  }
}
