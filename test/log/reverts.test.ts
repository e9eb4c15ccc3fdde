import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { dueReverts } from '../../src/log/old/change-due.ts';
import { loadChange, markRevertPlanned } from '../../src/log/old/changes.ts';
import { hasTargetChangedSinceEnd, lastChangeSincePlan } from '../../src/log/old/permits.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import {
  aChange,
  ben,
  elsewhere,
  minutes,
  NOON,
  STAGING,
  stored,
} from '../storage/example-change.ts';

const ending = (at: Date): Change['outcome'] => ({
  how: 'succeeded',
  at,
  tookMs: 1,
  requestId: null,
  reported: [],
});
const succeeded = (at: Date, over: Partial<Change> = {}) =>
  aChange({ state: 'succeeded', outcome: ending(at), createdAt: minutes(0), ...over });
const childOf = (parent: Change, over: Partial<Change> = {}) =>
  aChange({ state: 'approved', parent: parent.id, createdAt: minutes(10), ...over });

test.for(ENGINES)('a change has the id and state of its revert on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const parent = succeeded(minutes(10), { revertAt: minutes(60), approvals: [] });
  const child = childOf(parent, { approvals: [{ by: ben, at: minutes(5) }] });
  await stored(database, parent);
  expect((await loadChange(database.db, parent.id))?.child).toBeUndefined();
  await stored(database, child);
  const loaded = await loadChange(database.db, parent.id);
  expect(loaded?.child).toEqual({ id: child.id, state: 'approved' });
  expect(await loadChange(database.db, child.id)).toEqual(child);
});

test.for(ENGINES)(
  'a change has one revert, even if several replicas plan it, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const parent = succeeded(minutes(10), { revertAt: minutes(60) });
    await stored(database, parent, childOf(parent));
    await expect(stored(database, childOf(parent))).rejects.toThrow(/unique/i);
  },
);

test.for(ENGINES)('only timed changes that succeeded wait for a revert on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const due = succeeded(minutes(10), { revertAt: minutes(60) });
  const planned = succeeded(minutes(11), { revertAt: minutes(60) });
  const forGood = succeeded(minutes(12));
  const failed = aChange({ state: 'failed', revertAt: minutes(60) });
  await stored(database, due, planned, forGood, failed, childOf(planned));
  await database.transaction((tx) => markRevertPlanned(tx, planned.id, NOON));
  expect(await dueReverts(database.db, { limit: 9 })).toEqual([due.id]);
});

test.for<[string, boolean, (parent: Change) => Change[]]>([
  ['nothing else ran', false, () => []],
  ['another change ran before it', false, () => [succeeded(minutes(9))]],
  ['another change ran before its revert was planned', true, () => [succeeded(minutes(10.5))]],
  ['another change ran after its revert was planned', true, () => [succeeded(minutes(30))]],
  [
    'another target changed',
    false,
    () => [elsewhere({ state: 'succeeded', outcome: ending(minutes(30)) })],
  ],
])('a revert is compared with changes since its parent ended: %s', async ([, moved, others]) => {
  for (const engine of ENGINES) {
    const database = await freshDatabase(engine);
    const parent = succeeded(minutes(10), { revertAt: minutes(60) });
    const child = childOf(parent, { createdAt: minutes(11) });
    await stored(database, parent, child, ...others(parent));
    const later = await database.transaction((tx) => lastChangeSincePlan(tx, STAGING, child));
    expect(later !== null).toBe(moved);
    expect(await hasTargetChangedSinceEnd(database.db, STAGING, parent)).toBe(moved);
  }
});
