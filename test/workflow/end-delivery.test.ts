import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { claimDueMessages, enqueue } from '../../src/storage/old/outbox.ts';
import { endDelivery } from '../../src/workflow/old/end-delivery.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { aChange, channel, elsewhere, minutes, NOON, stored } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const byId = (one: Change, other: Change) => (one.id < other.id ? -1 : 1);
const cardOf = ({ id }: Change) => ({
  changeId: id,
  at: { channel: channel('CCARDS'), ts: '1.0' },
  version: 1,
});

/** Claims a stored card message of each change, and returns their ids. */
async function claimed(database: Database, changes: readonly Change[]): Promise<number[]> {
  const due = await database.transaction(async (tx) => {
    for (const { id } of changes) await enqueue(tx, { changeId: id, kind: 'card', at: NOON });
    return claimDueMessages(tx, { owner: 'tests', now: NOON, leaseMs: 60_000, limit: 50 });
  });
  return due.map(({ id }) => id);
}

test('the message that follows a delivered one is stored with its end', async () => {
  const { context } = await createTestContext();
  const { database } = context;
  const change = aChange();
  await stored(database, change);
  const [id = 0] = await claimed(database, [change]);
  const reminder = {
    changeId: change.id,
    kind: 'reminder',
    reminder: 'waiting',
    number: 2,
  } as const;
  await endDelivery(context, { id, card: null, next: { ...reminder, at: minutes(45) } });
  const rows = await database.db.selectFrom('outbox').select(['kind', 'done_at']).execute();
  expect(rows).toEqual([
    { kind: 'card', done_at: NOON.toISOString() },
    { kind: 'remind:waiting:2', done_at: null },
  ]);
});

test('deliveries that share a commit lock their changes in one order, so that replicas do not deadlock', async () => {
  const { context: base } = await createTestContext();
  const url = new URL(await freshUrl('postgres'));
  // The waits for locks end when the test says so.
  url.searchParams.set('lock_timeout', '60000');
  const context = { ...base, database: await openForTest(url.href) };
  const { database } = context;
  const changes = [elsewhere(), elsewhere(), elsewhere()].toSorted(byId);
  await stored(database, ...changes);
  const [low, , high] = changes;
  if (!low || !high) throw new Error('There are three changes');
  const ids = await claimed(database, changes);
  const isLocked = async () => {
    const free = await database.transaction((tx) =>
      tx
        .selectFrom('change')
        .select('id')
        .where('id', '=', low.id)
        .forUpdate()
        .skipLocked()
        .execute(),
    );
    return free.length === 0;
  };
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = database.transaction(async (tx) => {
    await tx.selectFrom('change').select('id').where('id', '=', high.id).forUpdate().execute();
    taken.resolve();
    await released.promise;
  });
  await taken.promise;
  // The first one is committed alone; the others wait and share the next commit.
  const cards = [null, cardOf(high), cardOf(low)];
  const ends = ids.map((id, index) =>
    endDelivery(context, { id, card: cards[index] ?? null, next: null }),
  );
  await expect.poll(isLocked).toBe(true);
  // As in a move, the change comes before its messages.
  const messages = await database.transaction((tx) =>
    tx
      .selectFrom('outbox')
      .select('id')
      .where('id', 'in', ids.slice(1))
      .forUpdate()
      .skipLocked()
      .execute(),
  );
  expect(messages).toHaveLength(2);
  released.resolve();
  await Promise.all([holder, ...ends]);
});
