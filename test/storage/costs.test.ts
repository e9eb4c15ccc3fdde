import { expect, test } from 'vitest';
import { z } from 'zod';
import { costSnapshots } from '../../src/costs/index.ts';
import { loadMonth, recordSnapshots, storeMonth } from '../../src/costs/store.ts';
import type { UserId } from '../../src/domain/change.ts';
import {
  incidentsSince,
  permitBudgetNotice,
  saveIncident,
} from '../../src/storage/old/incidents.ts';
import {
  addSubscription,
  pauseSubscription,
  removeSubscription,
  subscriptions,
} from '../../src/storage/old/subscriptions.ts';
import { ENGINES, freshDatabase } from './engines.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const LATER = new Date('2026-11-20T13:00:00.000Z');
// Ids of two organizations.
const ONE = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
const OTHER = '0b7c2a52-6c8e-4d1e-9f1a-3d2f5b8f7e10';
const Report = z.object({ rows: z.number() });

test.for(ENGINES)('a month keeps its latest report until it is final (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const store = (rows: number, fetchedAt: Date, final = false) =>
    transaction((tx) =>
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

test.for(ENGINES)(
  'only changed totals of a day are stored, also beyond 32 bits (%s)',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    const note = (total: number, fetchedAt: Date, final: boolean) =>
      transaction((tx) =>
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
  },
);

test.for(ENGINES)(
  'a total that changes with each report is stored once per hour, its locking at once (%s)',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    const note = (minutes: number, total: number, final = false) => {
      const fetchedAt = new Date(NOON.getTime() + minutes * 60_000);
      return transaction((tx) =>
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

test.for(ENGINES)('each organization has months and snapshots of its own (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const stored = { month: '2026-10', fetchedAt: NOON, final: true };
  const day = { day: '2026-10-31', fetchedAt: NOON, final: true };
  for (const [organization, figure] of [
    [ONE, 1],
    [OTHER, 2],
  ] as const) {
    await transaction((tx) =>
      storeMonth(tx, organization, { ...stored, report: { rows: figure } }),
    );
    await transaction((tx) => recordSnapshots(tx, organization, [{ ...day, total: figure }]));
  }
  for (const [organization, figure] of [
    [ONE, 1],
    [OTHER, 2],
  ] as const) {
    expect(
      await loadMonth(db, { organizationId: organization, month: '2026-10', after: null }, Report),
    ).toEqual({
      ...stored,
      report: { rows: figure },
    });
    expect(await costSnapshots(db, organization, '2026-10-31')).toEqual([
      { ...day, total: figure },
    ]);
    expect(await costSnapshots(db, organization, '2026-11-01')).toEqual([]);
  }
});

test.for(ENGINES)(
  'rows of version 1.0 without their organization are ignored (%s)',
  async (engine) => {
    const { db } = await freshDatabase(engine);
    const row = { fetched_at: NOON.toISOString(), final: 1 } as const;
    await db
      .insertInto('cost_month')
      .values({ month: '2026-10', ...row, report: '{"rows":1}' })
      .execute();
    await db
      .insertInto('cost_snapshot')
      .values({ day: '2026-10-31', ...row, total: '1' })
      .execute();
    expect(
      await loadMonth(db, { organizationId: ONE, month: '2026-10', after: null }, Report),
    ).toBeNull();
    expect(await costSnapshots(db, ONE, '2026-10-01')).toEqual([]);
  },
);

test.for(ENGINES)('subscriptions are added, paused and removed (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const createdBy = 'UANA' as UserId;
  const one = { id: 'A', channel: 'C1', options: { at: '09:00' }, paused: false, createdBy };
  await transaction((tx) => addSubscription(tx, { ...one, createdAt: NOON }));
  expect(await transaction((tx) => pauseSubscription(tx, 'A', true))).toBe(true);
  expect(await subscriptions(db)).toEqual([{ ...one, createdAt: NOON, paused: true }]);
  expect(await transaction((tx) => removeSubscription(tx, 'A'))).toBe(true);
  expect(await transaction((tx) => removeSubscription(tx, 'A'))).toBe(false);
});

test.for(ENGINES)(
  'an anomaly keeps its newest state, and a notice is permitted once (%s)',
  async (engine) => {
    const { db, transaction } = await freshDatabase(engine);
    const incident = { line: 'x', onset: '2026-11-12', facts: { impact: 2 }, updatedAt: NOON };
    await transaction((tx) => saveIncident(tx, { ...incident, state: 'open' }));
    await transaction((tx) => saveIncident(tx, { ...incident, state: 'resolved' }));
    expect((await incidentsSince(db, '2026-11-01')).map(({ state }) => state)).toEqual([
      'resolved',
    ]);

    const mark = { budget: 'production', month: '2026-11', mark: '80', at: NOON };
    expect(await transaction((tx) => permitBudgetNotice(tx, mark))).toBe(true);
    expect(await transaction((tx) => permitBudgetNotice(tx, mark))).toBe(false);
  },
);
