import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { draftChange, planDigest } from '../../src/domain/draft.ts';
import { evolve } from '../../src/domain/fold.ts';
import {
  cardVersion,
  insertChange,
  loadChange,
  lockChange,
  lockStored,
  settingCard,
  updateChange,
} from '../../src/log/old/changes.ts';
import { lockTarget } from '../../src/log/old/permits.ts';
import { OptimisticLockError } from '../../src/log/old/verdicts.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { readingMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { approve, finish, reject, resolve } from '../domain/gate-fixtures.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import {
  aChange,
  ben,
  channel,
  cleo,
  minutes,
  NOON,
  newId,
  STAGING,
  stored,
} from '../storage/example-change.ts';
import { untilBlocked } from '../storage/until-blocked.ts';

const approver = (id: Change['requester']) => ({ id, roles: ['approver'] });

function moved(outcome: ReturnType<typeof approve>): Change {
  if (!outcome.ok) throw new Error(outcome.refusal);
  return outcome.change;
}

async function vote(database: Database, id: Change['id'], by: Change['requester']) {
  return database.transaction(async (tx) => {
    const before = await lockChange(tx, id);
    if (!before) throw new Error('gone');
    const after = moved(approve(before, approver(by), NOON));
    await updateChange(tx, before, after);
    return after;
  });
}

test.for(ENGINES)('approvals are loaded in the order of their times on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const [first, second, third] = ['UZED', 'UBEN', 'UANA'].map((id, index) => ({
    by: id as Change['requester'],
    at: minutes(index),
  }));
  if (!first || !second || !third) throw new Error('There are three approvals');
  const change = aChange({ approvals: [second, third, first] });
  await stored(database, change);
  expect((await loadChange(database.db, change.id))?.approvals).toEqual([first, second, third]);
});

test.for(ENGINES)('a change is loaded as it was stored on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const full = aChange({
    state: 'approved',
    approvals: [
      { by: ben, at: minutes(1) },
      { by: cleo, at: minutes(2) },
    ],
    notBefore: minutes(3),
    card: { channel: channel('CAPPROVALS'), ts: '1786708800.000100' },
  });
  await stored(database, full);

  expect(await loadChange(database.db, full.id)).toEqual(full);
  expect(await loadChange(database.db, newId())).toBeNull();
});

test.for(ENGINES)('every verdict and outcome is loaded as it was stored on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange({ state: 'approved' });
  await stored(database, change);
  const lease = { owner: 'one', until: minutes(2) };
  const executing = evolve(change, { type: 'claimed', lease, stateCheck: undefined, at: NOON });
  const answer = { at: minutes(1), tookMs: 40_000, requestId: null, status: null, text: 'silence' };
  const unknown = moved(finish(executing, { how: 'unknown', ...answer }));
  const note = { happened: false, note: 'not in the console', current: null };
  const resolved = moved(resolve(unknown, approver(ben), note, minutes(9)));

  for (const [before, after] of [
    [change, executing],
    [executing, unknown],
    [unknown, resolved],
  ] as const) {
    await database.transaction((tx) => updateChange(tx, before, after));
    expect(await loadChange(database.db, change.id)).toEqual(after);
  }
});

test.for(ENGINES)('a move puts back a column that was modified on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const { db } = database;
  const change = aChange();
  await stored(database, change);
  const rowOf = () => db.selectFrom('change').selectAll().executeTakeFirstOrThrow();
  await database.transaction((tx) =>
    tx.updateTable('change').set({ reason: 'another', card_version: 3 }).execute(),
  );
  const approved = moved(approve(change, approver(ben), NOON));
  const read = await rowOf();
  const { row, verdicts } = await database.transaction((tx) =>
    updateChange(tx, change, approved, { stored: read }),
  );
  expect(await rowOf()).toEqual(row);
  expect(row).toMatchObject({ reason: change.reason, card_version: 3, version: 2 });
  expect(await db.selectFrom('approval').selectAll().execute()).toEqual(verdicts);
});

test.for(ENGINES)('a reason with half of an emoji keeps its digest on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = draftChange({ ...aChange(), reason: 'load test \ud83d' }, NOON);
  await stored(database, change);
  const loaded = await loadChange(database.db, change.id);
  expect(loaded).toEqual(change);
  expect(planDigest(loaded ?? aChange())).toBe(change.digest);
});

test.for(ENGINES)('a rejection keeps the approval that came before it on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  const approved = await vote(database, change.id, ben);
  const rejected = moved(reject(approved, approver(ben), 'on second thoughts', minutes(1)));
  const { verdicts } = await database.transaction((tx) => updateChange(tx, approved, rejected));

  expect(verdicts).toEqual([]);
  expect(await loadChange(database.db, change.id)).toEqual(rejected);
});

test.for(ENGINES)('two concurrent approvals both count on %s', async (engine) => {
  const database = await freshDatabase(engine);
  for (let round = 0; round < 10; round += 1) {
    const change = aChange();
    await stored(database, change);
    await Promise.all([vote(database, change.id, ben), vote(database, change.id, cleo)]);

    const after = await loadChange(database.db, change.id);
    expect(after).toMatchObject({ state: 'approved', version: 3 });
    expect(after?.approvals.map(({ by }) => by).sort()).toEqual([ben, cleo]);
  }
});

test.runIf(ENGINES.includes('postgres'))(
  'what is read together with the lock of a change is read under it',
  async () => {
    const database = await freshDatabase('postgres');
    const { db, transaction } = database;
    const change = aChange();
    await stored(database, change);
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = transaction(async (tx) => {
      await lockChange(tx, change.id);
      await writeMeta(tx, 'key', 'new');
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const reader = transaction(async (tx) => {
      const reading = readingMeta(tx, 'key');
      await lockStored(tx, change.id, [reading]);
      return reading.rows();
    });
    await untilBlocked(db);
    released.resolve();
    await holder;
    expect(await reader).toEqual([{ value: 'new' }]);
  },
);

test.for(ENGINES)('the second of two concurrent moves is rolled back on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  const byBen = moved(approve(change, approver(ben), NOON));
  const byCleo = moved(approve(change, approver(cleo), NOON));
  await database.transaction((tx) => updateChange(tx, change, byBen));
  const late = database.transaction(async (tx) => {
    await lockTarget(tx, STAGING, change.id, NOON);
    await updateChange(tx, change, byCleo);
  });

  await expect(late).rejects.toThrow(OptimisticLockError);
  expect(await loadChange(database.db, change.id)).toEqual(byBen);
  expect(await database.db.selectFrom('target_lock').selectAll().execute()).toEqual([]);
});

test.for(ENGINES)('a second verdict of the same user is rolled back on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  const once = moved(approve(change, approver(ben), NOON));
  await database.transaction((tx) => updateChange(tx, change, once));
  const forgotten: Change = { ...once, approvals: [] };
  const twice = moved(approve(forgotten, approver(ben), NOON));
  const again = database.transaction((tx) => updateChange(tx, forgotten, twice));

  await expect(again).rejects.toThrow('UBEN already decided');
  expect(await loadChange(database.db, change.id)).toEqual(once);
});

test.for<[string, Partial<Change>]>([
  ['skips a version', { version: 3 }],
  ['keeps the version', { version: 1 }],
  ['has another plan digest', { version: 2, digest: 'another' }],
])('a move that %s is a fault', async ([, over]) => {
  const database = await freshDatabase('sqlite');
  const change = aChange();
  await stored(database, change);
  const odd = database.transaction((tx) => updateChange(tx, change, { ...change, ...over }));
  await expect(odd).rejects.toThrow(`Change ${change.id} must move by one version`);
});

test.for(ENGINES)('an id is used once on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  await expect(stored(database, change)).rejects.toThrow(/unique/i);
});

test.for(ENGINES)('a modified row causes an error with its id on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  await database.transaction((tx) =>
    tx.updateTable('change').set({ plan: '{"target":"prod"}' }).execute(),
  );
  await expect(loadChange(database.db, change.id)).rejects.toThrow(`change ${change.id}`);
});

test('a plan without a method is not stored', async () => {
  const database = await freshDatabase('sqlite');
  const plan = { ...aChange().plan, sends: 'somehow' };
  const storing = database.transaction((tx) => insertChange(tx, aChange({ plan })));
  await expect(storing).rejects.toThrow('somehow');
});

test.for(ENGINES)('a change stores the newest version of its card on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const change = aChange();
  await stored(database, change);
  const [first, second] = ['1', '2'].map((ts) => ({ channel: channel('CAPPROVALS'), ts }));
  if (!first || !second) throw new Error('two places');
  const draw = (at: typeof first, version: number) =>
    database.transaction((tx) => runTogether(tx, [settingCard(tx, change.id, at, version)]));

  expect(await cardVersion(database.db, change.id)).toBeNull();
  await draw(first, 2);
  await draw(second, 1);
  expect(await cardVersion(database.db, change.id)).toBe(2);
  expect((await loadChange(database.db, change.id))?.card).toEqual(first);

  // A move that was computed from an older version of the change keeps the card.
  await database.transaction((tx) =>
    updateChange(tx, change, moved(approve(change, approver(ben), NOON))),
  );
  expect((await loadChange(database.db, change.id))?.card).toEqual(first);
});
