import { expect, test } from 'vitest';
import { readGauges } from '../../src/ops/telemetry.ts';
import { claimDueMessages, enqueue, retryMessageAt } from '../../src/storage/old/outbox.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { elsewhere, minutes, NOON, stored } from '../storage/example-change.ts';

test.for(ENGINES)('open entries are counted, with the age of the oldest, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const pending = [elsewhere({ createdAt: minutes(-5) }), elsewhere({ createdAt: minutes(-30) })];
  await stored(database, ...pending, elsewhere({ state: 'succeeded' }));
  await database.transaction(async (tx) => {
    await enqueue(tx, { kind: 'report', body: {}, at: NOON });
    await enqueue(tx, { kind: 'report', body: {}, at: minutes(60) });
  });

  const levels = await readGauges(database.db, NOON, 'c1');
  expect(levels.changes.get('pending')).toEqual({ count: 2, since: minutes(-30) });
  expect(levels.changes.get('unknown')).toEqual({ count: 0, since: null });
  expect(levels.changes.has('succeeded')).toBe(false);
  expect(levels.outbox).toEqual({ count: 1, since: NOON });
  expect(levels.inbox).toEqual({ count: 0, since: null });
  expect(levels.digests.get('posted')).toBe(0);
});

test.for(ENGINES)(
  'a message that waits for its retry is as old as its first attempt on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await database.transaction(async (tx) => {
      await enqueue(tx, { kind: 'report', body: {}, at: NOON });
      const lease = { owner: 'bot', leaseMs: 60_000 };
      const [due] = await claimDueMessages(tx, { now: NOON, limit: 1, ...lease });
      await retryMessageAt(tx, due?.id ?? 0, minutes(15));
    });
    const levels = await readGauges(database.db, minutes(12), 'c1');
    expect(levels.outbox).toEqual({ count: 1, since: NOON });
  },
);
