import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent, verifyChain } from '../../src/storage/audit.ts';
import type { Database } from '../../src/storage/database.ts';
import { databaseTrouble } from '../../src/storage/trouble.ts';
import { freshUrl, openForTest } from './engines.ts';
import { NOON } from './example-change.ts';

async function troubleOf(work: Promise<unknown>): Promise<string | null> {
  return databaseTrouble(
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
