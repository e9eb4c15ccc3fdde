import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const GAUGE = new URL('gauge.ts', import.meta.url).href;
const SPEAKS_WITHIN_MS = 15_000;
const STOPS_WITHIN_MS = 25_000;

const Gauge = z.strictObject({ rssBytes: z.number(), cpuMs: z.number() });
export type Gauge = z.infer<typeof Gauge>;

export interface Child {
  readonly hasStopped: () => boolean;
  /** What the process sends of itself next. */
  readonly told: (withinMs?: number) => Promise<unknown>;
  readonly gauge: () => Promise<Gauge>;
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly env: Readonly<Record<string, string>>;
  /** The folder into which the process writes a CPU profile when it ends. */
  readonly profile?: string | null;
}

const running = new Set<ChildProcess>();
// However the measurement ends, nothing that it started stays behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a script of this project with nothing in its environment but what is given. */
export function startChild(script: string, { env, profile = null }: Options): Child {
  const profiling = profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const child = spawn(process.execPath, [...profiling, '--import', GAUGE, script], {
    cwd: ROOT,
    env: { ...env, PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));

  const told = async (withinMs = SPEAKS_WITHIN_MS): Promise<unknown> => {
    const [message] = await once(child, 'message', {
      signal: AbortSignal.timeout(withinMs),
    });
    return message;
  };
  return {
    hasStopped: () => !running.has(child),
    told,
    gauge: async () => {
      const reply = told();
      child.send('gauge');
      return Gauge.parse(await reply);
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await gone;
  clearTimeout(late);
}
