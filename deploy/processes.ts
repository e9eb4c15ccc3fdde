import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

const READY_WITHIN_MS = 30_000;
/** The user of the image. Empty when this process is not root and cannot change its user. */
export const OWNER = process.getuid?.() === 0 ? { uid: 10_001, gid: 10_001 } : {};

export function start(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
) {
  return spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], ...OWNER });
}

export function run(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
) {
  return spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: 10_000, ...OWNER });
}

export async function ready(url: string, bot: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until) {
    if (bot.exitCode !== null) throw new Error('The bot stopped during its start.');
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await wait(20);
  }
  throw new Error('The bot did not become ready in time.');
}

export function memoryOf({ pid }: ChildProcess): string {
  const { stdout: kibibytes } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  return `${Math.round(Number(kibibytes) / 1_024)} MB of memory`;
}
