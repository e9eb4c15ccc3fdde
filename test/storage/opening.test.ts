import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import {
  addJobs,
  openStore,
  reading,
  type Store,
  sql,
  transaction,
} from '../../src/storage/index.ts';
import { createUser } from './database-user.ts';
import { ENGINES, emptyUrl, onEngines, run } from './engines.ts';
import { freshStore, storeAt } from './stores.ts';

const NOON = Date.parse('2026-08-03T12:00:00Z');
const write = (store: Store) =>
  transaction(store, (tx) => addJobs(tx, { kind: 'card', key: 'A', dueAt: NOON }));
const jobsIn = (store: Store) =>
  reading(store, async (reader) => (await sql`select key from job`.execute(reader)).rows);

onEngines('committed data survives a restart', async (engine) => {
  const url = await emptyUrl(engine);
  const first = await openStore(url);
  await write(first);
  await first.close();

  const second = await storeAt(url);
  expect(await jobsIn(second)).toEqual([{ key: 'A' }]);
  expect(second.engine).toBe(engine);
});

test('replicas that start at the same time create the schema once', async () => {
  const url = await emptyUrl('postgres');
  const replicas = await Promise.all([1, 2, 3, 4].map(() => storeAt(url)));
  for (const replica of replicas) expect(await jobsIn(replica)).toEqual([]);
});

test.for(['mysql://host/db', 'signalbox.db', ''])('the address %j is refused', async (url) => {
  await expect(openStore(url)).rejects.toThrow('must begin with file: or postgres://');
});

test('the error names a folder that does not exist', async () => {
  await expect(openStore('file:/nowhere/at/all.db')).rejects.toThrow('/nowhere/at/all.db');
});

test('PostgreSQL uses the clock of the server, SQLite that of the machine', async () => {
  for (const engine of ENGINES) {
    const store = await freshStore(engine);
    const now = await reading(store, store.clock);
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    const replaced = await freshStore(engine, { now: () => NOON });
    expect(await reading(replaced, replaced.clock)).toBe(NOON);
  }
});

onEngines('a closed database is not read', async (engine) => {
  const store = await openStore(await emptyUrl(engine));
  expect(await jobsIn(store)).toEqual([]);
  await store.close();
  await expect(jobsIn(store)).rejects.toThrow();
});

test('a new database and the files next to it are readable for the owner only', async () => {
  const url = await emptyUrl('sqlite');
  await storeAt(url);
  const path = url.slice('file:'.length);
  for (const beside of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
    expect(existsSync(beside)).toBe(true);
    expect(statSync(beside).mode & 0o777).toBe(0o600);
  }
});

test('opening a file removes the read permission of other users', async () => {
  const url = await emptyUrl('sqlite');
  const path = url.slice('file:'.length);
  await (await openStore(url)).close();
  chmodSync(path, 0o644);
  await storeAt(url);
  for (const beside of [path, `${path}-wal`, `${path}-shm`]) {
    expect(statSync(beside).mode & 0o777).toBe(0o600);
  }
});

test('a commit is on the disk before it is confirmed', async () => {
  const url = await emptyUrl('sqlite');
  const { root: db } = await storeAt(url);
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
  await expect(openStore(url)).rejects.toThrow(
    /^Another process uses .*signalbox\.db .*Stop it first; several replicas need PostgreSQL\.$/,
  );

  const died = once(holder, 'exit');
  holder.kill('SIGKILL');
  await died;
  await storeAt(url);
});

test('opening a file twice in one process is refused without harm', async () => {
  const url = await emptyUrl('sqlite');
  const first = await storeAt(url);
  await expect(openStore(url)).rejects.toThrow('Another process uses');
  const stranger = new DatabaseSync(`${url.slice('file:'.length)}.lock`, { timeout: 0 });
  onTestFinished(() => stranger.close());
  expect(() => stranger.exec('begin exclusive')).toThrow('locked');
  expect(await jobsIn(first)).toEqual([]);
});

async function holdInAnotherProcess(url: string) {
  const module = new URL('../../src/storage/index.ts', import.meta.url).href;
  const program = `
    import { openStore } from ${JSON.stringify(module)};
    await openStore(${JSON.stringify(url)});
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

/** The address of a database whose sessions confirm a commit in this way. */
async function committing(mode: string): Promise<string> {
  const url = new URL(await emptyUrl('postgres'));
  const options = `${url.searchParams.get('options')} -c synchronous_commit=${mode}`;
  url.searchParams.set('options', options);
  return url.href;
}

test('a server that confirms before it writes is refused at the start', async () => {
  await expect(openStore(await committing('off'))).rejects.toThrow('synchronous_commit off');
});

test.for(['local', 'remote_write', 'remote_apply'])(
  'a server with synchronous_commit=%s is accepted',
  async (mode) => {
    await storeAt(await committing(mode));
  },
);

test('sessions of PostgreSQL have time limits', async () => {
  const { root: db } = await freshStore('postgres');

  const { rows } = await sql<Record<string, string>>`
    select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`.execute(db);
  expect(rows).toEqual([{ statement: '10s', lock: '3s', idle: '10s' }]);
});

/** The bot may use the tables, but owns none of them. */
const RIGHTS = 'select, insert, update, delete';

test('the role of the bot needs no permission to create tables', async () => {
  const owner = await emptyUrl('postgres');
  await (await openStore(owner)).close();
  const bot = await storeAt((await createUser(owner, RIGHTS)).url);
  await write(bot);
  expect(await jobsIn(bot)).toEqual([{ key: 'A' }]);
});

test.for<[string, string]>([
  ['an event is modified', "update event set body = ''"],
  ['an event is deleted', 'delete from event'],
  ['all events are truncated', 'truncate event'],
  ['the trigger is dropped', 'drop trigger event_no_change on event'],
  ['the trigger is disabled', 'alter table event disable trigger all'],
  ['the whole log is dropped', 'drop table event'],
])('the role of the bot is refused when %s', async ([, statement]) => {
  const owner = await emptyUrl('postgres');
  const store = await storeAt(owner);
  const event = "(1, 'refusal/1', 1, 'refused', 1, '{}', 'b', 'p', 'h', 'k', 's')";
  await transaction(store, (tx) => sql.raw(`insert into event values ${event}`).execute(tx));
  const bot = await createUser(owner, RIGHTS);
  await expect(run(bot.url, statement)).rejects.toThrow(/denied|owner|never modified/);
});
