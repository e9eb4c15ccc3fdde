import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Wait } from '../../../sandbox/api/simulator.ts';
import { startCloudSimulator } from '../../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../../sandbox/configuration.ts';
import { CLOUD_KEY } from '../../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../../sandbox/seed/shapes.ts';
import { startSlackSimulator } from '../../../sandbox/slack/server.ts';
import type { Workspace } from '../../../sandbox/slack/workspace.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SECRET = 'a-signing-secret-of-the-tests';
const Line = z.looseObject({ msg: z.string(), port: z.number().optional() });

/** One process of src/main.ts, with its signals and its log. */
export interface Shipped {
  readonly url: string;
  readonly signal: (name: 'SIGTERM' | 'SIGHUP' | 'SIGUSR2') => void;
  /** Resolves with the exit code. */
  readonly left: Promise<number | null>;
  /** The messages of the log so far. */
  readonly said: () => readonly string[];
  /** The raw lines of the log so far. */
  readonly lines: () => readonly string[];
}

export interface ShippedOptions {
  readonly databaseUrl: string;
  readonly workspace?: Workspace;
  readonly organization?: OrganizationSeed;
  readonly yaml?: string;
  /** Environment variables that replace or extend the default ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** A module that the process loads before the bot. */
  readonly preload?: string;
  /** Replaces the delays of the cloud simulator. */
  readonly wait?: Wait;
}

/** Starts the simulators in this process, on the real clock; `start` adds a bot process. */
export async function openShippedStage(options: ShippedOptions) {
  const { databaseUrl, yaml, wait, organization, workspace, preload } = options;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-shipped-'));
  const file = join(folder, 'signalbox.yaml');
  writeFileSync(file, yaml ?? sandboxYaml());
  const cloud = await startCloudSimulator({
    ...(organization ? { organization } : {}),
    ...(wait ? { wait } : {}),
  });
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: { mode: 'http', signingSecret: SECRET },
    // A loaded machine may exceed Slack's three seconds, and a lost click is not repeated.
    ackTimeoutMs: 15_000,
    ...(workspace ? { workspace } : {}),
  });
  const children = new Set<ChildProcess>();
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all([slack.stop(), cloud.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    DATABASE_URL: databaseUrl,
    SIGNALBOX_KEY: Buffer.alloc(32, 7).toString('base64'),
    SIGNALBOX_CONFIG: file,
    PATH: process.env.PATH ?? '',
    ...options.env,
  };
  return {
    slack,
    cloud,
    write: (text: string) => writeFileSync(file, text),
    start: () => startShipped(env, children, preload),
    refused: () => refusedStart(env),
  };
}

async function startShipped(
  env: Readonly<Record<string, string>>,
  children: Set<ChildProcess>,
  preload?: string,
): Promise<Shipped> {
  const before = preload ? ['--import', preload] : [];
  const child = spawn(process.execPath, [...before, 'src/main.ts'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  // Resolves after the process has exited and its output was read.
  const left = once(child, 'close').then(([code]): number | null => {
    children.delete(child);
    return typeof code === 'number' ? code : null;
  });
  const lines: string[] = [];
  const said: string[] = [];
  const port = Promise.withResolvers<number | null>();
  createInterface({ input: child.stdout }).on('line', (written) => {
    const line = Line.parse(JSON.parse(written));
    lines.push(written);
    said.push(line.msg);
    if (line.port !== undefined) port.resolve(line.port);
  });
  void left.then(() => port.resolve(null));
  const open = await port.promise;
  if (open === null) throw new Error('The bot does not start');
  const url = `http://127.0.0.1:${open}`;
  return {
    url,
    left,
    said: () => said,
    lines: () => lines,
    signal: (name) => void child.kill(name),
  };
}

/** Runs a start that fails, and returns its error output and exit code. */
async function refusedStart(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said = await text(child.stderr);
  const [code] = await ended;
  return { code, said };
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
