import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, globSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { connectionVariables } from '../../src/ops/backup.ts';
import { databaseLines } from '../../src/ops/doctor-database.ts';
import { fileFacts } from '../../src/ops/inspect.ts';
import { openStore } from '../../src/storage/index.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { runOnFullDisk } from '../harness/run-limited.ts';
import { ENGINES, emptyUrl, run } from '../storage/engines.ts';
import { contentOf, folderForTest, signalbox, stopped, write } from './backup-files.ts';

/** pg_dump copies a whole database, so that a schema of a shared one is not enough. */
async function ownDatabase(): Promise<string> {
  const server = await emptyUrl('postgres');
  const name = `backup_${randomBytes(6).toString('hex')}`;
  await run(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  url.search = '';
  return url.href;
}

const HAS_TOOLS = ['pg_dump', 'pg_restore'].every((tool) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool))),
);
if (!HAS_TOOLS)
  process.stdout.write('PostgreSQL client tools are missing: backups of SQLite only\n');

test.for(ENGINES.filter((engine) => HAS_TOOLS || engine === 'sqlite'))(
  'a backup on %s has every commit',
  async (engine) => {
    const copy = join(folderForTest(), 'copy');
    const newUrl = () => (engine === 'sqlite' ? emptyUrl(engine) : ownDatabase());
    const url = await newUrl();
    const running = await write(url, 'before the backup');
    const { out, err, code } = await signalbox(url, 'backup', copy);
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(out).toMatch(/copy has a complete copy of the database \(\d+\.\d MB\)/);
    expect(statSync(copy).mode & 0o077).toBe(0);
    await running.append('after the backup');
    await running.close();

    const target = engine === 'sqlite' ? url : await newUrl();
    expect(await signalbox(target, 'restore', copy)).toMatchObject({ err: '', code: 0 });
    expect(await contentOf(target)).toBe('before the backup');
  },
);

test('a backup to a full disk names that disk and leaves no file', async () => {
  // More than the cache of SQLite, which creates a journal then.
  const { folder, url } = await stopped('x'.repeat(5_000_000));
  const target = join(folder, 'copy');
  const words = [SIGNALBOX, 'backup', target];
  const { err, code } = await runOnFullDisk(65_536, words, { DATABASE_URL: url });
  expect(err).toBe(`No backup was made: The disk of ${target} is full: free some space\n`);
  expect(code).toBe(1);
  expect(globSync('copy*', { cwd: folder })).toEqual([]);
});

test('the previous SQLite database is kept, with its last commits', async () => {
  const { folder, url } = await stopped('before the backup');
  await signalbox(url, 'backup', join(folder, 'copy'));
  await (await write(url, 'after the backup')).close();
  const { out } = await signalbox(url, 'restore', join(folder, 'copy'));
  const [kept = ''] = globSync('signalbox.db.before-restore-*Z', { cwd: folder });
  expect(out).toContain(join(folder, kept));
  expect(await contentOf(`file:${join(folder, kept)}`)).toBe('after the backup');
  await signalbox(url, 'restore', join(folder, 'copy'));
  expect(globSync('signalbox.db.before-restore-*Z', { cwd: folder })).toHaveLength(2);
});

test.for<[string, 'backup' | 'restore', string, string]>([
  ['a backup over an existing file', 'backup', 'other', 'other exists already'],
  ['a backup over a folder', 'backup', '', ' is a folder: name a file'],
  ['a restore of a folder', 'restore', '', ' is a folder: name a file'],
  ['a restore of a missing file', 'restore', 'missing', 'missing does not exist'],
  ['a restore of another file', 'restore', 'other', 'other is not a Signalbox database'],
  ['a restore while Signalbox runs', 'restore', 'copy', 'Another process uses'],
])('%s is refused and changes nothing', async ([, command, name, reason]) => {
  const folder = folderForTest();
  const url = `file:${join(folder, 'signalbox.db')}`;
  const running = await write(url, 'now');
  writeFileSync(join(folder, 'other'), 'a text that is long enough to be read as a file header');
  await signalbox(url, 'backup', join(folder, 'copy'));
  const { err, code } = await signalbox(url, command, join(folder, name));
  expect(err).toContain(reason);
  expect(code).toBe(1);
  await running.close();
  expect(await contentOf(url)).toBe('now');
  expect(globSync('*{partial,incoming,before}*', { cwd: folder })).toEqual([]);
});

test.for<[string, readonly string[], string]>([
  ['the database', [''], '-wal'],
  ['the database and one journal', ['', '-wal'], '-shm'],
])(
  'a restore that was interrupted after it had renamed %s stops every start until it runs again',
  async ([, moved, rest]) => {
    const { folder, url } = await stopped('before the backup');
    const path = join(folder, 'signalbox.db');
    await signalbox(url, 'backup', join(folder, 'copy'));
    const kept = `${path}.before-restore-2026-11-23T000000.000Z`;
    for (const suffix of ['-wal', '-shm']) writeFileSync(`${path}${suffix}`, 'previous commits');
    for (const suffix of moved) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
    writeFileSync(`${path}.incoming`, 'incomplete');
    writeFileSync(`${path}.incoming-wal`, 'incomplete');

    await expect(openStore(url)).rejects.toThrow('was interrupted');
    expect(existsSync(path)).toBe(false);
    const [facts] = databaseLines({ url, file: fileFacts(url), examined: null, written: null });
    const fix = expect.stringContaining('restore again');
    expect(facts).toMatchObject({ status: 'failed', fix });

    const restored = await signalbox(url, 'restore', join(folder, 'copy'));
    expect(restored).toMatchObject({ err: '', code: 0 });
    expect(await contentOf(url)).toBe('before the backup');
    for (const suffix of [...moved, rest]) expect(existsSync(`${kept}${suffix}`)).toBe(true);
    expect(globSync('*incoming*', { cwd: folder })).toEqual([]);
  },
);

test.runIf(HAS_TOOLS)('a restore into a PostgreSQL database in use is refused', async () => {
  const url = await emptyUrl('postgres');
  await (await write(url, 'now')).close();
  const copy = join(folderForTest(), 'copy');
  await signalbox(url, 'backup', copy);
  const { err, code } = await signalbox(url, 'restore', copy);
  expect(err).toContain('create an empty one');
  expect(code).toBe(1);
  expect(await contentOf(url)).toBe('now');
});

test('without the PostgreSQL tools, a backup names them and leaves no file', async () => {
  const url = await emptyUrl('postgres');
  await (await write(url, 'now')).close();
  const folder = folderForTest();
  const words = [SIGNALBOX, 'backup', join(folder, 'copy')];
  const { err, code } = await runCommand(words, { DATABASE_URL: url, PATH: folder });
  expect(err).toContain('pg_dump cannot be run here (ENOENT)');
  expect(code).toBe(1);
  expect(globSync('*', { cwd: folder })).toEqual([]);
});

test('the address of PostgreSQL becomes variables, and no argument has the password', () => {
  const url = 'postgres://bot:p%40ss@db.internal:6432/signal%20box?sslmode=verify-full&x=1';
  expect(connectionVariables(url)).toEqual({
    ...{ PGHOST: 'db.internal', PGPORT: '6432', PGDATABASE: 'signal box', PGUSER: 'bot' },
    ...{ PGPASSWORD: 'p@ss', PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' },
  });
  const tls = (query: string) => connectionVariables(`postgres://db/box?${query}`);
  const root = tls('sslmode=verify-full&sslrootcert=/ca.pem').PGSSLROOTCERT;
  expect([root, tls('sslmode=no-verify').PGSSLMODE]).toEqual(['/ca.pem', 'require']);
  const socket = connectionVariables('postgres:///box?host=/run/pg');
  expect(socket).toEqual({ PGDATABASE: 'box', PGHOST: '/run/pg' });
});

test.runIf(process.getuid?.() === 0)(
  'files that root creates belong to the folder owner',
  async () => {
    const { folder, url } = await stopped('now');
    await signalbox(url, 'backup', join(folder, 'copy'));
    chownSync(folder, 10_001, 10_001);
    const other = `file:${join(folder, 'other.db')}`;
    expect((await signalbox(other, 'restore', join(folder, 'copy'))).code).toBe(0);
    const files = globSync('other*', { cwd: folder });
    expect(files).toContain('other.db');
    expect(files.filter((file) => statSync(join(folder, file)).uid !== 10_001)).toEqual([]);
  },
);

test('a database with a key file is copied without it, and a restore names it where it is missing', async () => {
  const folder = folderForTest();
  const path = join(folder, 'signalbox.db');
  await (await write(`file:${path}`, 'now', true)).close();
  const keyless = (url: string, ...args: string[]) =>
    runCommand([SIGNALBOX, ...args], { DATABASE_URL: url });
  const { out } = await keyless(`file:${path}`, 'backup', join(folder, 'copy'));
  expect(out).toContain(`It is useless without the key file ${path}.key`);
  const again = await keyless(`file:${path}`, 'restore', join(folder, 'copy'));
  expect(again.out).not.toContain('is missing');
  const other = join(folder, 'other.db');
  const { out: restored, code } = await keyless(`file:${other}`, 'restore', join(folder, 'copy'));
  expect(code).toBe(0);
  expect(restored).toContain(`The key file ${other}.key is missing: copy it there before.`);
});
