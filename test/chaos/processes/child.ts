import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CRASHING_BOT } from '../../harness/programs.ts';
import { PROCESS_ENV } from '../../harness/run-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HOOKS = new URL('hooks.ts', import.meta.url).href;
const ENTRY = fileURLToPath(new URL('bot.ts', import.meta.url));
// The bundle is built from the source without a defect.
const PROGRAM =
  process.env.SIGNALBOX_DEFECT === undefined ? [CRASHING_BOT] : ['--import', HOOKS, ENTRY];
const Ready = z.strictObject({ port: z.number() });

const running = new Set<ChildProcess>();
// No child process may outlive the tests.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ControlledBot {
  readonly url: string;
  readonly isAlive: () => boolean;
  readonly exited: Promise<void>;
  readonly send: (order: { now: string } | { do: 'wake' | 'stop' }) => void;
  readonly kill: () => Promise<void>;
}

/** Starts the bot with exactly this environment. Returns null if it exited during the start. */
export async function startControlledBot(
  env: Readonly<Record<string, string>>,
): Promise<ControlledBot | null> {
  const child = spawn(process.execPath, PROGRAM, {
    cwd: ROOT,
    env: { ...PROCESS_ENV, ...env, ...passedOn() },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  const exited = once(child, 'exit').then(() => void running.delete(child));
  const ready = once(child, 'message').then(([message]) => Ready.parse(message).port);
  const port = await Promise.race([ready, exited.then(() => null)]);
  if (port === null) return null;
  const isAlive = () => running.has(child);
  return {
    url: `http://127.0.0.1:${port}`,
    exited,
    isAlive,
    send: (order) => {
      // A message to a process that is exiting is ignored.
      if (isAlive()) child.send(order, () => undefined);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function passedOn(): Record<string, string> {
  const kept = ['TEST_LOG', 'SIGNALBOX_DEFECT'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
