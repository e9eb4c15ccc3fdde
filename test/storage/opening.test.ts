import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { SCHEMA_VERSION } from '../../src/storage/old/migrate.ts';
import { refuseLossy } from '../../src/storage/old/postgres.ts';
import { ENGINES, emptyUrl, freshDatabase, emptyUrl, openForTest, run } from './engines.ts';
import { NOON } from './example-change.ts';

test.for(ENGINES)('committed data survives a restart on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const first = await openDatabase(url);
  await first.transaction((tx) => writeMeta(tx, 'colour', 'red'));
  await first.close();

  const second = await openForTest(url);
  expect(await readMeta(second.db, 'colour')).toBe('red');
  expect(second.engine).toBe(engine);
});

test.for(ENGINES)('a database of a newer Signalbox is refused on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const newer = await openDatabase(url);
  await newer.transaction(async (tx) => {
    await writeMeta(tx, 'schema-version', '99');
    await writeMeta(tx, 'oldest-compatible-schema', '98');
  });
  await newer.close();

  await expect(openDatabase(url)).rejects.toThrow(
    'This database has schema version 99, which needs a Signalbox with version 98 or later. ' +
      `This Signalbox has ${SCHEMA_VERSION}.`,
  );
  // After the refusal the file is free and the connections are closed.
  await expect(openDatabase(url)).rejects.toThrow('schema version 99');
});

test('replicas that start at the same time create the schema once', async () => {
  const url = await emptyUrl('postgres');
  const replicas = await Promise.all([1, 2, 3, 4].map(() => openForTest(url)));
  for (const { db } of replicas)
    expect(await readMeta(db, 'schema-version')).toBe(`${SCHEMA_VERSION}`);
});

test.for(['mysql://host/db', 'signalbox.db', ''])('the address %j is refused', async (url) => {
  await expect(openDatabase(url)).rejects.toThrow('must begin with file: or postgres://');
});

test('the error names a folder that does not exist', async () => {
  await expect(openDatabase('file:/nowhere/at/all.db')).rejects.toThrow('/nowhere/at/all.db');
});

test('SQLite uses the given clock, PostgreSQL its own', async () => {
  const sqlite = await freshDatabase('sqlite', { now: () => NOON });
  const postgres = await freshDatabase('postgres', { now: () => NOON });
  expect(await sqlite.now()).toEqual(NOON);
  expect(Math.abs((await postgres.now()).getTime() - Date.now())).toBeLessThan(60_000);
});

test.for(ENGINES)('a closed database is not ready on %s', async (engine) => {
  const database = await openDatabase(await emptyUrl(engine));
  await database.check();
  await database.close();
  await expect(database.check()).rejects.toThrow();
});

test('a new database and the files next to it are readable for the owner only', async () => {
  const url = await emptyUrl('sqlite');
  await openForTest(url);
  const path = url.slice('file:'.length);
  for (const beside of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
    expect(existsSync(beside)).toBe(true);
    expect(statSync(beside).mode & 0o777).toBe(0o600);
  }
});

test('opening a file removes the read permission of other users', async () => {
  const url = await emptyUrl('sqlite');
  const path = url.slice('file:'.length);
  await (await openDatabase(url)).close();
  chmodSync(path, 0o644);
  await openForTest(url);
  for (const beside of [path, `${path}-wal`, `${path}-shm`]) {
    expect(statSync(beside).mode & 0o777).toBe(0o600);
  }
});

test('a commit is on the disk before it is confirmed', async () => {
  const url = await emptyUrl('sqlite');
  const { db } = await openForTest(url);
  const pragma = async (name: string) => {
    const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db);
    return Object.values(rows[0] ?? {})[0];
  };
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2);
  expect(await pragma('foreign_keys')).toBe(1);
  expect(await pragma('trusted_schema')).toBe(0);
});

test('a second process on the same file is refused until the first one ends', async () => {
  const url = await emptyUrl('sqlite');
  const holder = await holdInAnotherProcess(url);
  await expect(openDatabase(url)).rejects.toThrow(
    /^Another process uses .*signalbox\.db .*Stop it first; several replicas need PostgreSQL\.$/,
  );

  const died = once(holder, 'exit');
  holder.kill('SIGKILL');
  await died;
  await openForTest(url);
});

test('opening a file twice in one process is refused without harm', async () => {
  const url = await emptyUrl('sqlite');
  const first = await openForTest(url);
  await expect(openDatabase(url)).rejects.toThrow('Another process uses');
  const stranger = new DatabaseSync(`${url.slice('file:'.length)}.lock`, { timeout: 0 });
  onTestFinished(() => stranger.close());
  expect(() => stranger.exec('begin exclusive')).toThrow('locked');
  await first.check();
});

async function holdInAnotherProcess(url: string) {
  const module = new URL('../../src/storage/old/database.ts', import.meta.url).href;
  const program = `
    import { openDatabase } from ${JSON.stringify(module)};
    await openDatabase(${JSON.stringify(url)});
    console.log('open');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const first = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  expect(String(first[0])).toContain('open');
  return holder;
}

test.for<[string, string, string]>([
  ['off', 'on', 'fsync off'],
  ['on', 'off', 'synchronous_commit off'],
  ['off', 'off', 'fsync and synchronous_commit off'],
])('a server with fsync=%s and synchronous_commit=%s is refused', ([fsync, commit, named]) => {
  expect(() => refuseLossy({ fsync, synchronousCommit: commit })).toThrow(named);
});

test.for(['on', 'local', 'remote_write', 'remote_apply'])(
  'a server with synchronous_commit=%s is accepted',
  (synchronousCommit) => {
    expect(() => refuseLossy({ fsync: 'on', synchronousCommit })).not.toThrow();
  },
);

test('a server that confirms before it writes is refused at the start', async () => {
  const url = new URL(await emptyUrl('postgres'));
  const options = url.searchParams.get('options');
  url.searchParams.set('options', `${options} -c synchronous_commit=off`);
  await expect(openDatabase(url.href)).rejects.toThrow('synchronous_commit off');
});

test('sessions of PostgreSQL have time limits', async () => {
  const { db } = await freshDatabase('postgres');

  const { rows } = await sql<Record<string, string>>`
    select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`.execute(db);
  expect(rows).toEqual([{ statement: '10s', lock: '3s', idle: '10s' }]);
});

test('the role of the bot needs no permission to create tables', async () => {
  const owner = new URL(await emptyUrl('postgres'));
  await (await openDatabase(owner.href)).close();
  const bot = await roleOfBot(owner);
  await (await openForTest(bot.href)).check();
});

test.for<[string, string]>([
  ['an event is modified', "update audit_event set body = ''"],
  ['an event is deleted', 'delete from audit_event'],
  ['all events are truncated', 'truncate audit_event'],
  ['the trigger is dropped', 'drop trigger audit_event_only_added on audit_event'],
  ['the trigger is disabled', 'alter table audit_event disable trigger all'],
  ['the whole trail is dropped', 'drop table audit_event'],
])('the role of the bot is refused when %s', async ([, statement]) => {
  const owner = new URL(await emptyUrl('postgres'));
  const database = await openForTest(owner.href);
  await database.transaction((tx) =>
    appendEvent(tx, null, { kind: 'refused', at: new Date(0), body: {} }),
  );
  const bot = await roleOfBot(owner);
  await expect(run(bot.href, statement)).rejects.toThrow(/denied|owner|only ever added/);
});

/** A role that may use the tables, but owns none of them. */
async function roleOfBot(owner: URL): Promise<URL> {
  const schema = owner.searchParams.get('options')?.split('=')[1];
  const role = `bot_${owner.pathname.slice(-12)}_${schema}`;
  await run(owner.href, `create role ${role} login password 'bot'`);
  onTestFinished(() => dropRole(owner.href, role));
  await run(owner.href, `grant usage on schema ${schema} to ${role}`);
  const rights = 'select, insert, update, delete';
  await run(owner.href, `grant ${rights} on all tables in schema ${schema} to ${role}`);

  const bot = new URL(owner);
  bot.username = role;
  bot.password = 'bot';
  return bot;
}

async function dropRole(url: string, role: string): Promise<void> {
  await run(url, `drop owned by ${role}`);
  await run(url, `drop role ${role}`);
}
