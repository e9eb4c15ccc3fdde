import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { databaseProblem, databaseTimeout } from '../../src/storage/errors.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';

async function problemOf(work: Promise<unknown>): Promise<string | null> {
  return databaseProblem(
    await work.then(
      () => null,
      (error: unknown) => error,
    ),
  );
}

function write(database: Database, letters: number): Promise<unknown> {
  const body = { text: 'x'.repeat(letters) };
  return database.transaction((tx) => appendEvent(tx, null, { kind: 'refused', at: NOON, body }));
}

test('a full disk is reported, loses nothing, and writes work again when there is space', async () => {
  const database = await openForTest(await freshUrl('sqlite'));
  await write(database, 10);
  // SQLite raises the limit to the pages that exist already.
  await sql.raw('pragma max_page_count = 1').execute(database.db);
  expect(await problemOf(write(database, 100_000))).toContain('The disk of the database is full.');

  await sql.raw('pragma max_page_count = 100000').execute(database.db);
  await write(database, 100_000);
  expect(await verifyChain(database.db, null)).toEqual({ ok: true, seq: 2 });
});

test('a database that another program locks is not ready until the lock ends', async () => {
  const url = await freshUrl('sqlite');
  const database = await openForTest(url);
  const other = new DatabaseSync(url.slice('file:'.length));
  other.exec('begin immediate');
  expect(await problemOf(database.check())).toContain('Another program locks the database');
  other.exec('rollback');
  other.close();
  await database.check();
});

test.for<[string, Error, string]>([
  ['is shut down', coded('57P01'), 'starting or stopping'],
  ['recovers', coded('57P03'), 'starting or stopping'],
  ['is not running', coded('ECONNREFUSED'), 'does not answer'],
  ['breaks the connection', new Error('Connection terminated unexpectedly'), 'does not answer'],
  ['stops answering', databaseTimeout('The server did not answer'), 'does not answer'],
  ['cannot write to its disk', coded('ENOSPC'), 'The disk of the database is full'],
  ['has no connection left', new Error('timeout exceeded when trying to connect'), 'not answer'],
])('a server that %s is explained in a sentence', ([, error, words]) => {
  expect(databaseProblem(error)).toContain(words);
});

test('other errors are not reported as errors of the database', () => {
  expect(databaseProblem(new Error('a fault of ours'))).toBeNull();
  expect(databaseProblem(coded('23505'))).toBeNull();
  const unreadable = "EACCES: permission denied, open '/segments/a.jsonl'";
  expect(databaseProblem(Object.assign(new Error(unreadable), { code: 'EACCES' }))).toBeNull();
});

function coded(code: string): Error {
  return Object.assign(new Error('the message of the driver'), { code });
}
