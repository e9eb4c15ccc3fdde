import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import type { Database } from '../../src/storage/old/database.ts';
import * as outbox from '../../src/storage/old/outbox.ts';
import type { OutboxMessage } from '../../src/storage/old/outbox-message.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { minutes, NOON, newId } from './example-change.ts';

const batch = (at: number, owner = 'one', limit = 10) => ({
  owner,
  now: minutes(at),
  leaseMs: 60_000,
  limit,
});

function enqueue(database: Database, message: OutboxMessage, at = NOON): Promise<void> {
  return database.transaction((tx) => outbox.enqueue(tx, { ...message, at }));
}

const card = (changeId: ChangeId): OutboxMessage => ({ changeId, kind: 'card' });

function due(
  database: Database,
  at: number,
  owner = 'one',
  limit = 10,
): Promise<outbox.DueMessage[]> {
  return database.transaction((tx) => outbox.claimDueMessages(tx, batch(at, owner, limit)));
}

function done(database: Database, id: number): Promise<void> {
  return database.transaction((tx) => outbox.markDone(tx, [id], NOON));
}

test.for(ENGINES)('several moves of one change update its card once on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const [changeId, other] = [newId(), newId()];
  await enqueue(database, card(changeId), minutes(5));
  await Promise.all([1, 2, 3, 4].map((at) => enqueue(database, card(changeId), minutes(at))));
  await enqueue(database, { changeId, kind: 'thread', state: 'approved' });
  await enqueue(database, card(other));

  const messages = await due(database, 1);
  expect(messages.map(({ changeId: id, kind }) => [id, kind])).toEqual([
    [changeId, 'card'],
    [changeId, 'thread:approved'],
    [other, 'card'],
  ]);
  for (const { id } of messages) await done(database, id);
  expect(await due(database, 99)).toEqual([]);
});

test.for(ENGINES)('messages that are stored together are sent in order on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changeId = newId();
  await enqueue(database, card(changeId), minutes(5));
  const kinds = ['direct-cards', 'card', 'audit', 'follow-up'] as const;
  const together = kinds.map((kind) => ({ changeId, kind, at: NOON }));
  await database.transaction((tx) => outbox.enqueueAll(tx, together));
  await database.transaction((tx) => outbox.enqueueAll(tx, []));

  const messages = await due(database, 1);
  expect(messages.map(({ kind }) => kind)).toEqual(['card', 'direct-cards', 'audit', 'follow-up']);
});

const WAITS_FOR_NONE = [
  ['no change, after one of a change', { change_id: newId() }, { change_id: null }],
  ['a change, after one of no change', { change_id: null }, { change_id: newId() }],
  ['a change, after one with a body', { change_id: 'SAME', body: '{}' }, { change_id: 'SAME' }],
] as const;
const WAITING_CASES = ENGINES.flatMap((engine) =>
  WAITS_FOR_NONE.map(([name, first, second]) => ({ engine, name, first, second })),
);

test.for(WAITING_CASES)(
  'a message of $name of the same kind, is sent at once on $engine',
  async ({ engine, first, second }) => {
    const database = await freshDatabase(engine);
    // The kind of a later release, so that it can have any of these forms.
    const row = { kind: 'later', body: null, not_before: NOON.toISOString(), attempts: 0 };
    const rows = [first, second].map(({ change_id, ...own }) => ({
      ...{ ...row, ...own },
      // Any text is an id here.
      change_id: change_id as ChangeId | null,
    }));
    await database.transaction((tx) => tx.insertInto('outbox').values(rows).execute());
    expect(await due(database, 0, 'one', 1)).toMatchObject([{ changeId: first.change_id }]);
    expect(await due(database, 0, 'two')).toMatchObject([{ changeId: second.change_id }]);
  },
);

test.for(ENGINES)('messages with a body are all sent, in order, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changeId = newId();
  const note = { changeId, kind: 'schedule-note', key: 'end' } as const;
  const report = { kind: 'report', body: { key: 'one' } } as const;
  const sent = [...['a', 'b', 'c'].map((text) => ({ ...note, text })), report, report];
  for (const message of sent) await enqueue(database, message);

  expect((await due(database, 0)).map(({ message }) => message)).toEqual(sent);
});

test.for(ENGINES)(
  'a change that moves during its delivery is delivered again on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, card(changeId));
    const [first] = await due(database, 0);
    await enqueue(database, card(changeId));
    await enqueue(database, card(changeId));

    // Before the first delivery ends, a second one could overtake it.
    expect(await due(database, 0.5, 'two')).toEqual([]);
    await done(database, first?.id ?? 0);
    const [second, ...more] = await due(database, 0.5, 'two');
    expect(second).toMatchObject({ changeId, kind: 'card', attempts: 1 });
    expect(more).toEqual([]);
  },
);

test.for(ENGINES)(
  'the retry after a crashed sender covers the waiting messages on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, card(changeId));
    const [first] = await due(database, 0);
    await enqueue(database, card(changeId));

    const again = await due(database, 1, 'two');
    expect(again).toEqual([{ ...first, attempts: 2 }]);
    await done(database, again[0]?.id ?? 0);
    expect(await due(database, 99)).toEqual([]);
  },
);

test.for(ENGINES)(
  'a refused message and the later ones of its change wait on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, card(changeId));
    const [first] = await due(database, 0);
    await database.transaction((tx) => outbox.retryMessageAt(tx, first?.id ?? 0, minutes(3)));
    await enqueue(database, card(changeId));

    expect(await due(database, 2.9)).toEqual([]);
    expect(await due(database, 3)).toEqual([{ ...first, attempts: 2 }]);
  },
);

test.for(ENGINES)('concurrent replicas share the messages on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes: ChangeId[] = Array.from({ length: 20 }, () => newId());
  for (const changeId of changes) await enqueue(database, card(changeId));
  const busy = changes.map(async (changeId, n) => {
    if (n % 2) await turn();
    await enqueue(database, card(changeId));
  });
  const four = ['one', 'two', 'three', 'four'].map((owner) => due(database, 0, owner, 20));
  const [shares] = await Promise.all([Promise.all(four), Promise.all(busy)]);
  const ids = shares.flat().map(({ changeId }) => changeId);
  expect(ids.length).toBe(new Set(ids).size);
});

test('a replica that claims messages does not block another', async () => {
  const database = await freshDatabase('postgres');
  for (const changeId of [newId(), newId()]) await enqueue(database, card(changeId));
  const took = Promise.withResolvers<void>();
  const other = took.promise.then(() => due(database, 0, 'two'));
  const first = database.transaction(async (tx) => {
    const items = await outbox.claimDueMessages(tx, batch(0, 'one', 1));
    took.resolve();
    return [...items, ...(await other)];
  });
  expect(new Set((await first).map(({ changeId }) => changeId)).size).toBe(2);
  expect(await due(database, 0)).toEqual([]);
});

test.for(ENGINES)('delivered messages are deleted later on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await enqueue(database, { kind: 'report', body: {} });
  await enqueue(database, { kind: 'redraw', body: {} }, minutes(5));
  const [sent] = await due(database, 0);
  await done(database, sent?.id ?? 0);
  expect(await database.transaction((tx) => outbox.pruneOutbox(tx, minutes(1)))).toBe(1);
  expect((await due(database, 9)).map(({ kind }) => kind)).toEqual(['redraw']);
});

test.for(ENGINES)(
  'a lease is extended only by the process that still holds it on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    for (const changeId of [newId(), newId()]) await enqueue(database, card(changeId));
    const ids = (await due(database, 0)).map(({ id }) => id);
    const extend = (at: number, owner = 'one') =>
      database.transaction((tx) => outbox.extendLease(tx, ids, batch(at, owner)));
    expect(await extend(0.9)).toEqual(new Set(ids));
    expect(await due(database, 1.8, 'two')).toEqual([]);
    expect(await due(database, 1.9, 'two', 1)).toHaveLength(1);
    expect(await extend(2)).toEqual(new Set(ids.slice(1)));
    await done(database, ids[1] ?? 0);
    expect(await extend(2)).toEqual(new Set());
  },
);
