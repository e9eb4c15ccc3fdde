import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HOOKS = new URL('hooks.ts', import.meta.url).href;
const ENTRY = fileURLToPath(new URL('bot.ts', import.meta.url));
const Ready = z.strictObject({ port: z.number() });

const running = new Set<ChildProcess>();
// However the tests end, no process of theirs stays behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface BotProcess {
  readonly port: number;
  readonly isAlive: () => boolean;
  readonly died: Promise<void>;
  readonly tell: (order: { now: string } | { do: 'wake' | 'stop' }) => void;
  readonly kill: () => Promise<void>;
}

/** Starts the bot with nothing in its environment but what is given. Null: it died at the start. */
export async function startBot(env: Readonly<Record<string, string>>): Promise<BotProcess | null> {
  const child = spawn(process.execPath, ['--import', HOOKS, ENTRY], {
    cwd: ROOT,
    env: { ...env, PATH: process.env.PATH ?? '', ...passedOn() },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  const died = once(child, 'exit').then(() => void running.delete(child));
  const ready = once(child, 'message').then(([message]) => Ready.parse(message).port);
  const port = await Promise.race([ready, died.then(() => null)]);
  if (port === null) return null;
  const isAlive = () => running.has(child);
  return {
    port,
    died,
    isAlive,
    tell: (order) => {
      // One that is dying is told in vain, and that is no fault of the test.
      if (isAlive()) child.send(order, () => undefined);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await died;
    },
  };
}

function passedOn(): Record<string, string> {
  const kept = ['TEST_LOG', 'SIGNALBOX_DEFECT', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
