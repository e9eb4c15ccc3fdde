import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';

const COMMANDS = [
  ...['start', 'init', 'doctor', 'audit', 'migrate', 'rebuild', 'policy', 'manifest', 'backup'],
  ...['restore', 'request'],
];

function signalbox(...args: string[]) {
  return runCommand([SIGNALBOX, ...args]);
}

test.for([['help'], ['--help']])('%j lists the commands', async (args) => {
  const { out, code } = await signalbox(...args);
  expect([...out.matchAll(/^ {4}([a-z]+) {2}/gm)].map(([, name]) => name)).toEqual(COMMANDS);
  expect(code).toBe(0);
});

test('--version names the version of the package', async () => {
  const { out, code } = await signalbox('--version');
  expect(out).toBe(`Signalbox ${packageJson.version}\n`);
  expect(code).toBe(0);
});

test.for<[string, readonly string[], string]>([
  ['an unknown command', ['dcotor'], 'did you mean “doctor”?'],
  ['a name of every object', ['toString'], 'Unknown command “toString”'],
  ['an unknown option', ['--wat'], 'Unknown option “--wat”; known: --env, --help, --version.'],
  ['--env without a file', ['doctor', '--env'], '--env needs a file.'],
])('%s is refused with the usage', async ([, args, sentence]) => {
  const { err, code } = await signalbox(...args);
  expect(err).toContain(sentence);
  expect(err).toContain('signalbox [--env <file>]');
  expect(code).toBe(2);
});

test.for<[string, readonly string[], number, string]>([
  ['start --help', ['start', '--help'], 0, ''],
  ['start with an option', ['start', '--port', '3100'], 2, 'Unknown option “--port”'],
  ['doctor with an argument', ['doctor', 'now'], 2, 'Unexpected argument: “now”.'],
  ['manifest with a wrong option', ['manifest', '--prefx', 'db-'], 2, 'did you mean “--prefix”?'],
  ['a short --help', ['restore', '-h'], 0, ''],
  ['help of a command', ['rebuild', 'help'], 0, ''],
  ['an option that nothing resembles', ['manifest', '--wat'], 2, '“--wat”; known: --prefix, --url'],
  ['an option without a value', ['migrate', '--for'], 2, '--for needs a value.'],
  ['an option before another', ['manifest', '--url', '--org'], 2, '--url needs a value.'],
  ['a value for a switch', ['doctor', '--json=yes'], 2, '--json takes no value.'],
  ['backup without a file', ['backup'], 2, 'backup needs one file, or --made without a file.'],
  ['--made with a file', ['backup', '--made', 'x'], 2, 'or --made without a file.'],
  ['restore without a file', ['restore'], 2, 'restore needs one file.'],
  ['manifest, no TLS', ['manifest', '--url', 'http://x.example'], 2, 'must begin with https://'],
  ['manifest, no path', ['manifest', '--url', 'https://x.example'], 2, 'end with /slack/events'],
  ['manifest with a wrong prefix', ['manifest', '--prefix', 'D'], 2, '--prefix may contain'],
])('%s only shows its usage', async ([, args, expected, sentence]) => {
  const { out, err, code } = await signalbox(...args);
  expect(err).toContain(sentence);
  expect(out + err).toContain(`signalbox ${args[0]}`);
  expect(out + err).toContain('Exit code: 0');
  expect(out + err).not.toContain('did not start');
  expect(code).toBe(expected);
});

test('a manifest that cannot be written is reported in one sentence', async () => {
  const { err, code } = await signalbox('manifest', '--out', '/missing/manifest.json');
  expect(err).toBe('/missing/manifest.json cannot be written (ENOENT).\n');
  expect(code).toBe(1);
});

test.for([['--env', '/missing'], ['--env=/missing']])(
  '%j is reported in a sentence',
  async (env) => {
    const { err, code } = await signalbox(...env, 'doctor');
    expect(err).toBe('The file /missing is not readable (ENOENT).\n');
    expect(code).toBe(2);
  },
);

test('a request after --env is no unknown command', async () => {
  const { err, code } = await signalbox('--env', '/dev/null', 'request', 'service', 'stop');
  expect(err).toBe('request is a program of its own: bin/signalbox request …\n');
  expect(code).toBe(2);
});

test('the variables of --env replace those of the environment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'env'), 'DATABASE_URL=mysql://other\n');
  const words = [SIGNALBOX, 'audit', 'verify', '--env', join(folder, 'env')];
  const { err } = await runCommand(words, { DATABASE_URL: 'file:/missing/one.db', PORT: 'no' });
  expect(err).toContain('DATABASE_URL');
  expect(err).not.toContain('PORT');
  expect(err).not.toContain('cannot be opened');
});

test('the launcher finds its runtime, also through a link', async () => {
  const { out, code } = await runCommand(['-e', LAUNCH]);
  expect(out).toContain('signalbox audit verify');
  expect(code).toBe(0);
});

const LAUNCH = `
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-link-'));
  fs.symlinkSync(path.resolve('bin/signalbox'), path.join(folder, 'signalbox'));
  const options = { cwd: '/', encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } };
  process.stdout.write(child_process.execFileSync(path.join(folder, 'signalbox'), ['audit', 'help'], options));
  fs.rmSync(folder, { recursive: true });
`;
