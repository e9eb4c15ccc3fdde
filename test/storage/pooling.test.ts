import { globSync, readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { databaseProblem, isLastingDatabaseError } from '../../src/storage/errors.ts';
import { sql, transaction } from '../../src/storage/index.ts';
import { emptyUrl, run } from './engines.ts';
import { storeAt } from './stores.ts';

/** Statements whose effect outlives a transaction, so that a pooler could give it to another client. */
const SESSION =
  /\b(listen|unlisten|notify) \w|pg_(try_)?advisory_lock|create temp|\bset (session|statement|lock|role)|\bprepare \w+ as|with hold|discard all/i;

test('no statement outlives its transaction, so that transaction pooling works', () => {
  const files = globSync('src/**/*.ts');
  const statements = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/sql(?:<[^`]*>)?`([^`]*)`/g)].map(
      ([, text = '']) => text,
    ),
  );
  expect(statements.length).toBeGreaterThan(10);
  expect(statements.filter((text) => SESSION.test(text))).toEqual([]);
});

test.for(['listen changes', 'select pg_advisory_lock(1)', "set lock_timeout = '3s'"])(
  'the detector finds: %s',
  (statement) => {
    expect(SESSION.test(statement)).toBe(true);
  },
);

test('a pooler that refuses the limits of a connection is explained', () => {
  const refused = Object.assign(new Error('unsupported startup parameter: lock_timeout'), {
    code: '08P01',
  });
  expect(databaseProblem(refused)).toContain('PgBouncer refuses the limits');
  expect(isLastingDatabaseError(refused)).toBe(true);
});

test('a process uses no more connections than its pool may have', async () => {
  const url = new URL(await emptyUrl('postgres'));
  const store = await storeAt(url.href, { poolSize: 2 });
  const open = Promise.withResolvers<void>();
  const all = Array.from({ length: 6 }, () =>
    transaction(store, async (tx) => {
      await sql`select key from job`.execute(tx);
      await open.promise;
    }),
  );
  const used = async () => {
    const [row] = await run(
      inject('postgresUrl'),
      `select count(*)::int as n from pg_stat_activity where state = 'idle in transaction' and datname = '${url.pathname.slice(1)}'`,
    );
    return row?.n;
  };
  await expect.poll(used).toBe(2);
  open.resolve();
  await Promise.all(all);
});
