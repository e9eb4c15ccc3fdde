import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import {
  closingPermit,
  lastChangeSincePlan,
  lockHolder,
  lockTarget,
  readingChangeSincePlan,
  unlockTarget,
  writePermit,
} from '../../src/log/old/permits.ts';
import { OptimisticLockError } from '../../src/log/old/verdicts.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import {
  aChange,
  aPost,
  elsewhere,
  minutes,
  NOON,
  STAGING,
  stored,
} from '../storage/example-change.ts';
import { untilBlocked } from '../storage/until-blocked.ts';

function permit(database: Database, change: Change, single: boolean): Promise<number> {
  const row = { changeId: change.id, single, owner: 'one', at: NOON };
  return database.transaction((tx) => writePermit(tx, row));
}

test.for(ENGINES)('a call that must not be repeated has one permit on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aPost();
  await stored(database, change);
  const tries = Array.from({ length: 5 }, () => permit(database, change, true));
  const results = await Promise.allSettled(tries);

  const won = results.filter(({ status }) => status === 'fulfilled');
  expect(won).toEqual([{ status: 'fulfilled', value: 1 }]);
  for (const result of results.filter((one) => one.status === 'rejected')) {
    expect(result.reason).toBeInstanceOf(OptimisticLockError);
  }
});

test.for(['succeeded', 'failed', 'unknown'] as const)(
  'a single permit whose outcome is %s is the last one',
  async (outcome) => {
    const database = await freshDatabase('sqlite');
    const change = aPost();
    await stored(database, change);
    await permit(database, change, true);
    await database.transaction((tx) =>
      runTogether(tx, [
        closingPermit(tx, { changeId: change.id, n: 1, outcome, httpStatus: null }),
      ]),
    );
    await expect(permit(database, change, true)).rejects.toThrow(OptimisticLockError);
  },
);

test.for(ENGINES)('a request that was not sent gets a permit again on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aPost();
  await stored(database, change);
  await permit(database, change, true);
  await database.transaction((tx) =>
    runTogether(tx, [
      closingPermit(tx, { changeId: change.id, n: 1, outcome: 'not-sent', httpStatus: 429 }),
    ]),
  );

  expect(await permit(database, change, true)).toBe(2);
  const rows = await database.db.selectFrom('send_permit').selectAll().orderBy('n').execute();
  expect(rows).toMatchObject([
    { n: 1, outcome: 'not-sent', http_status: 429 },
    { n: 2, outcome: null, http_status: null },
  ]);
});

test.for(ENGINES)('the permits of a repeatable call are counted on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const [change, other] = [aChange(), aChange()];
  await stored(database, change, other);
  expect(await permit(database, change, false)).toBe(1);
  expect(await permit(database, change, false)).toBe(2);
  expect(await permit(database, other, false)).toBe(1);
});

test.for(ENGINES)('a permit is closed once on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  await permit(database, change, false);
  const close = (n: number) =>
    database.transaction((tx) =>
      runTogether(tx, [
        closingPermit(tx, { changeId: change.id, n, outcome: 'succeeded', httpStatus: 200 }),
      ]),
    );
  await close(1);
  await expect(close(1)).rejects.toThrow(OptimisticLockError);
  await expect(close(2)).rejects.toThrow(OptimisticLockError);
});

test.for(ENGINES)('one change at a time locks a target on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes = Array.from({ length: 5 }, () => aChange());
  await stored(database, ...changes);
  const take = ({ id }: Change) => database.transaction((tx) => lockTarget(tx, STAGING, id, NOON));
  const taken = await Promise.all(changes.map(take));
  const holder = changes[taken.indexOf(true)];
  if (!holder) throw new Error('nobody took it');

  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await lockHolder(database.db, STAGING)).toBe(holder.id);
  expect(await take(holder)).toBe(true);

  await database.transaction((tx) => unlockTarget(tx, holder.id));
  expect(await lockHolder(database.db, STAGING)).toBeNull();
  expect(await Promise.all(changes.slice(0, 1).map(take))).toEqual([true]);
});

test.for(ENGINES)(
  'a change with a lock on another target does not get this one on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const change = aChange();
    await stored(database, change);
    const take = (target: string) =>
      database.transaction((tx) => lockTarget(tx, target, change.id, NOON));
    expect(await take('alert:one')).toBe(true);
    expect(await take(STAGING)).toBe(false);
  },
);

test.runIf(ENGINES.includes('postgres'))(
  'a change that ends while another one waits for its target is seen',
  async () => {
    const database = await freshDatabase('postgres');
    const { db, transaction } = database;
    const [other, waiting] = [aChange(), aChange()];
    await stored(database, other, waiting);
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = transaction(async (tx) => {
      await lockTarget(tx, STAGING, other.id, NOON);
      const ended = { state: 'succeeded', ended_at: minutes(5).toISOString() } as const;
      await tx.updateTable('change').set(ended).where('id', '=', other.id).execute();
      await unlockTarget(tx, other.id);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const claim = transaction(async (tx) => {
      const later = await readingChangeSincePlan(tx, STAGING, waiting);
      const isLocked = await lockTarget(tx, STAGING, waiting.id, NOON, [later]);
      return { isLocked, later: later.change()?.id };
    });
    await untilBlocked(db);
    released.resolve();
    await holder;
    expect(await claim).toEqual({ isLocked: true, later: other.id });
  },
);

const answer = { tookMs: 1, requestId: null };
const succeeded = (at: Date): Partial<Change> => ({
  state: 'succeeded',
  outcome: { how: 'succeeded', at, ...answer, reported: [] },
});
const unknown = (at: Date): Partial<Change> => ({
  state: 'unknown',
  outcome: { how: 'unknown', at, ...answer, status: null, text: 'silence' },
});
const resolution = { by: aChange().requester, at: minutes(11), happened: true, note: 'seen' };

test.for<[string, boolean, Change]>([
  ['succeeded after this one was planned', true, aChange(succeeded(minutes(11)))],
  ['succeeded before', false, aChange(succeeded(minutes(9)))],
  ['has an unknown outcome', false, aChange(unknown(minutes(11)))],
  [
    'was resolved as succeeded',
    true,
    aChange({ ...unknown(NOON), state: 'succeeded', resolution }),
  ],
  ['was for another target', false, elsewhere(succeeded(minutes(11)))],
  ['was rejected by the server', false, aChange({ ...unknown(minutes(11)), state: 'failed' })],
])('a target that another change moved is noticed: the other %s', async ([, expected, other]) => {
  for (const engine of ENGINES) {
    const database = await freshDatabase(engine);
    const change = aChange({ state: 'approved', createdAt: minutes(10) });
    await stored(database, change, other);
    const moved = await database.transaction((tx) => lastChangeSincePlan(tx, STAGING, change));
    const later = other.outcome?.at ?? resolution.at;
    const by = { id: other.id, by: other.requester, at: other.resolution?.at ?? later };
    expect(moved).toEqual(expected ? by : null);
  }
});
