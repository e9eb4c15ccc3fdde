import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/changes/change.ts';
import type { Database } from '../../src/storage/database.ts';
import * as inbox from '../../src/storage/inbox.ts';
import * as outbox from '../../src/storage/outbox.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { minutes, NOON, newId } from './example-change.ts';

const batch = (at: number, owner = 'one', limit = 10) => ({
  owner,
  now: minutes(at),
  leaseMs: 60_000,
  limit,
});

function click(database: Database, key: string, at = 0): Promise<boolean> {
  const received = { key, kind: 'click', body: { by: 'UANA', text: key }, at: minutes(at) };
  return database.transaction((tx) => inbox.receive(tx, received));
}

async function taken(database: Database, from: ReturnType<typeof batch>): Promise<string[]> {
  const items = await database.transaction((tx) => inbox.takeDue(tx, from));
  return items.map(({ key }) => key);
}

test.for(ENGINES)('a click that Slack sends again is known on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => click(database, 'a')));
  expect(five.filter(Boolean)).toHaveLength(1);

  const [item] = await database.transaction((tx) => inbox.takeDue(tx, batch(0)));
  const body = { by: 'UANA', text: 'a' };
  expect(item).toEqual({ key: 'a', kind: 'click', body, at: NOON, attempts: 1 });
  await database.transaction((tx) => inbox.markHandled(tx, 'a', NOON));
  expect(await click(database, 'a')).toBe(false);
  expect(await taken(database, batch(99))).toEqual([]);
});

test.for(ENGINES)(
  'a click is taken by one replica until its lease runs out on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    for (const key of ['c', 'b', 'a']) await click(database, key);
    await click(database, 'later', 1);

    expect(await taken(database, batch(0, 'one', 2))).toEqual(['a', 'b']);
    expect(await taken(database, batch(0, 'two'))).toEqual(['c']);
    expect(await taken(database, batch(0.9, 'two'))).toEqual([]);
    expect(await taken(database, batch(1, 'two'))).toEqual(['a', 'b', 'c', 'later']);
    const rows = await database.db.selectFrom('inbox').selectAll().orderBy('dedup_key').execute();
    expect(rows.map(({ attempts, lease_owner }) => [attempts, lease_owner])).toEqual([
      [2, 'two'],
      [2, 'two'],
      [2, 'two'],
      [1, 'two'],
    ]);
  },
);

test.for(ENGINES)('replicas at the same moment share the clicks on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const keys = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, '0')}`);
  for (const key of keys) await click(database, key);
  const four = ['one', 'two', 'three', 'four'].map((owner) => taken(database, batch(0, owner, 10)));
  const shares = (await Promise.all(four)).flat();
  expect(shares.length).toBe(new Set(shares).size);
  const rest = await taken(database, batch(0, 'five', 30));
  expect([...shares, ...rest].sort()).toEqual(keys);
});

test.for(ENGINES)('who received a click takes this one and no other on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await click(database, 'a');
  await click(database, 'b');
  const take = (key: string, at: number) =>
    database.transaction((tx) => inbox.take(tx, key, batch(at)));

  expect((await take('b', 0))?.key).toBe('b');
  expect(await take('b', 0)).toBeNull();
  expect(await take('x', 0)).toBeNull();
  expect(await taken(database, batch(0))).toEqual(['a']);
  await database.transaction((tx) => inbox.markHandled(tx, 'b', minutes(0)));
  expect(await take('b', 5)).toBeNull();
});

test.for(ENGINES)('a click that could not be handled waits its time on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await click(database, 'a');
  await taken(database, batch(0));
  await database.transaction((tx) => inbox.putBack(tx, 'a', minutes(0.5)));
  expect(await taken(database, batch(0.4))).toEqual([]);
  expect(await taken(database, batch(0.5))).toEqual(['a']);
});

test.for(ENGINES)(
  'of a handled click only its key stays, and that for a while, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    for (const key of ['old', 'new', 'open']) await click(database, key);
    await database.transaction((tx) => inbox.markHandled(tx, 'old', minutes(1)));
    await database.transaction((tx) => inbox.markHandled(tx, 'new', minutes(2)));
    await database.transaction((tx) => inbox.putBack(tx, 'new', minutes(3)));

    expect(await database.transaction((tx) => inbox.prune(tx, minutes(2)))).toBe(1);
    const rows = await database.db.selectFrom('inbox').selectAll().orderBy('dedup_key').execute();
    expect(rows.map((row) => [row.dedup_key, row.body])).toEqual([
      ['new', null],
      ['open', expect.any(String)],
    ]);
  },
);

function enqueue(database: Database, message: Partial<outbox.Message> = {}): Promise<void> {
  return database.transaction((tx) => outbox.enqueue(tx, { kind: 'card', at: NOON, ...message }));
}

function due(database: Database, at: number, owner = 'one', limit = 10): Promise<outbox.Due[]> {
  return database.transaction((tx) => outbox.takeDue(tx, batch(at, owner, limit)));
}

function done(database: Database, id: number): Promise<void> {
  return database.transaction((tx) => outbox.markDone(tx, id, NOON));
}

test.for(ENGINES)('many moves of one change are drawn once on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const [changeId, other] = [newId(), newId()];
  await enqueue(database, { changeId, at: minutes(5) });
  await Promise.all([1, 2, 3, 4].map((at) => enqueue(database, { changeId, at: minutes(at) })));
  await enqueue(database, { changeId, kind: 'thread:approved' });
  await enqueue(database, { changeId: other });

  const messages = await due(database, 1);
  expect(messages.map(({ changeId: id, kind }) => [id, kind])).toEqual([
    [changeId, 'card'],
    [changeId, 'thread:approved'],
    [other, 'card'],
  ]);
  for (const { id } of messages) await done(database, id);
  expect(await due(database, 99)).toEqual([]);
});

test.for(ENGINES)(
  'messages with a text of their own are all sent, in order, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    for (const n of [1, 2, 3]) await enqueue(database, { changeId, body: { n } });
    await enqueue(database, { kind: 'digest' });
    await enqueue(database, { kind: 'digest' });

    const messages = await due(database, 0);
    expect(messages.map(({ body }) => body)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, null, null]);
  },
);

test.for(ENGINES)(
  'a change that moves while it is drawn is drawn again after on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, { changeId });
    const [first] = await due(database, 0);
    await enqueue(database, { changeId });
    await enqueue(database, { changeId });

    // Until the first drawing is sent, a second one could overtake it.
    expect(await due(database, 0.5, 'two')).toEqual([]);
    await done(database, first?.id ?? 0);
    const [second, ...more] = await due(database, 0.5, 'two');
    expect(second).toMatchObject({ changeId, kind: 'card', attempts: 1 });
    expect(more).toEqual([]);
  },
);

test.for(ENGINES)(
  'a drawing whose sender died stands for those behind it on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, { changeId });
    const [first] = await due(database, 0);
    await enqueue(database, { changeId });

    const again = await due(database, 1, 'two');
    expect(again).toEqual([{ ...first, attempts: 2 }]);
    await done(database, again[0]?.id ?? 0);
    expect(await due(database, 99)).toEqual([]);
  },
);

test.for(ENGINES)(
  'a drawing that Slack refused waits, and later ones with it, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const changeId = newId();
    await enqueue(database, { changeId });
    const [first] = await due(database, 0);
    await database.transaction((tx) => outbox.putBack(tx, first?.id ?? 0, minutes(3)));
    await enqueue(database, { changeId });

    expect(await due(database, 2.9)).toEqual([]);
    expect(await due(database, 3)).toEqual([{ ...first, attempts: 2 }]);
  },
);

test.for(ENGINES)('replicas at the same moment share the messages on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const changes: ChangeId[] = Array.from({ length: 20 }, () => newId());
  for (const changeId of changes) await enqueue(database, { changeId });
  const busy = changes.map(async (changeId, n) => {
    if (n % 2) await turn();
    await enqueue(database, { changeId });
  });
  const four = ['one', 'two', 'three', 'four'].map((owner) => due(database, 0, owner, 20));
  const [shares] = await Promise.all([Promise.all(four), Promise.all(busy)]);
  const ids = shares.flat().map(({ changeId }) => changeId);
  expect(ids.length).toBe(new Set(ids).size);
});

test.for(ENGINES)('messages that were sent are forgotten after a while on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await enqueue(database, { kind: 'sent' });
  await enqueue(database, { kind: 'waiting', at: minutes(5) });
  const [sent] = await due(database, 0);
  await done(database, sent?.id ?? 0);
  expect(await database.transaction((tx) => outbox.prune(tx, minutes(1)))).toBe(1);
  expect((await due(database, 9)).map(({ kind }) => kind)).toEqual(['waiting']);
});
