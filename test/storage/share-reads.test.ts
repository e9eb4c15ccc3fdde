import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { hasMetaUnder, readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import type { Db } from '../../src/storage/old/schema.ts';
import { readInTurn, shareReads } from '../../src/storage/old/share-reads.ts';
import { ENGINES, freshDatabase } from './engines.ts';

/** A shared read of `meta`, and the keys of each statement. */
function sharedMeta() {
  const statements: string[][] = [];
  const read = shareReads(async (db: Db, keys: readonly string[]) => {
    statements.push([...keys]);
    return new Map(
      await Promise.all(keys.map(async (key) => [key, await readMeta(db, key)] as const)),
    );
  });
  return { statements, read };
}

test.for(ENGINES)('callers in one turn share a read on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  await transaction((tx) => writeMeta(tx, 'a', '1'));
  const { statements, read } = sharedMeta();
  const values = await Promise.all(['a', 'b', 'a'].map((key) => read(db, key)));
  expect(values).toEqual(['1', null, '1']);
  expect(statements).toEqual([['a', 'b']]);
});

test.for(ENGINES)('a caller never gets what was read before it asked on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const { read } = sharedMeta();
  const before = read(db, 'a');
  await transaction((tx) => writeMeta(tx, 'a', '1'));
  expect(await read(db, 'a')).toBe('1');
  await before;
});

test('an error of a shared read rejects its callers, and the next ones read again', async () => {
  const { db } = await freshDatabase('sqlite');
  let isBroken = true;
  const read = shareReads(async (_db: Db, keys: readonly string[]) => {
    if (isBroken) throw new Error('broken');
    return new Map(keys.map((key) => [key, key]));
  });
  const both = await Promise.allSettled([read(db, 'a'), read(db, 'b')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await read(db, 'a')).toBe('a');
});

test.for(ENGINES)('two databases never share a read on %s', async (engine) => {
  const [one, other] = [await freshDatabase(engine), await freshDatabase(engine)];
  await one.transaction((tx) => writeMeta(tx, 'x:1', 'v'));
  const found = await Promise.all([one, other].map(({ db }) => hasMetaUnder(db, 'x:')));
  expect(found).toEqual([true, false]);
  const select = ({ db }: typeof one) =>
    readInTurn(db, {
      query: db.selectFrom('meta').select('value').where('key', '=', 'x:1').compile(),
    });
  expect(await Promise.all([one, other].map(select))).toEqual([[{ value: 'v' }], []]);
});

test.for(ENGINES)('a shared read throws inside a transaction on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const { read } = sharedMeta();
  const outside = read(db, 'a');
  await expect(transaction(() => read(db, 'a'))).rejects.toThrow('inside a transaction');
  await outside;
});

test.for(ENGINES)('reads of one turn have their own rows and errors on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  await transaction((tx) => writeMeta(tx, 'a', '1'));
  const value = db.selectFrom('meta').select('value').where('key', '=', 'a');
  const broken = db.selectFrom('meta').select(sql<string>`no_such_column`.as('value'));
  const reads = await Promise.allSettled(
    [value, broken, value].map((each) => readInTurn(db, { query: each.compile() })),
  );
  expect(reads).toMatchObject([
    { value: [{ value: '1' }] },
    { status: 'rejected', reason: { message: expect.stringContaining('no_such_column') } },
    { value: [{ value: '1' }] },
  ]);
});

test.for(ENGINES)('a read in a transaction sees its own writes on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const value = (from: Db) => from.selectFrom('meta').select('value').where('key', '=', 'a');
  const written = Promise.withResolvers<void>();
  const outside = written.promise.then(() => readInTurn(db, { query: value(db).compile() }));
  const inside = transaction(async (tx) => {
    await writeMeta(tx, 'a', '1');
    written.resolve();
    // In the same turn, after the read outside.
    for (let n = 0; n < 5; n += 1) await Promise.resolve();
    return readInTurn(tx, { query: value(tx).compile() });
  });
  expect(await inside).toEqual([{ value: '1' }]);
  await outside;
});

test('a caller that asks while a read is under way starts another one', async () => {
  const { db } = await freshDatabase('sqlite');
  const gates: (() => void)[] = [];
  const read = shareReads(async (_db: Db, keys: readonly string[]) => {
    const number = gates.length;
    await new Promise<void>((open) => gates.push(open));
    return new Map(keys.map((key) => [key, number]));
  });
  const first = read(db, 'a');
  await expect.poll(() => gates.length).toBe(1);
  const second = read(db, 'a');
  await expect.poll(() => gates.length).toBe(2);
  for (const open of gates) open();
  expect(await Promise.all([first, second])).toEqual([0, 1]);
});
