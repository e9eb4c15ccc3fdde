import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sandboxYaml } from '../sandbox/configuration.ts';
import { freePort } from '../sandbox/free-port.ts';
import { type Child, startChild } from './child.ts';

const READY_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 5;

export type SideName = 'blank' | 'bare' | 'signalbox';

interface Side {
  readonly script: string;
  /** What is asked, and the status that says that the app is ready. */
  readonly probe: string;
  readonly status: number;
}

const SIDES: Readonly<Record<SideName, Side>> = {
  blank: { script: 'bench/blank.ts', probe: '/', status: 200 },
  // Bolt has no page to show, and saying so is the first that can be heard of it.
  bare: { script: 'bench/bare.ts', probe: '/', status: 404 },
  signalbox: { script: 'src/main.ts', probe: '/readyz', status: 200 },
};

export interface Start {
  readonly readyMs: number;
  /** The same in time of the processor, which what else runs on the machine hardly changes. */
  readonly readyCpuMs: number;
}

export interface Running extends Child, Start {
  readonly origin: string;
  readonly databaseUrl: string;
  readonly key: Buffer;
}

interface Options {
  readonly env: Readonly<Record<string, string>>;
  /** Where databases and configurations lie; whoever made it throws it away. */
  readonly folder: string;
  readonly profile: string | null;
  /** The configuration, where it is not that of the sandbox. */
  readonly yaml?: string;
  /** The program of Signalbox, where it is not the source. */
  readonly program?: string;
}

/** A fresh start, with a database that does not exist yet. */
export async function startSide(name: SideName, options: Options): Promise<Running> {
  const { script, probe, status } = SIDES[name];
  const program = name === 'signalbox' ? (options.program ?? script) : script;
  const folder = mkdtempSync(join(options.folder, `${name}-`));
  writeFileSync(join(folder, 'signalbox.yaml'), options.yaml ?? sandboxYaml());
  const port = await freePort();
  const databaseUrl = `file:${join(folder, 'signalbox.db')}`;
  const key = randomBytes(32);
  const env = {
    LOG_LEVEL: 'warn',
    // As `npm start` sets it; the first of the starts fills it, for either side.
    NODE_COMPILE_CACHE: join(options.folder, 'compiled'),
    ...options.env,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    SIGNALBOX_CONFIG: join(folder, 'signalbox.yaml'),
    SIGNALBOX_KEY: key.toString('base64'),
  };
  const origin = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = startChild(program, { env, profile: options.profile });
  try {
    await ready(new URL(probe, origin), status, child);
    const readyMs = performance.now() - began;
    const { cpuMs } = await child.gauge();
    return { ...child, origin, databaseUrl, key, readyMs, readyCpuMs: cpuMs };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

async function ready(url: URL, wanted: number, child: Child): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until) {
    if (child.hasStopped()) throw new Error('An app stopped while it was starting.');
    const status = await statusOf(url);
    if (status === wanted) return;
    await wait(LOOK_EVERY_MS);
  }
  throw new Error('An app did not become ready in time.');
}

async function statusOf(url: URL): Promise<number | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    // Nobody listens yet; how long that may last is the caller's to say.
    return null;
  }
}
