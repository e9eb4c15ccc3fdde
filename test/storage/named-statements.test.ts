import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Db } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { keepsStatements, StatementNames } from '../../src/storage/old/named-statements.ts';
import { openPostgres } from '../../src/storage/old/postgres.ts';
import type { Tables } from '../../src/storage/old/schema.ts';
import { freshUrl, openForTest, run } from './engines.ts';

async function prepared(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ statement: string }>`
    select statement from pg_prepared_statements`.execute(db);
  return rows.map(({ statement }) => statement);
}

test('PostgreSQL keeps the plan of a statement with parameters', async () => {
  const { transaction } = await openForTest(await freshUrl('postgres'));
  const kept = await transaction(async (tx) => {
    await readMeta(tx, 'any');
    await readMeta(tx, 'other');
    return prepared(tx);
  });
  expect(kept.filter((text) => text.includes('from "meta"'))).toHaveLength(1);
});

test.for(['read', 'transaction'])(
  'after a newer release added a column, a %s on a known connection works',
  async (kind) => {
    const url = await freshUrl('postgres');
    const { db, transaction } = await openForTest(url, { poolSize: 1 });
    const all = (from: Db) => from.selectFrom('meta').selectAll().where('key', '=', 'k').execute();
    await transaction((tx) => writeMeta(tx, 'k', 'v'));
    await all(db);
    await run(url, 'alter table meta add column added text');

    const rows = kind === 'read' ? await all(db) : await transaction((tx) => all(tx));
    expect(rows).toEqual([{ key: 'k', value: 'v', added: null }]);
  },
);

test('behind a pooler, which drops the limits of a connection, no statement has a name', async () => {
  const url = await freshUrl('postgres');
  // Without the limits, as behind a pooler.
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const pooled = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  expect(await keepsStatements(pooled)).toBe(false);
  await pooled.destroy();

  const dialect = openPostgres(url, { onError: () => undefined });
  const direct = new Kysely<Tables>({ dialect });
  expect(await keepsStatements(direct)).toBe(true);
  await sql`select ${1}::int`.execute(direct);
  expect(await prepared(direct)).toEqual([]);
  await direct.destroy();
});

test('a database that is opened behind such a pooler gets no names', async () => {
  const url = new URL(await freshUrl('postgres'));
  // An empty limit is not sent.
  url.searchParams.set('statement_timeout', '');
  const { transaction } = await openForTest(url.href);
  const kept = await transaction(async (tx) => {
    await readMeta(tx, 'any');
    return prepared(tx);
  });
  expect(kept).toEqual([]);
});

test('a name belongs to one text, also in another process', () => {
  const [one, other] = [new StatementNames(), new StatementNames()];
  expect(one.of('select 1')).toBe(other.of('select 1'));
  expect(one.of('select 1')).not.toBe(one.of('select 2'));
});

test('after 500 texts, a statement has no name', () => {
  const names = new StatementNames();
  for (let n = 0; n < 500; n += 1) names.of(`select ${n}`);
  expect(names.of('select 500')).toBeNull();
  expect(names.of('select 499')).not.toBeNull();
});

test.for(['read', 'transaction'])(
  'a pooler that was not recognized makes a %s slower, not wrong',
  async (kind) => {
    const url = await freshUrl('postgres');
    const { db, transaction } = await openForTest(url, { poolSize: 1 });
    await transaction((tx) => writeMeta(tx, 'k', 'v'));
    await readMeta(db, 'k');
    // As if the pooler had given another connection to the server.
    await sql`deallocate all`.execute(db);

    const value = kind === 'read' ? readMeta(db, 'k') : transaction((tx) => readMeta(tx, 'k'));
    expect(await value).toBe('v');
    // From now on without names.
    await readMeta(db, 'other');
    expect(await prepared(db)).toEqual([]);
  },
);
