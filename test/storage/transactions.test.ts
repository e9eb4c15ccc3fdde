import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database, Db, Tx } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { SCHEMA_VERSION } from '../../src/storage/old/migrate.ts';
import { ENGINES, emptyUrl, freshDatabase, openForTest, run } from './engines.ts';

test.for(ENGINES)('an error of the body rolls back and rejects on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const fault = new Error('no');
  const failing = database.transaction(async (tx) => {
    await writeMeta(tx, 'colour', 'red');
    throw fault;
  });

  await expect(failing).rejects.toBe(fault);
  expect(await readMeta(database.db, 'colour')).toBeNull();
});

test.for(ENGINES)('the root database throws inside a transaction on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const misuses: ((tx: Tx) => Promise<unknown>)[] = [
    () => readMeta(database.db, 'colour'),
    () => sql`select 1`.execute(database.db),
    () => database.transaction(async () => 'nested'),
    () => database.now(),
    () => database.check(),
  ];
  for (const misuse of misuses) {
    await expect(database.transaction(misuse)).rejects.toThrow('inside a transaction');
  }
  // Work that was started in a body continues after it, outside the transaction.
  const after = Promise.withResolvers<void>();
  const late = await database.transaction(async () => ({
    read: after.promise.then(() => readMeta(database.db, 'schema-version')),
  }));
  after.resolve();
  expect(await late.read).toBe(`${SCHEMA_VERSION}`);
});

test.for(ENGINES)('transactions are opened in one way only on %s', async (engine) => {
  const { db } = await freshDatabase(engine);
  expect(() => db.transaction()).toThrow('Database.transaction');
  expect(() => db.startTransaction()).toThrow('Database.transaction');
  expect(() => db.connection()).toThrow('Database.transaction');
});

test.for(ENGINES)('concurrent transactions are isolated on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await database.transaction((tx) => writeMeta(tx, 'count', '0'));
  const add = () =>
    database.transaction(async (tx) => {
      await sql`update meta set value = value where key = 'count'`.execute(tx);
      const count = Number(await readMeta(tx, 'count'));
      await turn();
      await writeMeta(tx, 'count', String(count + 1));
    });
  await Promise.all(Array.from({ length: 20 }, add));
  expect(await readMeta(database.db, 'count')).toBe('20');
});

test.for(ENGINES)('a hanging body is rolled back after 5 seconds on %s', async (engine) => {
  const database = await freshDatabase(engine);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const reached = Promise.withResolvers<Tx>();
  const hanging = database.transaction(async (tx) => {
    await writeMeta(tx, 'colour', 'red');
    reached.resolve(tx);
    await new Promise(() => undefined);
  });
  const tx = await reached.promise;
  vi.advanceTimersByTime(5_000);

  await expect(hanging).rejects.toThrow('longer than 5 s');
  vi.useRealTimers();
  expect(await readMeta(database.db, 'colour')).toBeNull();
  await expect(writeMeta(tx, 'colour', 'blue')).rejects.toThrow();
  expect(await readMeta(database.db, 'colour')).toBeNull();
});

test.for(ENGINES)('a body that continues after its limit writes nothing on %s', async (engine) => {
  const database = await freshDatabase(engine);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const reached = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<unknown>();
  const busy = database.transaction(async (tx) => {
    try {
      for (let n = 0; ; n += 1) {
        await writeMeta(tx, `colour ${n}`, 'red');
        await turn();
        if (n === 3) reached.resolve();
      }
    } catch (error) {
      stopped.resolve(error);
    }
  });
  await reached.promise;
  vi.advanceTimersByTime(5_000);

  await expect(busy).rejects.toThrow('longer than 5 s');
  vi.useRealTimers();
  expect(String(await stopped.promise)).toContain('The transaction has ended');
  const rows = await database.db.selectFrom('meta').select('key').orderBy('key').execute();
  expect(rows).toEqual([{ key: 'oldest-compatible-schema' }, { key: 'schema-version' }]);
});

test.for(ENGINES)(
  'statements next to a failed one are rolled back as well on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    for (let round = 0; round < 10; round += 1) {
      const failing = database.transaction((tx) =>
        Promise.all([
          sql`insert into meta (key) values ('no value')`.execute(tx),
          ...['a', 'b', 'c'].map((key) => writeMeta(tx, key, 'red')),
        ]),
      );
      await expect(failing).rejects.toThrow(/null/i);
    }
    // On PostgreSQL a statement left behind would be sent now, because connections are reused.
    await Promise.all(
      Array.from({ length: 10 }, () => database.transaction((tx) => readMeta(tx, 'a'))),
    );
    const rows = await database.db.selectFrom('meta').select('key').orderBy('key').execute();
    expect(rows).toEqual([{ key: 'oldest-compatible-schema' }, { key: 'schema-version' }]);
  },
);

async function withStranger(): Promise<{ database: Database; stranger: DatabaseSync }> {
  const url = await emptyUrl('sqlite');
  const database = await openForTest(url);
  const stranger = new DatabaseSync(url.slice('file:'.length), { timeout: 0 });
  onTestFinished(() => stranger.close());
  return { database, stranger };
}

test('a transaction has the write lock before its first statement', async () => {
  const { database, stranger } = await withStranger();
  await database.transaction(async () => {
    expect(() => stranger.exec('begin immediate')).toThrow('database is locked');
  });
});

test('a short lock by a backup tool delays the transaction', async () => {
  const { database, stranger } = await withStranger();
  stranger.exec('begin immediate');
  const writing = database.transaction((tx) => writeMeta(tx, 'colour', 'red'));
  await turn();
  stranger.exec('rollback');
  await writing;
  expect(await readMeta(database.db, 'colour')).toBe('red');
});

test('another program that locks the file is reported after two seconds', async () => {
  const { database, stranger } = await withStranger();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  stranger.exec('begin immediate');
  const writing = database.transaction((tx) => writeMeta(tx, 'colour', 'red'));
  const outcome = expect(writing).rejects.toThrow('database is locked');
  // Each attempt waits for a turn of the event loop first.
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      await vi.advanceTimersByTimeAsync(20);
      await turn();
      await turn();
    }
  };
  await pass(1_500);
  expect(vi.getTimerCount()).toBe(1);
  await pass(1_000);
  await outcome;
});

test('of two deadlocked transactions one is retried', async () => {
  const database = await freshDatabase('postgres');
  await database.transaction(async (tx) => {
    await writeMeta(tx, 'left', '0');
    await writeMeta(tx, 'right', '0');
  });
  const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let bodies = 0;
  const cross = (first: string, second: string, mine: 0 | 1) =>
    database.transaction(async (tx) => {
      bodies += 1;
      await writeMeta(tx, first, String(mine));
      both[mine].resolve();
      await Promise.all(both.map(({ promise }) => promise));
      await writeMeta(tx, second, String(mine));
    });
  await Promise.all([cross('left', 'right', 0), cross('right', 'left', 1)]);
  // On a loaded machine both may be retried, or one of them twice.
  expect(bodies).toBeGreaterThanOrEqual(3);
});

test('a broken connection fails its transaction, not the process', async () => {
  const url = await emptyUrl('postgres');
  const errors: Error[] = [];
  const database = await openForTest(url, { onConnectionError: (error) => errors.push(error) });
  const cut = database.transaction(async (tx) => {
    await run(url, `select pg_terminate_backend(${await backendOf(tx)})`);
    await writeMeta(tx, 'colour', 'red');
  });

  await expect(cut).rejects.toThrow();
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(await readMeta(database.db, 'colour')).toBeNull();
});

test('a broken idle connection is replaced', async () => {
  const url = await emptyUrl('postgres');
  const { promise: told, resolve: onConnectionError } = Promise.withResolvers<Error>();
  const database = await openForTest(url, { onConnectionError });
  await run(url, `select pg_terminate_backend(${await backendOf(database.db)})`);

  expect((await told).message).toContain('terminat');
  await database.check();
});

async function backendOf(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]?.pid ?? 0;
}
