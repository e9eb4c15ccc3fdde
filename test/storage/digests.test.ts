import { expect, test } from 'vitest';
import type { Database } from '../../src/storage/old/database.ts';
import {
  finishDigest,
  lastDigests,
  permitDigest,
  takeOverDigest,
  unfinishedDigests,
  withdrawDigest,
} from '../../src/storage/old/digests.ts';
import { toText } from '../../src/storage/old/portable.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { channel, minutes, NOON } from './example-change.ts';

const COSTS = channel('CCOSTS');
const TODAY = { channel: COSTS, day: '2026-08-14', owner: 'one', at: NOON };

async function miss(database: Database, digest: typeof TODAY): Promise<void> {
  await database.transaction(async (tx) => {
    await permitDigest(tx, digest);
    await finishDigest(tx, digest, { state: 'missed', ts: null });
  });
}

const rowsIn = ({ db }: Database) => db.selectFrom('digest').selectAll().execute();

test.for(ENGINES)('one replica may post the digest of a day on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const replicas = ['one', 'two', 'three', 'four'];
  const tries = replicas.map((owner) =>
    database.transaction((tx) => permitDigest(tx, { ...TODAY, owner })),
  );
  expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
  const permit = (over: Partial<typeof TODAY>) =>
    database.transaction((tx) => permitDigest(tx, { ...TODAY, ...over }));
  expect(await permit({ day: '2026-08-15' })).toBe(true);
  expect(await permit({ channel: channel('COPS') })).toBe(true);
});

test.for(ENGINES)('a day whose digest is missed stays missed on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await miss(database, TODAY);
  expect(await database.transaction((tx) => permitDigest(tx, TODAY))).toBe(false);
  expect(await rowsIn(database)).toMatchObject([{ state: 'missed' }]);
});

test.for(ENGINES)(
  'of several replicas one takes over from a crashed owner on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await database.transaction((tx) => permitDigest(tx, TODAY));
    expect(await unfinishedDigests(database.db, NOON)).toEqual([]);
    const [seen] = await unfinishedDigests(database.db, minutes(1));
    if (!seen) throw new Error('it is stuck');

    const takers = ['two', 'three', 'four'].map((owner) =>
      database.transaction((tx) => takeOverDigest(tx, seen, { owner, at: minutes(5) })),
    );
    const won = await Promise.all(takers);
    expect(won.filter(Boolean)).toHaveLength(1);

    const end = (owner: string) =>
      database.transaction((tx) =>
        finishDigest(tx, { ...TODAY, owner }, { state: 'posted', ts: '1.2' }),
      );
    expect(await end('one')).toBe(false);
    const owner = ['two', 'three', 'four'][won.indexOf(true)] ?? '';
    expect(await end(owner)).toBe(true);
    expect(await end(owner)).toBe(false);
    expect(await rowsIn(database)).toEqual([
      { ...TODAY, owner, at: toText(minutes(5)), state: 'posted', ts: '1.2' },
    ]);
    expect(await unfinishedDigests(database.db, minutes(60))).toEqual([]);
  },
);

test.for(ENGINES)('a digest that was not posted can be tried again on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const withdraw = (owner: string) =>
    database.transaction((tx) => withdrawDigest(tx, { ...TODAY, owner }));
  await database.transaction((tx) => permitDigest(tx, TODAY));
  expect(await withdraw('two')).toBe(false);
  expect(await withdraw('one')).toBe(true);
  expect(await database.transaction((tx) => permitDigest(tx, TODAY))).toBe(true);
  await database.transaction((tx) => finishDigest(tx, TODAY, { state: 'posted', ts: '1.2' }));
  expect(await withdraw('one')).toBe(false);
});

test.for(ENGINES)('the last post of each channel ignores missed days on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const later = { ...TODAY, day: '2026-08-15', at: minutes(1) };
  await database.transaction((tx) => permitDigest(tx, TODAY));
  await database.transaction((tx) => permitDigest(tx, later));
  await miss(database, { ...TODAY, day: '2026-08-16' });
  await miss(database, { ...TODAY, channel: channel('COPS') });
  expect([...(await lastDigests(database.db))]).toEqual([
    [COSTS, { day: '2026-08-15', at: minutes(1) }],
  ]);
});
