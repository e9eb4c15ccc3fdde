import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent, verifyChain } from '../../../src/storage/audit/append.ts';
import type { Database } from '../../../src/storage/engine/database.ts';
import { databaseProblem } from '../../../src/storage/engine/database-errors.ts';
import { silent } from '../../../src/storage/engine/with-timeout.ts';
import { freshUrl, openForTest } from '../engines.ts';
import { NOON } from '../example-change.ts';

async function troubleOf(work: Promise<unknown>): Promise<string | null> {
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

test('a full disk is told in a sentence, loses nothing, and is over when there is room', async () => {
  const database = await openForTest(await freshUrl('sqlite'));
  await write(database, 10);
  // It cannot be less than what is there already, and is set to just that.
  await sql.raw('pragma max_page_count = 1').execute(database.db);
  expect(await troubleOf(write(database, 100_000))).toContain('The disk of the database is full.');

  await sql.raw('pragma max_page_count = 100000').execute(database.db);
  await write(database, 100_000);
  expect(await verifyChain(database.db, null)).toEqual({ ok: true, seq: 2 });
});

test('a database that another program locks is not ready, and is again when that is over', async () => {
  const url = await freshUrl('sqlite');
  const database = await openForTest(url);
  const other = new DatabaseSync(url.slice('file:'.length));
  other.exec('begin immediate');
  expect(await troubleOf(database.check())).toContain('locked by another program');
  other.exec('rollback');
  other.close();
  await database.check();
});

test.for<[string, Error, string]>([
  ['is shut down', coded('57P01'), 'just starting or stopping'],
  ['recovers', coded('57P03'), 'just starting or stopping'],
  ['is not there', coded('ECONNREFUSED'), 'does not answer'],
  ['breaks off', new Error('Connection terminated unexpectedly'), 'does not answer'],
  ['falls silent', silent('The connection fell silent'), 'does not answer'],
  ['has no connection left', new Error('timeout exceeded when trying to connect'), 'not answer'],
])('a server that %s is told in a sentence', ([, error, words]) => {
  expect(databaseProblem(error)).toContain(words);
});

test('what is wrong with something else is not told of the database', () => {
  expect(databaseProblem(new Error('a fault of ours'))).toBeNull();
  expect(databaseProblem(coded('23505'))).toBeNull();
});

function coded(code: string): Error {
  return Object.assign(new Error('words of the driver'), { code });
}
