import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { openLog } from '../../src/log/index.ts';
import { claimJobs, transaction } from '../../src/storage/index.ts';
import { sandboxFile } from '../harness/config.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { runOnFullDisk } from '../harness/run-limited.ts';
import { approvedChange, drafted, KEYS, key, rowsIn, tamper, user, write } from '../log/logs.ts';
import { type Engine, emptyUrl, onEngines } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';

const secret = (fill: number) => Buffer.alloc(32, fill).toString('base64');

type Setting = Readonly<Record<string, string>>;

/** While another process has the database open. */
function signalbox(setting: Setting, ...args: string[]) {
  return runCommand([SIGNALBOX, ...args], { SIGNALBOX_KEY: secret(1), ...setting });
}

const audit = (setting: Setting, ...args: string[]) => signalbox(setting, 'audit', ...args);

/** A running Signalbox whose log has an approved change, three events. */
async function running(engine: Engine = 'sqlite', keys = KEYS) {
  const DATABASE_URL = await emptyUrl(engine);
  const log = await openLog(await storeAt(DATABASE_URL), keys);
  await approvedChange(log, 'K3M9QD');
  return { log, setting: { DATABASE_URL } };
}

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'log.jsonl');
}

onEngines('a log is verified while the bot runs', async (engine) => {
  const { log, setting } = await running(engine);
  const last = (await rowsIn(log.store)).at(-1);
  expect(await audit(setting, 'verify')).toEqual({
    out: `3 events, all intact. The last hash: ${last?.hash}\n`,
    err: '',
    code: 0,
  });
  // Meanwhile it goes on writing.
  await write(log, 'change/J2M9QD', drafted());
  expect((await audit(setting, 'verify')).out).toContain('4 events, all intact.');
});

test('a modified event is named, and the exit code is 1', async () => {
  const { log, setting } = await running();
  await tamper(log.store, "update event set body = replace(body, 'UANA', 'UBEN') where seq = 2");
  const { out, code } = await audit(setting, 'verify');
  expect(out).toContain(
    'The log is not intact. The log is damaged at event 2: its body was modified.',
  );
  expect(out).toContain('signalbox audit close');
  expect(code).toBe(1);
});

test('a log is not verified with another key', async () => {
  const { setting } = await running();
  const { out, code } = await audit({ ...setting, SIGNALBOX_KEY: secret(8) }, 'verify');
  expect(out).toContain('The log was not verified. The log of this database is signed with a key');
  expect(out).toContain('Next step: set SIGNALBOX_KEY to the key of this database');
  expect(code).toBe(1);
});

test('a log of two keys is verified, and a command never replaces the earlier key', async () => {
  const { log, setting } = await running();
  const later = { ...setting, SIGNALBOX_KEY: secret(2), SIGNALBOX_PREVIOUS_KEYS: secret(1) };
  expect((await audit(later, 'verify')).out).toContain('3 events, all intact.');
  expect(await rowsIn(log.store)).toHaveLength(3);
  await openLog(log.store, { current: key(2), previous: [key(1)] });
  expect((await audit(later, 'verify')).out).toContain('4 events, all intact.');
});

test('without SIGNALBOX_KEY, a missing key file is named', async () => {
  const { setting } = await running();
  const { out, code } = await audit({ ...setting, SIGNALBOX_KEY: '' }, 'verify');
  expect(out).toContain('.key is missing, and the database may have events');
  expect(code).toBe(1);
  expect(existsSync(`${setting.DATABASE_URL.slice('file:'.length)}.key`)).toBe(false);
});

const SHORT = 'SIGNALBOX_KEY  must be 32 bytes in base64 (openssl rand -base64 32)\n';
const LETTER = 'The file is not a Signalbox database, or it is damaged. Check DATABASE_URL.\n';
const NOWHERE = '/nowhere/at/all.db does not exist: check DATABASE_URL\n';
const NO_SERVER =
  'The database does not answer. Check that the server of DATABASE_URL is running.\n';

test.for<[string, Setting, string, number]>([
  ['an invalid key', { SIGNALBOX_KEY: 'short' }, SHORT, 2],
  ['a file that is not a database', {}, LETTER, 1],
  ['a file that is not there', { DATABASE_URL: 'file:/nowhere/at/all.db' }, NOWHERE, 1],
  ['a server that is not there', { DATABASE_URL: 'postgres://127.0.0.1:1/x' }, NO_SERVER, 1],
])('%s has an error sentence', async ([, setting, err, code]) => {
  const DATABASE_URL = `file:${newFile()}`;
  writeFileSync(DATABASE_URL.slice('file:'.length), 'a letter, not a database. '.repeat(100));
  expect(await audit({ DATABASE_URL, ...setting }, 'export')).toMatchObject({ err, code });
});

onEngines('a database that Signalbox has not used is refused', async (engine) => {
  const url = await emptyUrl(engine);
  if (engine === 'sqlite') writeFileSync(url.slice('file:'.length), '');
  const { err, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect(err).toContain('Signalbox has not used this database yet: check DATABASE_URL');
  expect(code).toBe(1);
});

test('the evidence of a change has its events, and needs no writing', async () => {
  const { log, setting } = await running();
  await write(log, 'change/J2M9QD', drafted());
  const { out, code } = await audit(setting, 'evidence', 'k3m9qd');
  const lines = out.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  expect(lines[0]).toMatchObject({ format: 'signalbox evidence 1', subject: 'change/K3M9QD' });
  expect(lines.slice(1, -1).map(({ type }) => type)).toEqual(['drafted', 'confirmed', 'approved']);
  expect(lines.at(-1)).toEqual({ signature: expect.any(String) });
  expect(code).toBe(0);
  const unknown = await audit(setting, 'evidence', 'ZZZZZZ');
  expect(unknown).toMatchObject({ err: 'The log has no change ZZZZZZ\n', code: 1 });
});

test('the whole log is exported, and its public key is written', async () => {
  const { setting } = await running();
  const { out, code } = await audit(setting, 'export');
  expect(out.trimEnd().split('\n')).toHaveLength(5);
  expect(code).toBe(0);
  expect((await audit(setting, 'key')).out).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  const shell = ['-c', '"$0" "$@" > /dev/full', process.execPath, SIGNALBOX, 'audit', 'export'];
  const full = await runCommand(shell, { SIGNALBOX_KEY: secret(1), ...setting }, 'sh');
  expect(full).toMatchObject({ err: 'Standard output cannot be written (ENOSPC).\n', code: 1 });
});

function configuration(retention: object | undefined): string {
  const file = newFile();
  writeFileSync(file, stringify({ ...(sandboxFile() as object), ...(retention && { retention }) }));
  return file;
}

test('the texts of changes that ended long ago are deleted, and the log still verifies', async () => {
  const DATABASE_URL = await emptyUrl('sqlite');
  const clock = { now: Date.now() - 200 * 86_400_000 };
  const log = await openLog(await storeAt(DATABASE_URL, { now: () => clock.now }), KEYS);
  const cancelled = { type: 'cancelled', by: user('UANA') } as const;
  await write(log, 'change/K3M9QD', drafted(), cancelled);
  clock.now = Date.now();
  await write(log, 'change/J2M9QD', drafted(), cancelled);
  const setting = {
    DATABASE_URL,
    SIGNALBOX_CONFIG: configuration({ changes: '90d', costs: '120d' }),
  };
  const file = newFile();
  const { out, err, code } = await audit(setting, 'prune', '--export', file);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  expect(out).toContain('Deleted the texts of 1 subject that ended before');
  expect(out).toContain('Deleted 0 rows of costs from before');
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(6);
  expect((await rowsIn(log.store)).map(({ body }) => body === null)).toEqual([
    ...[true, true, false, false, false],
  ]);
  expect((await audit(setting, 'verify')).out).toContain('5 events, all intact.');
  const inFolder = await audit(setting, 'prune', '--export', dirname(file));
  expect(inFolder.out).toMatch(/log-\d{4}-\d\d-\d\dT\d{6}Z\.jsonl has the whole log/);
  expect(inFolder.out).toContain('Deleted the texts of 0 subjects');
  const words = [SIGNALBOX, 'audit', 'prune', '--export', `${file}.full`];
  const full = await runOnFullDisk(1_000, words, { SIGNALBOX_KEY: secret(1), ...setting });
  expect(full.err).toBe(`The disk of ${file}.full is full: free some space\n`);
  const again = await audit(setting, 'prune', '--export', file);
  expect(again).toMatchObject({ err: `${file} exists already: name a new file\n`, code: 1 });
});

test('without retention nothing is deleted', async () => {
  const { setting } = await running();
  const SIGNALBOX_CONFIG = configuration(undefined);
  const file = newFile();
  const { err, code } = await audit({ ...setting, SIGNALBOX_CONFIG }, 'prune', '--export', file);
  expect(err).toContain('signalbox.yaml has no retention, so nothing was deleted.');
  expect(code).toBe(1);
  expect(existsSync(file)).toBe(false);
});

onEngines('a damaged log is closed, and nothing of it is open', async (engine) => {
  const { log, setting } = await running(engine);
  const file = newFile();
  const intact = await audit(setting, 'close', '--export', file);
  expect(intact).toMatchObject({ err: 'The log is intact, so it was not closed\n', code: 1 });
  expect(existsSync(file)).toBe(false);

  await tamper(log.store, 'delete from event where seq = 2');
  const { out, err, code } = await audit(setting, 'close', '--export', file);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  expect(out).toContain('The log is damaged at event');
  expect(out).toContain('up to event 3. 1 open subject has ended');
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(4);
  expect((await audit(setting, 'verify')).code).toBe(0);
  expect((await rowsIn(log.store)).map(({ type }) => type)).toEqual(['chapter']);
});

test('a rebuild makes lists and due work again', async () => {
  const { log, setting } = await running();
  await tamper(log.store, 'delete from change_view', 'delete from job');
  const { out, err, code } = await signalbox(setting, 'rebuild');
  const done = 'Lists and due work were made again from the log.\n';
  expect({ out, err, code }).toEqual({ out: done, err: '', code: 0 });
  const lanes = [{ most: 9, kinds: ['run', 'card', 'expire'] }];
  const claim = { owner: 'one', now: 9e15, leaseMs: 1, lanes };
  const jobs = await transaction(log.store, (tx) => claimJobs(tx, claim));
  expect(jobs.map(({ kind, key: of }) => `${kind} ${of}`).toSorted()).toEqual([
    'card K3M9QD',
    'expire K3M9QD',
    'run K3M9QD',
  ]);
  expect(jobs.every(({ attempts }) => attempts === 2)).toBe(true);
});

test.for<[string, string[], string]>([
  ['an unknown verb', ['verfy'], 'Unknown command “verfy”: did you mean “verify”?'],
  ['an unknown option', ['prune', '--exprt', 'x'], 'did you mean “--export”?'],
  ['an option of another', ['verify', '--export', 'x'], 'verify does not take --export.'],
  ['no id', ['evidence'], 'evidence needs the id of a change.'],
  ['no file', ['close'], 'close needs --export'],
  ['an argument too much', ['verify', 'now'], 'Unexpected argument: “now”.'],
])('%s prints an error and the usage', async ([, args, sentence]) => {
  const { err, code } = await audit({}, ...args);
  expect(err).toContain(sentence);
  expect(err).toContain('signalbox audit verify');
  expect(code).toBe(2);
});

test.for([['--help'], ['help'], [], ['verify', '--help']])('%j prints the usage', async (args) => {
  const { out, code } = await audit({}, ...args);
  expect(out).toContain('signalbox audit close --export <file>');
  expect(code).toBe(0);
});
