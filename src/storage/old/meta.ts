import { compileOnce } from './compile-once.ts';
import type { Db, Tx } from './schema.ts';
import { shareReads } from './share-reads.ts';
import { keepRows, type Read } from './together.ts';

export async function readMeta(db: Db, key: string): Promise<string | null> {
  const [row] = await selectValue(db, key);
  return row?.value ?? null;
}

/** The statement of `readMeta`, to be sent together with others. */
export function readingMeta(db: Db, key: string): Read<{ readonly value: string }> {
  return keepRows(selectValue.with(db, key));
}

const selectValue = compileOnce((db: Db, key: string) =>
  db.selectFrom('meta').select('value').where('key', '=', key),
);

export async function writeMeta(tx: Tx, key: string, value: string): Promise<void> {
  await tx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/** Returns false if the value is not `before` any more; null stands for a missing key. */
export async function replaceMeta(
  tx: Tx,
  key: string,
  before: string | null,
  value: string,
): Promise<boolean> {
  const written =
    before === null
      ? await tx
          .insertInto('meta')
          .values({ key, value })
          .onConflict((conflict) => conflict.doNothing())
          .returning('key')
          .execute()
      : await tx
          .updateTable('meta')
          .set({ value })
          .where('key', '=', key)
          .where('value', '=', before)
          .returning('key')
          .execute();
  return written.length > 0;
}

export async function dropMeta(tx: Tx, key: string): Promise<void> {
  await tx.deleteFrom('meta').where('key', '=', key).execute();
}

/** Whether a key begins with `prefix`. For use outside transactions: many callers share a read. */
export async function hasMetaUnder(db: Db, prefix: string): Promise<boolean> {
  return (await readAny(db, prefix)) ?? false;
}

const readAny = shareReads(async (db, prefixes: readonly string[]) => {
  const found = prefixes.map(async (prefix) => {
    const [any] = await selectAny(db, prefix, endOf(prefix));
    return [prefix, any !== undefined] as const;
  });
  return new Map(await Promise.all(found));
});

const selectAny = compileOnce((db: Db, from: string, end: string) =>
  db.selectFrom('meta').select('key').where('key', '>=', from).where('key', '<', end).limit(1),
);

/** Returns the entries whose key begins with `prefix`, by the order of bytes. */
export async function metaUnder(
  db: Db,
  prefix: string,
): Promise<readonly { readonly key: string; readonly value: string }[]> {
  return selectRange(db, prefix, endOf(prefix));
}

function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

const selectRange = compileOnce((db: Db, from: string, end: string) =>
  db.selectFrom('meta').selectAll().where('key', '>=', from).where('key', '<', end),
);
