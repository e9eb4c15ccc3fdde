import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../sandbox/free-port.ts';
import { peopleOn } from './people.ts';
import { BOT } from './programs.ts';
import { PROCESS_ENV, runCommand } from './run-command.ts';
import { type ProcessOptions, startSimulatorsForProcess } from './simulators.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const Line = z.looseObject({ msg: z.string(), port: z.number().optional() });

/** Each poll costs the process a part of the processor. */
export const PROCESS_LIMITS = { interval: 50 };

/** One process of the bot, with its signals and its log. */
export interface BotProcess {
  readonly url: string;
  readonly pid: number | undefined;
  readonly signal: (name: 'SIGTERM' | 'SIGHUP' | 'SIGUSR2' | 'SIGKILL') => void;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** The messages of the log so far. */
  readonly logged: () => readonly string[];
  /** The raw lines of the log so far. */
  readonly logLines: () => readonly string[];
}

export interface ProcessSandboxOptions extends ProcessOptions {
  /** Environment variables that replace or extend the default ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** A module that the process loads before the bot. */
  readonly preload?: string;
  /** The program; by default the bundle, and the source where a preloaded module replaces parts of it. */
  readonly program?: string;
}

type Env = Readonly<Record<string, string>>;

/** The simulators in this process, on the real clock; `start` adds a process of the bot. */
export async function startProcessSandbox(options: ProcessSandboxOptions) {
  const { env: more, preload, program = preload ? 'src/main.ts' : BOT, ...rest } = options;
  const words = [...(preload ? ['--import', preload] : []), program];
  const simulators = await startSimulatorsForProcess(rest);
  const { slack, cloud, deliverTo, writeConfig } = simulators;
  const children = new Set<ChildProcess>();
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL');
    await simulators.stop();
  });
  const env: Record<string, string> = { ...simulators.env, ...more };
  return {
    slack,
    cloud,
    /** Of each program that is started from now on. */
    env,
    deliverTo,
    writeConfig,
    start: () => startProcess(env, children, words),
    /** Starts a process whose start does not end. */
    startWaiting: () => spawnBot(env, children, words).bot,
    /** Starts a process and delivers Slack's requests to it. */
    startAndDeliver: async () => {
      const bot = await startProcess(env, children, words);
      deliverTo(bot);
      return bot;
    },
    failedStart: () => failedStart(env),
    ...peopleOn(slack, PROCESS_LIMITS),
  };
}

export type ProcessSandbox = Awaited<ReturnType<typeof startProcessSandbox>>;

type WaitingProcess = Omit<BotProcess, 'url'>;

async function startProcess(
  env: Env,
  children: Set<ChildProcess>,
  words: readonly string[],
): Promise<BotProcess> {
  // The system would give a port of its own choice to another program as soon as this process has ended.
  const own = env.PORT === '0' ? { ...env, PORT: String(await freePort()) } : env;
  const { bot, port } = spawnBot(own, children, words);
  const open = await port;
  if (open === null) throw new Error('The bot does not start');
  return { ...bot, url: `http://127.0.0.1:${open}` };
}

function spawnBot(env: Env, children: Set<ChildProcess>, words: readonly string[]) {
  const child = spawn(process.execPath, words, {
    cwd: ROOT,
    env: { ...PROCESS_ENV, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  // Resolves after the process has exited and its output was read.
  const exited = once(child, 'close').then(([code]): number | null => {
    children.delete(child);
    return typeof code === 'number' ? code : null;
  });
  const logLines: string[] = [];
  const logged: string[] = [];
  const port = Promise.withResolvers<number | null>();
  createInterface({ input: child.stdout }).on('line', (written) => {
    const line = Line.parse(JSON.parse(written));
    logLines.push(written);
    logged.push(line.msg);
    if (line.port !== undefined) port.resolve(line.port);
  });
  void exited.then(() => port.resolve(null));
  const bot: WaitingProcess = {
    pid: child.pid,
    exited,
    logged: () => logged,
    logLines: () => logLines,
    signal: (name) => void child.kill(name),
  };
  return { bot, port: port.promise };
}

/** Runs a start that fails, and returns its error output and exit code. */
async function failedStart(env: Env) {
  const { err: errors, code } = await runCommand([BOT], env);
  return { code, errors };
}

/** Whether a load balancer would send requests to it; false if it is gone. */
export async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    // The process does not listen any more.
    return false;
  }
}
