import { expect, test } from 'vitest';
import { compileOnce } from '../../src/storage/old/compile-once.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import type { Db, Tx } from '../../src/storage/old/schema.ts';
import { ENGINES, freshDatabase } from './engines.ts';

test.for(ENGINES)(
  'a statement is built once per database, for all its values on %s',
  async (engine) => {
    let builds = 0;
    const between = compileOnce((db: Db, from: string, to: string) => {
      builds += 1;
      const query = db.selectFrom('meta').select('key').where('value', '=', 'kept');
      return query.where('key', '>=', from).where('key', '<=', to).orderBy('key');
    });
    for (const _ of [1, 2]) {
      const { db, transaction } = await freshDatabase(engine);
      await transaction(async (tx) => {
        for (const key of ['x1', 'x2', 'x3']) await writeMeta(tx, key, 'kept');
      });
      expect(await between(db, 'x1', 'x2')).toEqual([{ key: 'x1' }, { key: 'x2' }]);
      expect(await between(db, 'x3', 'x9')).toEqual([{ key: 'x3' }]);
      expect(await transaction((tx) => between(tx, 'x2', 'x2'))).toEqual([{ key: 'x2' }]);
    }
    expect(builds).toBe(2);
  },
);

test('a compiled statement is refused where every statement is', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  await readMeta(db, 'compiled');
  await expect(transaction(() => readMeta(db, 'x'))).rejects.toThrow('inside a transaction');
  let ended: Tx | null = null;
  await transaction(async (tx) => {
    ended = tx;
  });
  const late = readMeta(ended ?? db, 'x');
  await expect(late).rejects.toThrow('The transaction has ended');
});

test.for(ENGINES)(
  'a compiled statement that still runs ends before the rollback on %s',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    const rename = compileOnce((tx: Tx, value: string) => tx.updateTable('meta').set({ value }));
    await transaction((tx) => rename(tx, 'first'));
    const failing = transaction(async (tx) => {
      void rename(tx, 'second').catch(() => undefined);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const values = await db.selectFrom('meta').select('value').distinct().execute();
    expect(values).toEqual([{ value: 'first' }]);
  },
);
