import { type ChildProcess, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startCloudSimulator } from '../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../sandbox/configuration.ts';
import { freePort } from '../sandbox/free-port.ts';
import { CLOUD_KEY } from '../sandbox/seed/organization.ts';
import { startSlackSimulator } from '../sandbox/slack/server.ts';
import { hasButton, isCard, placeOf } from '../test/harness/messages.ts';
import { ANA, BEN } from '../test/harness/users.ts';
import { type Image, layOut, lock } from './image.ts';
import { memoryOf, OWNER, ready, run, start } from './processes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const HELD = 'LICENSE bin compiled dist package.json';
/** STOP_WITHIN_S, after which a supervisor would kill it. */
const STOPPED_WITHIN_MS = 50_000;
const FOUND_WITHIN_MS = 60_000;
const WRITES_S = [3, 17, 28];

const { stdout } = process;
const say = (line: string) => stdout.write(`${line}\n`);

/** The steps of the Dockerfile without Docker. Source: docs/shipping.md#what-was-tested */
async function rehearse(scratch: string): Promise<void> {
  chmodSync(scratch, 0o755);
  const image = layOut(ROOT, scratch);
  const held = readdirSync(image.app).toSorted().join(' ');
  expectThat(held === HELD, `the image holds ${HELD}, not ${held}`);
  say(`bundle and compiled code: ${megabytes(image.app)} MB`);
  lock(image.app);
  const data = privately(join(scratch, 'data'));
  const { stdout: version } = run([image.command[0] ?? '', '--version'], data, image.env);
  expectThat(/^Signalbox \d/.test(version), 'it names its version');
  refusesWithoutConfiguration(image, data);
  await runsAndStops(image, data);
  const writes = WRITES_S.map((seconds) =>
    stopsDuringWrite(image, privately(join(scratch, `write-${seconds}`)), seconds),
  );
  await Promise.all(writes);
}

function privately(folder: string): string {
  mkdirSync(folder, { mode: 0o700 });
  give(folder);
  return folder;
}

function refusesWithoutConfiguration(image: Image, data: string): void {
  const { status, stderr } = run(image.command, data, image.env);
  expectThat(status === 78, `without configuration it exits with 78, not ${status}`);
  expectThat(stderr.includes('SLACK_BOT_TOKEN'), 'it lists the missing variables');
}

interface World {
  readonly image: Image;
  readonly folder: string;
  /** How the answer of the cloud is delayed. */
  readonly wait?: () => Promise<void>;
}

/** The simulators, and the image as a process that uses them. */
async function open({ image, folder, wait }: World) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'manifest.json'), 'utf8'));
  const slack = await startSlackSimulator({ manifest, delivery: { mode: 'socket' } });
  const cloud = await startCloudSimulator(wait ? { wait } : {});
  const port = await freePort();
  const secrets = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    SIGNALBOX_KEY: randomBytes(32).toString('base64'),
  };
  const env = {
    ...image.env,
    ...asFiles(secrets, folder),
    PORT: String(port),
    SLACK_API_URL: slack.apiUrl,
    CLOUD_API_URL: cloud.url,
    SIGNALBOX_CONFIG: written(join(folder, 'signalbox.yaml'), sandboxYaml()),
  };
  const bots: ChildProcess[] = [];
  return {
    slack,
    cloud,
    env,
    startBot: async () => {
      const bot = start(image.command, folder, env);
      bots.push(bot);
      const lines: string[] = [];
      createInterface({ input: bot.stdout }).on('line', (line) => lines.push(line));
      await ready(`http://127.0.0.1:${port}/readyz`, bot);
      return { bot, lines };
    },
    close: async () => {
      for (const bot of bots) bot.kill('SIGKILL');
      await Promise.all([slack.stop(), cloud.stop()]);
    },
  };
}

async function runsAndStops(image: Image, data: string): Promise<void> {
  const { startBot, env, close } = await open({ image, folder: data });
  try {
    const began = performance.now();
    const { bot } = await startBot();
    const program = readFileSync(`/proc/${bot.pid}/cmdline`, 'utf8').split('\0')[1];
    expectThat(program === join(image.app, 'dist/main.js'), `it runs the bundle, not ${program}`);
    say(`ready after ${Math.round(performance.now() - began)} ms, ${memoryOf(bot)}`);
    const health = run(image.healthcheck, data, env);
    expectThat(health.status === 0, 'the health check passes while it runs');
    say(`stopped after ${await stops(bot)} ms`);
    const after = run(image.healthcheck, data, env);
    expectThat(after.status === 1, 'the health check fails after the stop');
  } finally {
    await close();
  }
}

/** The server needs so long for its answer, and SIGTERM arrives as soon as it has the request. */
async function stopsDuringWrite(image: Image, folder: string, seconds: number): Promise<void> {
  const world = await open({ image, folder, wait: () => pause(seconds * 1_000) });
  const { slack, cloud } = world;
  try {
    const { bot, lines } = await world.startBot();
    cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
    await slack.command(ANA, 'ops', '/service stop staging for the night');
    const press = async (as: string, button: string) => {
      const messages = () => slack.clientState(as).messages;
      const shown = await found(() => messages().findLast((each) => hasButton(each, button)));
      await slack.click(as, placeOf(shown), button);
    };
    await press(ANA, 'change.confirm');
    await press(BEN, 'change.approve');
    await found(() => cloud.count('set state') > 0);
    const tookMs = await stops(bot);
    const last = JSON.parse(lines.at(-1) ?? '{}').msg;
    // What an earlier process left is drawn by the next one.
    await world.startBot();
    const messages = () => slack.messages('db-approvals');
    await found(() => messages().some((each) => isCard(each) && /stopping/.test(each.text)));
    await found(() => messages().some((each) => !isCard(each) && /stopping/.test(each.text)));
    expectThat(cloud.count('set state') === 1, `a write of ${seconds} s is sent once`);
    say(`  process  ${last} after ${(tookMs / 1_000).toFixed(1)} s, exit code 0`);
    for (const each of messages())
      say(`  ${isCard(each) ? 'card' : 'thread'}  ${each.text.split('\n', 2).join(' ')}`);
  } finally {
    await world.close();
  }
}

async function found<T>(look: () => T | undefined | false): Promise<T> {
  const until = performance.now() + FOUND_WITHIN_MS;
  while (performance.now() < until) {
    const value = look();
    if (value) return value;
    await pause(50);
  }
  throw new Error(`The rehearsal failed: ${look} was false for too long`);
}

async function stops(bot: ChildProcess): Promise<number> {
  const began = performance.now();
  const gone = once(bot, 'exit', { signal: AbortSignal.timeout(STOPPED_WITHIN_MS) });
  bot.kill('SIGTERM');
  const [code] = await gone;
  expectThat(code === 0, `SIGTERM stops it with exit code 0, not ${code}`);
  return Math.round(performance.now() - began);
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The rehearsal failed: expected that ${what}.`);
  say(`✓ ${what.replace(/, not .*$/, '')}`);
}

function asFiles(secrets: Readonly<Record<string, string>>, folder: string) {
  const files = Object.entries(secrets).map(([name, secret]) => [
    `${name}_FILE`,
    written(join(folder, name), secret),
  ]);
  return Object.fromEntries(files);
}

function written(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o400 });
  give(path);
  return path;
}

function give(path: string): void {
  if (OWNER.uid !== undefined) chownSync(path, OWNER.uid, OWNER.gid);
}

function megabytes(folder: string): string {
  const { stdout: kibibytes } = spawnSync('du', ['-sk', folder], { encoding: 'utf8' });
  return (Number.parseInt(kibibytes, 10) / 1_024).toFixed(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'signalbox-image-'));
try {
  await rehearse(scratch);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
