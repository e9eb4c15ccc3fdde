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
import { fileURLToPath } from 'node:url';
import { startCloudSimulator } from '../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../sandbox/configuration.ts';
import { freePort } from '../sandbox/free-port.ts';
import { CLOUD_KEY } from '../sandbox/seed/organization.ts';
import { startSlackSimulator } from '../sandbox/slack/server.ts';
import { type Image, layOut, lock } from './image.ts';
import { memoryOf, OWNER, ready, run, start } from './processes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const HELD = 'LICENSE bin compiled dist package.json';
const STOPPED_WITHIN_MS = 25_000;

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
  const data = join(scratch, 'data');
  mkdirSync(data, { mode: 0o700 });
  give(data);
  const { stdout: version } = run([image.command[0] ?? '', '--version'], data, image.env);
  expectThat(/^Signalbox \d/.test(version), 'it names its version');
  refusesWithoutConfiguration(image, data);
  await runsAndStops(image, data);
}

function refusesWithoutConfiguration(image: Image, data: string): void {
  const { status, stderr } = run(image.command, data, image.env);
  expectThat(status === 78, `without configuration it exits with 78, not ${status}`);
  expectThat(stderr.includes('SLACK_BOT_TOKEN'), 'it lists the missing variables');
}

async function runsAndStops(image: Image, data: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'manifest.json'), 'utf8'));
  const slack = await startSlackSimulator({ manifest, delivery: { mode: 'socket' } });
  const cloud = await startCloudSimulator();
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
    ...asFiles(secrets, data),
    PORT: String(port),
    SLACK_API_URL: slack.apiUrl,
    CLOUD_API_URL: cloud.url,
    SIGNALBOX_CONFIG: written(join(data, 'signalbox.yaml'), sandboxYaml()),
  };
  const began = performance.now();
  const bot = start(image.command, data, env);
  try {
    await ready(`http://127.0.0.1:${port}/readyz`, bot);
    const program = readFileSync(`/proc/${bot.pid}/cmdline`, 'utf8').split('\0')[1];
    expectThat(program === join(image.app, 'dist/main.js'), `it runs the bundle, not ${program}`);
    say(`ready after ${Math.round(performance.now() - began)} ms, ${memoryOf(bot)}`);
    const health = run(image.healthcheck, data, env);
    expectThat(health.status === 0, 'the health check passes while it runs');
    await stops(bot);
    const after = run(image.healthcheck, data, env);
    expectThat(after.status === 1, 'the health check fails after the stop');
  } finally {
    bot.kill('SIGKILL');
    await Promise.all([slack.stop(), cloud.stop()]);
  }
}

async function stops(bot: ChildProcess): Promise<void> {
  const began = performance.now();
  const gone = once(bot, 'exit', { signal: AbortSignal.timeout(STOPPED_WITHIN_MS) });
  bot.kill('SIGTERM');
  const [code] = await gone;
  expectThat(code === 0, `SIGTERM stops it with exit code 0, not ${code}`);
  say(`stopped after ${Math.round(performance.now() - began)} ms`);
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
