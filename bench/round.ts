import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'vite';
import { z } from 'zod';
import { type Child, startChild } from './child.ts';
import { type SignedCommand, signedCommands } from './commands.ts';
import { acknowledgements, type Figures, median, percentile } from './figures.ts';
import { type Load, openLoad, type Pace } from './load.ts';
import { type Running, type SideName, type Start, startSide } from './side.ts';

const STARTS = 3;
/** At 300 a second each of the crowd has typed once by then, and is known. */
const WARM_SECONDS = 4;
const IN_FLIGHT = 100;
const SATURATED_SECONDS = 5;
const SETTLES_WITHIN_MS = 10_000;

const Surroundings = z.strictObject({
  url: z.url(),
  team: z.string(),
  app: z.string(),
  env: z.record(z.string(), z.string()),
});

export interface Bench {
  readonly measure: (name: SideName) => Promise<Figures>;
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly pace: Pace;
  readonly folder: string;
  readonly profile: string | null;
}

/** The stand-ins, and beside them one app after the other. */
export async function openBench({ pace, folder, profile }: Options): Promise<Bench> {
  const child = startChild('bench/surroundings.ts', { env: {} });
  const { url, team, app, env } = Surroundings.parse(await child.told());
  const signingSecret = env.SLACK_SIGNING_SECRET ?? '';
  const sender = { signingSecret, team, app, answersUrl: `${url}/answers` };
  const program = await bundleIn(join(folder, 'bundle'));
  const answers = async () => Number(await (await fetch(`${url}/answers`)).text());

  const measure = async (name: SideName): Promise<Figures> => {
    const own = { env, folder, program, profile: name === 'signalbox' ? profile : null };
    const starts = [];
    for (let start = 1; start < STARTS; start += 1) starts.push(await startOnly(name, own));
    const running = await startSide(name, own);
    try {
      const commands = signedCommands(pace.rate * pace.seconds, sender, new Date());
      const loaded = await underLoad(running, { commands, pace, answers, name });
      return { ...loaded, ...startsAsOne([...starts, running]) };
    } finally {
      await running.stop();
    }
  };
  return { measure, stop: child.stop };
}

/** What an image or a release runs. */
async function bundleIn(outDir: string): Promise<string> {
  await build({ configFile: 'deploy/bundle.config.ts', build: { outDir, emptyOutDir: true } });
  return join(outDir, 'main.js');
}

async function startOnly(name: SideName, options: Parameters<typeof startSide>[1]): Promise<Start> {
  const { readyMs, readyCpuMs, stop } = await startSide(name, options);
  await stop();
  return { readyMs, readyCpuMs };
}

function startsAsOne(starts: readonly Start[]): Start {
  return {
    readyMs: median(starts.map(({ readyMs }) => readyMs)),
    readyCpuMs: median(starts.map(({ readyCpuMs }) => readyCpuMs)),
  };
}

interface Work {
  readonly name: SideName;
  readonly commands: readonly SignedCommand[];
  readonly pace: Pace;
  /** How many answers have come from whatever app was measured so far. */
  readonly answers: () => Promise<number>;
}

async function underLoad(running: Running, work: Work): Promise<Omit<Figures, keyof Start>> {
  const load = openLoad(running.origin, work.commands);
  try {
    const paced = await atPace(running, load, work);
    return { ...paced, ...(await saturated(load, work)) };
  } finally {
    await load.close();
  }
}

async function atPace(child: Child, load: Load, { name, pace, answers }: Work) {
  const answersBefore = await answers();
  const cold = await load.offer({ rate: pace.rate, seconds: WARM_SECONDS });
  const before = await child.gauge();
  const exchanges = await load.offer(pace);
  const expected = name === 'blank' ? 0 : cold.length + exchanges.length;
  const unanswered = await missing(answers, answersBefore + expected);
  const after = await child.gauge();
  return {
    ...acknowledgements(exchanges),
    coldMaxMs: percentile(
      cold.map(({ ms }) => ms),
      1,
    ),
    unanswered,
    cpuMsPerCommand: (after.cpuMs - before.cpuMs) / exchanges.length,
    rssMib: after.rssBytes / 2 ** 20,
  };
}

async function saturated(load: Load, { name, answers }: Work) {
  const before = await answers();
  const { acknowledged, sent, seconds } = await load.saturate(IN_FLIGHT, SATURATED_SECONDS);
  const answered = (await answers()) - before;
  // The rest is waited for, so that the next app does not get the blame or the credit for it.
  if (name !== 'blank') await missing(answers, before + sent);
  return { acksPerSecond: acknowledged / seconds, answersPerSecond: answered / seconds };
}

async function missing(answers: () => Promise<number>, expected: number): Promise<number> {
  const until = performance.now() + SETTLES_WITHIN_MS;
  let come = await answers();
  while (come < expected && performance.now() < until) {
    await wait(50);
    come = await answers();
  }
  return expected - come;
}
