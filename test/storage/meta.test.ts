import { expect, test } from 'vitest';
import {
  dropMeta,
  metaUnder,
  readMeta,
  replaceMeta,
  writeMeta,
} from '../../src/storage/old/meta.ts';
import { ENGINES, freshDatabase } from './engines.ts';

test.for(ENGINES)(
  'of concurrent replacements of the same value one succeeds (%s)',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    const move = (before: string | null, value: string) =>
      transaction((tx) => replaceMeta(tx, 'k', before, value));
    const first = await Promise.all([move(null, 'a'), move(null, 'a'), move(null, 'a')]);
    expect(first.filter(Boolean)).toHaveLength(1);
    const second = await Promise.all([move('a', 'b'), move('a', 'c')]);
    expect(second.filter(Boolean)).toHaveLength(1);
    expect(await move('a', 'd')).toBe(false);
    expect(['b', 'c']).toContain(await readMeta(db, 'k'));
  },
);

test.for(ENGINES)('a deleted value can be written again (%s)', async (engine) => {
  const { transaction } = await freshDatabase(engine);
  await transaction((tx) => writeMeta(tx, 'k', 'a'));
  await transaction((tx) => dropMeta(tx, 'k'));
  expect(await transaction((tx) => replaceMeta(tx, 'k', null, 'b'))).toBe(true);
});

test.for(ENGINES)('entries are found by the beginning of their key (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const keys = ['post:', 'post:a', 'post:ä_%', 'Post:b', 'post', 'posts', 'pos:a'];
  await transaction(async (tx) => {
    for (const key of keys) await writeMeta(tx, key, 'x');
  });
  const found = await metaUnder(db, 'post:');
  expect(found.map(({ key }) => key).sort()).toEqual(['post:', 'post:a', 'post:ä_%']);
});
