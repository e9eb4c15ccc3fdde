import { expect, test } from 'vitest';
import { type Change, isEnded, STATES } from '../../src/domain/change.ts';
import { dueClaims, dueExpiries, expiredLeases } from '../../src/log/old/change-due.ts';
import {
  type ChangeFilter,
  countChanges,
  listChanges,
  openChangesOfTarget,
} from '../../src/log/old/change-lists.ts';
import { lockTarget } from '../../src/log/old/permits.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import {
  aChange,
  ana,
  aPost,
  ben,
  channel,
  cleo,
  elsewhere,
  minutes,
  NOON,
  STAGING,
  stored,
} from '../storage/example-change.ts';

test.for(ENGINES)('the open changes of a target have not ended on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes = STATES.map((state) => aChange({ state }));
  await stored(database, ...changes, elsewhere(), aPost());

  const reading = openChangesOfTarget(database.db, STAGING);
  await runTogether(database.db, [reading]);
  const open = reading.changes();
  const expected = changes.filter((change) => !isEnded(change));
  expect(open.map(({ state }) => state).sort()).toEqual(expected.map(({ state }) => state).sort());
});

test.for(ENGINES)('lists are paged, newest first, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const mine = [0, 1, 1, 2].map((at) => aChange({ createdAt: minutes(at), approvals: byBoth() }));
  await stored(database, ...mine, aChange({ requester: ben }), aChange({ state: 'draft' }));
  const filter = { states: ['pending', 'approved'], requester: ana, limit: 2 } as const;

  const page = await listChanges(database.db, filter);
  const last = page.at(-1);
  const next = await listChanges(database.db, { ...filter, ...(last && { before: last }) });
  const times = [...page, ...next].map(({ createdAt }) => createdAt);
  expect(times).toEqual([2, 1, 1, 0].map(minutes));
  expect(new Set([...page, ...next].map(({ id }) => id)).size).toBe(4);
  expect(next.map(({ approvals }) => approvals)).toEqual([byBoth(), byBoth()]);
});

test.for(ENGINES)('changes of the same time are listed by their ids on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes = ['B', 'D', 'A', 'C'].map((id) => aChange({ id: `${id}22222` as Change['id'] }));
  await stored(database, ...changes);
  const listed = await listChanges(database.db, { limit: 9 });
  expect(listed.map(({ id }) => id[0])).toEqual(['D', 'C', 'B', 'A']);
});

test.for(ENGINES)('lists leave out drafts and older changes on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const card = { channel: channel('CDEV'), ts: '1.2' };
  const sent = [5, 10].map((at) => aChange({ createdAt: minutes(at), card }));
  const draft = aChange({ createdAt: minutes(11), state: 'draft' });
  const abandoned = aChange({ createdAt: minutes(12), state: 'cancelled' });
  const cancelled = aChange({ createdAt: minutes(13), state: 'cancelled', card });
  await stored(database, ...sent, draft, abandoned, cancelled);
  const ids = async (filter: Omit<ChangeFilter, 'limit'>) =>
    (await listChanges(database.db, { ...filter, limit: 9 })).map(({ id }) => id);

  expect(await ids({ confirmed: true })).toEqual(
    [cancelled, sent[1], sent[0]].map((one) => one?.id),
  );
  expect(await ids({ confirmed: true, since: minutes(10) })).toEqual([cancelled.id, sent[1]?.id]);
  expect(await ids({ states: ['draft'] })).toEqual([draft.id]);
  expect(await countChanges(database.db, { confirmed: true, since: minutes(10) })).toBe(2);
});

function byBoth() {
  return [
    { by: ben, at: NOON },
    { by: cleo, at: minutes(1) },
  ];
}

test.for(ENGINES)('the queries of background work find only due changes on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const now = minutes(10);
  const lease = (until: Date) => ({ owner: 'one', until });
  const expired = elsewhere({ state: 'approved', expiresAt: now });
  const ready = elsewhere({ state: 'approved', notBefore: now });
  const lost = elsewhere({ state: 'executing', lease: lease(now) });
  const busy = elsewhere({ state: 'executing', lease: lease(minutes(11)) });
  const waiting = elsewhere({ state: 'approved', plan: busy.plan });
  const later = elsewhere({ state: 'approved', notBefore: minutes(11) });
  const over = elsewhere({ state: 'succeeded', expiresAt: NOON });
  await stored(database, expired, ready, lost, busy, waiting, later, over, elsewhere());
  const busyTarget = `service:${busy.plan.target.id}`;
  await database.transaction((tx) => lockTarget(tx, busyTarget, busy.id, NOON));

  expect(await dueExpiries(database.db, now, 9)).toEqual([expired.id]);
  expect(await dueClaims(database.db, now, { limit: 9 })).toEqual([ready.id]);
  const except = [ready.id];
  expect(await dueClaims(database.db, now, { limit: 9, except })).toEqual([]);
  expect(await expiredLeases(database.db, now, 9)).toEqual([lost.id]);
});
