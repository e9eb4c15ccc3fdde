import { expect, test } from 'vitest';
import { z } from 'zod';
import type { UserId } from '../../../src/changes/change.ts';
import {
  costSnapshots,
  loadMonth,
  recordSnapshots,
  storeMonth,
} from '../../../src/storage/tables/costs.ts';
import {
  incidentsSince,
  permitBudgetNotice,
  saveIncident,
} from '../../../src/storage/tables/incidents.ts';
import {
  addSubscription,
  pauseSubscription,
  removeSubscription,
  subscriptions,
} from '../../../src/storage/tables/subscriptions.ts';
import { ENGINES, freshDatabase } from '../engines.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const LATER = new Date('2026-11-20T13:00:00.000Z');
const Report = z.object({ rows: z.number() });

test.for(ENGINES)('a month keeps its latest report until it is final (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const store = (rows: number, fetchedAt: Date, final = false) =>
    transaction((tx) => storeMonth(tx, { month: '2026-10', fetchedAt, final, report: { rows } }));
  const rows = async () => (await loadMonth(db, '2026-10', Report))?.report.rows;

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
      transaction((tx) => recordSnapshots(tx, [{ day: '2026-11-19', fetchedAt, total, final }]));
    await note(9_000_000_000_123, NOON, false);
    await note(9_000_000_000_123, LATER, false);
    await note(9_000_000_000_123, new Date(LATER.getTime() + 1), true);
    const noted = await costSnapshots(db, '2026-11-01');
    expect(noted.map(({ total, final }) => [total, final])).toEqual([
      [9_000_000_000_123, false],
      [9_000_000_000_123, true],
    ]);
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
