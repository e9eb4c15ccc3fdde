import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { databaseProblem, isLastingDatabaseError } from '../../src/storage/errors.ts';
import { openStore } from '../../src/storage/index.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { runUnprivileged } from '../harness/run-limited.ts';

const DATABASE = new URL('../../src/storage/index.ts', import.meta.url).href;
const ERRORS = new URL('../../src/storage/errors.ts', import.meta.url).href;
const INSPECT = new URL('../../src/ops/inspect.ts', import.meta.url).href;
const SQLITE = new URL('../../src/storage/sqlite.ts', import.meta.url).href;
const OPEN = `
  const { openStore } = await import('${DATABASE}');
  const { isLastingDatabaseError } = await import('${ERRORS}');
  const refusal = await openStore(url).catch((error) => error);
  console.log(JSON.stringify({ message: refusal.message, isLasting: isLastingDatabaseError(refusal) }));`;
const FACTS = `
  const { fileFacts } = await import('${INSPECT}');
  console.log(JSON.stringify(fileFacts(url)));`;

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-unusable-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs a script and returns the JSON that it prints. */
async function unprivileged(script: string, url: string): Promise<unknown> {
  const words = ['--input-type=module', '--eval', `const url = '${url}'; ${script}`];
  const { out, err } = await runUnprivileged(words);
  expect(err).toBe('');
  return JSON.parse(out);
}

/** A file that other users can read, and whose mode only its owner can change. */
function foreignFile(path: string): void {
  if (process.getuid?.() === 0) {
    writeFileSync(path, '', { mode: 0o644 });
    chownSync(path, 65_534, 65_534);
  } else symlinkSync('/etc/hosts', path);
}

test.for<[string, (folder: string) => string, string]>([
  ['whose folder is missing', (folder) => join(folder, 'missing', 'x.db'), 'ENOENT'],
  ['whose folder is a file', (folder) => join(fileIn(folder), 'x.db'), 'ENOTDIR'],
  ['whose folder accepts no file', () => '/sys/x.db', 'file /sys/x.db.lock cannot be created'],
  ['that is a folder', (folder) => folder, 'is a folder'],
  ['whose lock cannot be opened', (folder) => withFolderAsLock(folder), 'cannot be opened'],
])('a database %s needs a person', async ([, prepare, reason]) => {
  const opening = openStore(`file:${prepare(folderForTest())}`);
  const error = await opening.catch((refusal: unknown) => refusal);
  expect(databaseProblem(error)).toContain(reason);
  expect(error).toMatchObject({ hint: expect.stringMatching('the user of Signalbox|name a file') });
  expect(isLastingDatabaseError(error)).toBe(true);
});

test.runIf(spawnSync('unshare', ['--mount', 'true']).status === 0).for<[string, string]>([
  ['x.db.lock', 'true'],
  ['x.db', 'touch x.db x.db.lock'],
  ['x.db', 'umask 77 && touch x.db x.db.lock'],
])('a read-only file system is named, also to root (%s, %s)', async ([name, prepare]) => {
  const folder = folderForTest();
  const mount = `mount -t tmpfs none ${folder} && cd ${folder} && ${prepare} && mount -o remount,ro .`;
  const words = ['--mount', 'sh', '-c', `${mount} && exec "$0" "$@"`, process.execPath, SIGNALBOX];
  const env = { DATABASE_URL: `file:${folder}/x.db` };
  const { err } = await runCommand([...words, 'migrate'], env, 'unshare');
  expect(err).toContain(`The file system of ${join(folder, name)} is read-only: mount it`);
});

function fileIn(folder: string): string {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  return file;
}

/** A folder in the place of the lock: tests of root may open a file of every user. */
function withFolderAsLock(folder: string): string {
  mkdirSync(join(folder, 'x.db.lock'));
  return join(folder, 'x.db');
}

test('a lock file of another user is a fact of the doctor, and Signalbox does not run', async () => {
  const path = join(folderForTest(), 'x.db');
  writeFileSync(path, '', { mode: 0o600 });
  writeFileSync(`${path}.lock`, '');
  chmodSync(`${path}.lock`, 0);
  const facts = await unprivileged(FACTS, `file:${path}`);
  expect(facts).toMatchObject({ ownedByUs: true, lockIsUsable: false, running: false });
});

test('a file that other users can read, and whose mode cannot be changed, needs a person', async () => {
  const path = join(folderForTest(), 'x.db');
  foreignFile(path);
  const message = `Other users of this machine can read ${path}, and its mode cannot be changed`;
  expect(await unprivileged(OPEN, `file:${path}`)).toEqual({ message, isLasting: true });
});

test.runIf(process.getuid?.() === 0)('a database of another user names both users', async () => {
  const path = join(folderForTest(), 'x.db');
  writeFileSync(path, '', { mode: 0o600 });
  chownSync(path, 65_534, 65_534);
  expect(await unprivileged(OPEN, `file:${path}`)).toEqual({
    message: `${path} belongs to the user with the id 65534, and this process runs as the user with the id 0`,
    isLasting: true,
  });
});

test.for<[string, 'refuseUnusable' | 'checkWritable', boolean]>([
  ['a command', 'refuseUnusable', false],
  ['the write test of the doctor', 'checkWritable', true],
])('%s in a folder that cannot be written names the folder', async ([, call, runs]) => {
  const folder = folderForTest();
  const url = `file:${join(folder, 'x.db')}`;
  const database = await openStore(url);
  if (runs) onTestFinished(() => database.close());
  else await database.close();
  chmodSync(folder, 0o555);
  onTestFinished(() => chmodSync(folder, 0o755));
  const script = `
    const { ${call} } = await import('${INSPECT}');
    const { name, message } = await ${call}(url).catch((error) => error);
    console.log(JSON.stringify({ name, message }));`;
  expect(await unprivileged(script, url)).toEqual({
    name: 'UnusableDatabase',
    message: `The folder ${folder} cannot be written, and ${join(folder, 'x.db')} needs journals in it`,
  });
});

test('another error of the file system is reported as it is', async () => {
  const url = `file:${join(folderForTest(), 'x'.repeat(300))}`;
  const refusal = await openStore(url).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'ENAMETOOLONG' });
  expect(isLastingDatabaseError(refusal)).toBe(false);
});

test('a file system without a write-ahead log needs a person', async () => {
  // SQLite locks this file with another file, as on a file system without shared memory.
  const url = 'file:x.db?vfs=unix-dotfile';
  const script = `
    process.chdir('${folderForTest()}');
    const { openSqlite } = await import('${SQLITE}');
    try {
      openSqlite(url);
    } catch ({ message, hint, ...error }) {
      console.log(JSON.stringify({ message, hint, name: error.name }));
    }`;
  expect(await unprivileged(script, url)).toEqual({
    message: `${url} does not support a write-ahead log`,
    hint: 'use a local disk',
    name: 'UnusableDatabase',
  });
});
