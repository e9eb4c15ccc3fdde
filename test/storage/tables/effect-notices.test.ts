import { expect, test } from 'vitest';
import { loadChange } from '../../../src/storage/tables/changes/changes.ts';
import {
  listEffectNotices,
  permitEffectNotice,
} from '../../../src/storage/tables/effect-notices.ts';
import { ENGINES, freshDatabase } from '../engines.ts';
import { aChange, minutes, NOON, stored } from '../example-change.ts';

test.for(ENGINES)(
  'each effect of a change is reported by one replica only (%s)',
  async (engine) => {
    const database = await freshDatabase(engine);
    const change = aChange();
    await stored(database, change);
    const permit = (days: number) =>
      database.transaction((tx) => permitEffectNotice(tx, { changeId: change.id, days, at: NOON }));

    expect(await Promise.all([permit(3), permit(3)])).toContain(false);
    expect(await permit(7)).toBe(true);
    expect((await listEffectNotices(database.db, NOON)).get(change.id)?.toSorted()).toEqual([3, 7]);
    expect(await listEffectNotices(database.db, minutes(1))).toEqual(new Map());
  },
);

test.for(ENGINES)('the cost estimate is stored with the plan (%s)', async (engine) => {
  const database = await freshDatabase(engine);
  const cost = { text: 'about −18.0 credits a day', perDay: -18, share: -1 };
  const old = aChange();
  const told = aChange({ plan: { ...old.plan, cost } });
  await stored(database, old, told);
  expect((await loadChange(database.db, told.id))?.plan.cost).toEqual(cost);
  expect((await loadChange(database.db, old.id))?.plan).not.toHaveProperty('cost');
});
