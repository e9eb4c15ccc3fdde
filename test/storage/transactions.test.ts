import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  lockedTransaction,
  reading,
  type Store,
  type StoreReader,
  type StoreTx,
  transaction,
} from '../../src/storage/index.ts';
import { emptyUrl, onEngines, run } from './engines.ts';
import { freshStore, storeAt } from './stores.ts';

/** Any table of the schema serves. */
async function write(tx: StoreTx, key: string, value: string): Promise<void> {
  await sql`insert into cost_state (key, value) values (${key}, ${value})
    on conflict (key) do update set value = excluded.value`.execute(tx);
}

async function found(reader: StoreReader, key: string): Promise<string | null> {
  const { rows } = await sql<{ value: string }>`
    select value from cost_state where key = ${key}`.execute(reader);
  return rows[0]?.value ?? null;
}

const stored = (store: Store, key: string) => reading(store, (reader) => found(reader, key));

onEngines('the database is not used next to the transaction inside one', async (engine) => {
  const store = await freshStore(engine);
  const misuses: (() => Promise<unknown>)[] = [
    () => stored(store, 'colour'),
    () => transaction(store, async () => 'nested'),
    () => lockedTransaction(store, async () => 'nested'),
  ];
  for (const misuse of misuses) {
    await expect(transaction(store, misuse)).rejects.toThrow('inside a transaction');
    await expect(reading(store, misuse)).rejects.toThrow('inside a transaction');
  }
});

onEngines('concurrent transactions are isolated', async (engine) => {
  const store = await freshStore(engine);
  await transaction(store, (tx) => write(tx, 'count', '0'));
  const add = () =>
    transaction(store, async (tx) => {
      await sql`update cost_state set value = value where key = 'count'`.execute(tx);
      const count = Number(await found(tx, 'count'));
      await turn();
      await write(tx, 'count', String(count + 1));
    });
  await Promise.all(Array.from({ length: 20 }, add));
  expect(await stored(store, 'count')).toBe('20');
});

onEngines('statements next to a failed one are rolled back as well', async (engine) => {
  const store = await freshStore(engine);
  for (let round = 0; round < 10; round += 1) {
    const failing = transaction(store, (tx) =>
      Promise.all([
        sql`insert into cost_state (key) values ('no value')`.execute(tx),
        ...['a', 'b', 'c'].map((key) => write(tx, key, 'red')),
      ]),
    );
    await expect(failing).rejects.toThrow(/null/i);
  }
  // On PostgreSQL a statement left behind would be sent now, because connections are reused.
  await Promise.all(Array.from({ length: 10 }, () => transaction(store, (tx) => found(tx, 'a'))));
  for (const key of ['a', 'b', 'c']) expect(await stored(store, key)).toBeNull();
});

async function withStranger(): Promise<{ store: Store; stranger: DatabaseSync }> {
  const url = await emptyUrl('sqlite');
  const store = await storeAt(url);
  const stranger = new DatabaseSync(url.slice('file:'.length), { timeout: 0 });
  onTestFinished(() => stranger.close());
  return { store, stranger };
}

test('a transaction has the write lock before its first statement', async () => {
  const { store, stranger } = await withStranger();
  await transaction(store, async () => {
    expect(() => stranger.exec('begin immediate')).toThrow('database is locked');
  });
});

test('a short lock by a backup tool delays the transaction', async () => {
  const { store, stranger } = await withStranger();
  stranger.exec('begin immediate');
  const writing = transaction(store, (tx) => write(tx, 'colour', 'red'));
  await turn();
  stranger.exec('rollback');
  await writing;
  expect(await stored(store, 'colour')).toBe('red');
});

test('another program that locks the file is reported after a second', async () => {
  const { store, stranger } = await withStranger();
  stranger.exec('begin immediate');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  const writing = transaction(store, (tx) => write(tx, 'colour', 'red'));
  const outcome = expect(writing.finally(() => (isOver = true))).rejects.toThrow(
    'database is locked',
  );
  const attempts = async () => {
    for (let waited = 0; waited < 20; waited += 1)
      await new Promise((resolve) => void setTimeout(resolve, 10));
  };
  await attempts();
  vi.advanceTimersByTime(900);
  await attempts();
  expect(isOver).toBe(false);
  vi.advanceTimersByTime(200);
  await outcome;
});

test('a broken connection fails its transaction, not the process', async () => {
  const url = await emptyUrl('postgres');
  const errors: Error[] = [];
  const onConnectionError = (error: Error) => void errors.push(error);
  const store = await storeAt(url, { onConnectionError });
  const cut = transaction(store, async (tx) => {
    await run(url, `select pg_terminate_backend(${await backendOf(tx)})`);
    await write(tx, 'colour', 'red');
  });

  await expect(cut).rejects.toThrow();
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(await stored(store, 'colour')).toBeNull();
});

test('a broken idle connection is replaced', async () => {
  const url = await emptyUrl('postgres');
  const { promise: told, resolve: onConnectionError } = Promise.withResolvers<Error>();
  const store = await storeAt(url, { onConnectionError });
  await run(url, `select pg_terminate_backend(${await reading(store, backendOf)})`);

  expect((await told).message).toContain('terminat');
  expect(await stored(store, 'colour')).toBeNull();
});

async function backendOf(reader: StoreReader): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(reader);
  return rows[0]?.pid ?? 0;
}
