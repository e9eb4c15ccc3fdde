import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { BUNDLE, SIGNALBOX_SOURCE } from '../harness/programs.ts';
import { requestChange } from '../harness/requests.ts';
import { runCommand } from '../harness/run-command.ts';
import { ANA, BEN } from '../harness/users.ts';
import { startCollector } from '../ops/collector.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

// Outside of the project: a package that the bundle lacks would not be found there.
const outDir = mkdtempSync(join(tmpdir(), 'signalbox-bundle-'));

beforeAll(() => cpSync(realpathSync(BUNDLE), outDir, { recursive: true }));
afterAll(() => rmSync(outDir, { recursive: true }));

// With SQLite in Socket Mode, with PostgreSQL over HTTP.
onEngines('the bundle runs a change and exports its trace', async (engine) => {
  const collector = await startCollector();
  const sandbox = await startProcessSandbox({
    databaseUrl: await emptyUrl(engine),
    program: join(outDir, 'main.js'),
    delivery: engine === 'sqlite' ? 'socket' : 'http',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const bot = engine === 'sqlite' ? await sandbox.start() : await sandbox.startAndDeliver();
  const card = await requestChange(sandbox, ANA, '/service stop staging for the night');
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => card.text, PROCESS_LIMITS).toContain('staging is stopping');
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
  expect(collector.named('command service')).toHaveLength(1);
});

test('the bundle has no character for which Node keeps two bytes per character of a file', () => {
  const files = globSync(join(outDir, '*.js'));
  expect(files.filter((file) => /[^\0-\xff]/.test(readFileSync(file, 'utf8')))).toEqual([]);
  expect(files.length).toBeGreaterThan(1);
});

/** Used only where they are installed, and two texts of code that ajv could write. */
const ABSENT = [
  ...['pg-cloudflare', 'pg-native', 'supports-color'],
  ...['ajv-formats/dist/formats', 'ajv/dist/runtime/validation_error'],
];
const IMPORT =
  /(?:^import[^'"()]*|^export[^'"()]*from |\bimport\(|(?<!\.)\b(?:__)?require\()["']([^"']+)["']/gm;

test('the bundle loads its own files and modules of Node.js only, and has the licenses of its packages', () => {
  const files = globSync(join(outDir, '*.js')).map((file) => readFileSync(file, 'utf8'));
  const imported = files.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name = '']) => name));
  const foreign = imported.filter((name) => !name.startsWith('./') && !isBuiltin(name));
  expect(new Set(imported).size).toBeGreaterThan(30);
  expect([...new Set(foreign)].sort()).toEqual(ABSENT.toSorted());
  const licenses = readFileSync(join(outDir, 'licenses.md'), 'utf8');
  expect(licenses).toContain(`## @slack/bolt - ${packageJson.dependencies['@slack/bolt']} (MIT)`);
});

test.for(['init', 'doctor', 'audit', 'policy', 'manifest', 'backup', 'restore'])(
  'the bundle has the command %s',
  async (command) => {
    const { out, err, code } = await runCommand([join(outDir, 'main.js'), command, '--help']);
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(out).toContain(`signalbox ${command}`);
  },
);

test('the bundle lists the commands like the source', async () => {
  const bundled = await runCommand([join(outDir, 'main.js'), 'help']);
  expect(bundled).toEqual(await runCommand([SIGNALBOX_SOURCE, 'help']));
});

test.for<[string, Readonly<Record<string, number>>, string]>([
  ['a bundle of this source', { 'src/main.ts': 1, 'dist/main.js': 2 }, 'bundle'],
  ['an outdated bundle', { 'src/main.ts': 3, 'dist/main.js': 2 }, 'source'],
  ['a bundle of other packages', { 'package-lock.json': 3, 'dist/main.js': 2 }, 'source'],
  ['no bundle', { 'src/main.ts': 1 }, 'source'],
])('with %s the launcher runs the right program', ([, files, program]) => {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-launcher-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (file: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    return join(root, file);
  };
  copyFileSync('bin/signalbox', at('bin/signalbox'));
  // It runs in the place of the runtime, and prints what it would run.
  writeFileSync(at('node_modules/.bin/node'), '#!/bin/sh\necho "$1 $2"\n', { mode: 0o700 });
  for (const [file, second] of Object.entries(files)) {
    writeFileSync(at(file), '');
    utimesSync(at(file), second, second);
  }
  // Without a word it lists the commands; the program alone would start Signalbox.
  const run = execFileSync(join(root, 'bin/signalbox'), { encoding: 'utf8' }).trim();
  const programs = { bundle: 'dist/main.js', source: SIGNALBOX_SOURCE };
  expect(run).toBe(`${join(root, programs[program === 'bundle' ? 'bundle' : 'source'])} help`);
});

test('without the packages the launcher says how to install them', () => {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-launcher-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  cpSync('bin', join(root, 'bin'), { recursive: true });
  const { stderr, status } = spawnSync(join(root, 'bin/signalbox'), { encoding: 'utf8' });
  expect(stderr).toMatch(/^The packages of Signalbox are not installed\..*npm ci\n$/);
  expect(status).toBe(1);
});
