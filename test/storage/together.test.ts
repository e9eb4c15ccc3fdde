import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import type { Tx } from '../../src/storage/old/schema.ts';
import { keepRows, runLast, runTogether } from '../../src/storage/old/together.ts';
import { commitAfter } from '../../src/storage/old/transaction.ts';
import { ENGINES, freshDatabase } from './engines.ts';

const insert = (tx: Tx, key: string, value: string) => ({
  query: tx.insertInto('meta').values({ key, value }).compile(),
});
const select = (tx: Tx, key: string) => ({
  query: tx.selectFrom('meta').select('value').where('key', '=', key).compile(),
});
const rename = (tx: Tx, value: string) => ({
  query: tx.updateTable('meta').set({ value }).where('key', '=', 'a').returning('value').compile(),
});

test.for(ENGINES)('statements run in their order on %s', async (engine) => {
  const { transaction } = await freshDatabase(engine);
  const rows = await transaction((tx) =>
    runTogether(tx, [select(tx, 'a'), insert(tx, 'a', '1'), select(tx, 'a'), rename(tx, '2')]),
  );
  expect(rows).toEqual([[], [], [{ value: '1' }], [{ value: '2' }]]);
});

test.for(ENGINES)('the error of one statement rolls back all of them on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const failing = transaction((tx) =>
    runTogether(tx, [insert(tx, 'a', '1'), insert(tx, 'a', '2'), insert(tx, 'b', '3')]),
  );
  await expect(failing).rejects.toThrow(/unique/i);
  expect(await readMeta(db, 'a')).toBeNull();
  expect(await readMeta(db, 'b')).toBeNull();
});

test('after an error that ended the transaction of SQLite, no further statement runs', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const ending = { query: sql`insert or rollback into meta (key) values ('x')`.compile(db) };
  const failing = transaction((tx) => runTogether(tx, [ending, insert(tx, 'b', '3')]));
  await expect(failing).rejects.toThrow(/null/i);
  expect(await readMeta(db, 'b')).toBeNull();
});

test.for(ENGINES)('a statement without its effect rolls back all of them on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const check = (rows: readonly unknown[]) => {
    if (rows.length === 0) throw new Error('nothing renamed');
  };
  const failing = transaction((tx) =>
    runTogether(tx, [{ ...rename(tx, '2'), check }, insert(tx, 'b', '3')]),
  );
  await expect(failing).rejects.toThrow('nothing renamed');
  expect(await readMeta(db, 'b')).toBeNull();
});

test.for(ENGINES)('no statement runs after its transaction on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const late: Tx[] = [];
  await transaction(async (tx) => void late.push(tx));
  const statement = () => runTogether(late[0] as Tx, [insert(late[0] as Tx, 'a', '1')]);
  expect(statement).toThrow('The transaction has ended');
  expect(await readMeta(db, 'a')).toBeNull();
});

test.runIf(ENGINES.includes('postgres'))(
  'a commit that does not wait for its last statement fails with the error of that statement',
  async () => {
    const { db, transaction } = await freshDatabase('postgres');
    const failing = transaction(async (tx) => {
      await writeMeta(tx, 'a', '1');
      await commitAfter(sql`insert into meta (key) values ('no value')`.execute(tx));
      return 'stored';
    });
    await expect(failing).rejects.toMatchObject({ code: '23502' });
    expect(await readMeta(db, 'a')).toBeNull();
  },
);

test.runIf(ENGINES.includes('postgres'))(
  'a conflict in the last statement is repeated like any other',
  async () => {
    const { db, transaction } = await freshDatabase('postgres');
    let tries = 0;
    await transaction(async (tx) => {
      tries += 1;
      await writeMeta(tx, 'a', `${tries}`);
      const conflict = sql`do $$ begin raise exception 'x' using errcode = '40001'; end $$`;
      await commitAfter(tries === 1 ? conflict.execute(tx) : sql`select 1`.execute(tx));
    });
    expect(await readMeta(db, 'a')).toBe('2');
  },
);

test.runIf(ENGINES.includes('postgres'))(
  'a statement after one that only the commit waits for reports the first error',
  async () => {
    const { transaction } = await freshDatabase('postgres');
    const failing = transaction(async (tx) => {
      await commitAfter(sql`insert into meta (key) values ('no value')`.execute(tx));
      await writeMeta(tx, 'a', '1');
    });
    await expect(failing).rejects.toMatchObject({ code: '23502' });
  },
);

test.for(ENGINES)('the error of a last statement rolls back all of them on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const failing = transaction(async (tx) => {
    await writeMeta(tx, 'a', '1');
    await runLast(tx, [insert(tx, 'b', '1'), insert(tx, 'b', '2'), insert(tx, 'c', '3')]);
  });
  await expect(failing).rejects.toThrow(/unique/i);
  const rows = await db
    .selectFrom('meta')
    .select('key')
    .where('key', 'in', ['a', 'b', 'c'])
    .execute();
  expect(rows).toEqual([]);
});

test.for(ENGINES)('a last statement with a check is refused on %s', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const checked = (tx: Tx) => ({ ...insert(tx, 'a', '1'), check: () => undefined });
  const failing = transaction((tx) => runLast(tx, [checked(tx)]));
  await expect(failing).rejects.toThrow(
    'A statement that is committed at once cannot have a check',
  );
  expect(await readMeta(db, 'a')).toBeNull();
});

test('the rows of a statement that did not run are not empty', async () => {
  const { transaction } = await freshDatabase('sqlite');
  await transaction(async (tx) => {
    const read = keepRows(select(tx, 'a'));
    expect(() => read.rows()).toThrow('was not run');
    await runTogether(tx, [read]);
    expect(read.rows()).toEqual([]);
  });
});

test.for(ENGINES)('a statement that runs alone is committed, or fails, on %s', async (engine) => {
  const { db, run } = await freshDatabase(engine);
  await run((tx) => insert(tx, 'a', '1'));
  expect(await readMeta(db, 'a')).toBe('1');
  await expect(run((tx) => insert(tx, 'a', '2'))).rejects.toThrow(/unique/i);
  expect(await readMeta(db, 'a')).toBe('1');
});

test.for(ENGINES)('a statement cannot run alone inside a transaction on %s', async (engine) => {
  const { db, run, transaction } = await freshDatabase(engine);
  const inside = transaction(() => run((tx) => insert(tx, 'a', '1')));
  await expect(inside).rejects.toThrow('inside a transaction');
  expect(await readMeta(db, 'a')).toBeNull();
});

test.runIf(ENGINES.includes('postgres'))(
  'a conflict of a statement that runs alone is repeated',
  async () => {
    const { run } = await freshDatabase('postgres');
    let tries = 0;
    await run((tx) => {
      tries += 1;
      const conflict = sql`do $$ begin raise exception 'x' using errcode = '40001'; end $$`;
      const query = tries === 1 ? conflict : sql`select 1`;
      return { query: query.compile(tx) };
    });
    expect(tries).toBe(2);
  },
);

test.for(ENGINES)('a statement with a check does not run alone on %s', async (engine) => {
  const { db, run } = await freshDatabase(engine);
  const checked = (tx: Tx) => ({ ...insert(tx, 'a', '1'), check: () => undefined });
  await expect(run(checked)).rejects.toThrow(
    'A statement that is committed at once cannot have a check',
  );
  expect(await readMeta(db, 'a')).toBeNull();
});

test.runIf(ENGINES.includes('postgres'))(
  'last statements after others that still run are committed with them',
  async () => {
    const { db, transaction } = await freshDatabase('postgres');
    const slow = (tx: Tx) => sql`insert into meta select 'slow', pg_sleep(0.1)::text`.execute(tx);
    const failing = transaction(async (tx) => {
      await commitAfter(slow(tx));
      await runLast(tx, [insert(tx, 'b', '1'), insert(tx, 'b', '2')]);
    });
    await expect(failing).rejects.toThrow(/unique/i);
    expect(await readMeta(db, 'slow')).toBeNull();
    await transaction(async (tx) => {
      await commitAfter(slow(tx));
      await runLast(tx, [insert(tx, 'b', '1')]);
    });
    expect(await readMeta(db, 'b')).toBe('1');
  },
);
