import { expect, test } from 'vitest';
import { z } from 'zod';
import { costSnapshots, loadMonth, recordSnapshots, storeMonth } from '../../src/costs/store.ts';
import { transaction } from '../../src/storage/index.ts';
import { onEngines } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const LATER = new Date('2026-11-20T13:00:00.000Z');
// Ids of two organizations.
const ONE = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
const OTHER = '0b7c2a52-6c8e-4d1e-9f1a-3d2f5b8f7e10';
const Report = z.object({ rows: z.number() });

onEngines('a month keeps its latest report until it is final', async (engine) => {
  const database = await freshStore(engine);
  const { root: db } = database;
  const store = (rows: number, fetchedAt: Date, final = false) =>
    transaction(database, (tx) =>
      storeMonth(tx, ONE, { month: '2026-10', fetchedAt, final, report: { rows } }),
    );
  const rows = async () =>
    (await loadMonth(db, { organizationId: ONE, month: '2026-10', after: null }, Report))?.report
      .rows;

  expect(await rows()).toBeUndefined();
  await store(2, LATER);
  await store(1, NOON);
  expect(await rows()).toBe(2);
  await store(3, LATER, true);
  await store(4, new Date(LATER.getTime() + 1));
  expect(await rows()).toBe(3);
});

onEngines('only changed totals of a day are stored, also beyond 32 bits', async (engine) => {
  const database = await freshStore(engine);
  const { root: db } = database;
  const note = (total: number, fetchedAt: Date, final: boolean) =>
    transaction(database, (tx) =>
      recordSnapshots(tx, ONE, [{ day: '2026-11-19', fetchedAt, total, final }]),
    );
  await note(9_000_000_000_123, NOON, false);
  await note(9_000_000_000_123, LATER, false);
  await note(9_000_000_000_123, new Date(LATER.getTime() + 1), true);
  const noted = await costSnapshots(db, ONE, '2026-11-01');
  expect(noted.map(({ total, final }) => [total, final])).toEqual([
    [9_000_000_000_123, false],
    [9_000_000_000_123, true],
  ]);
});

onEngines(
  'a total that changes with each report is stored once per hour, its locking at once',
  async (engine) => {
    const database = await freshStore(engine);
    const { root: db } = database;
    const note = (minutes: number, total: number, final = false) => {
      const fetchedAt = new Date(NOON.getTime() + minutes * 60_000);
      return transaction(database, (tx) =>
        recordSnapshots(tx, ONE, [{ day: '2026-11-19', fetchedAt, total, final }]),
      );
    };
    await note(0, 1);
    await note(59, 2);
    await note(60, 3);
    await note(75, 4, true);
    const noted = await costSnapshots(db, ONE, '2026-11-01');
    expect(noted.map(({ total }) => total)).toEqual([1, 3, 4]);
  },
);

onEngines('each organization has months and snapshots of its own', async (engine) => {
  const database = await freshStore(engine);
  const { root: db } = database;
  const stored = { month: '2026-10', fetchedAt: NOON, final: true };
  const day = { day: '2026-10-31', fetchedAt: NOON, final: true };
  const all = [
    [ONE, 1],
    [OTHER, 2],
  ] as const;
  for (const [organization, figure] of all) {
    await transaction(database, (tx) =>
      storeMonth(tx, organization, { ...stored, report: { rows: figure } }),
    );
    await transaction(database, (tx) =>
      recordSnapshots(tx, organization, [{ ...day, total: figure }]),
    );
  }
  for (const [organizationId, figure] of all) {
    const month = await loadMonth(db, { organizationId, month: '2026-10', after: null }, Report);
    expect(month).toEqual({ ...stored, report: { rows: figure } });
    const own = [{ ...day, total: figure }];
    expect(await costSnapshots(db, organizationId, '2026-10-31')).toEqual(own);
    expect(await costSnapshots(db, organizationId, '2026-11-01')).toEqual([]);
  }
});

test('a month that cannot be read counts as not stored', async () => {
  const database = await freshStore('sqlite');
  const stored = { month: '2026-10', fetchedAt: NOON, final: true, report: 'rows: 1' };
  await transaction(database, (tx) => storeMonth(tx, ONE, stored));
  const wanted = { organizationId: ONE, month: '2026-10', after: null };
  expect(await loadMonth(database.root, wanted, Report)).toBeNull();
});
