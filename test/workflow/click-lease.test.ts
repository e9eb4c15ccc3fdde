import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { claimDueClicks, storeClick } from '../../src/log/old/inbox.ts';
import { CLICK_LEASE_MS, whileLeased } from '../../src/workflow/old/click-lease.ts';
import { NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const later = (ms: number) => new Date(NOON.getTime() + ms);

test('a click whose process crashed is handled by another one within 15 seconds', async () => {
  const { context } = await createTestContext();
  const click = { key: 'a', kind: 'click', body: {}, at: NOON };
  await context.database.transaction((tx) => storeClick(tx, { signing: null }, click));
  const claim = (owner: string, now: Date) =>
    context.database.transaction((tx) =>
      claimDueClicks(tx, null, { owner, now, leaseMs: CLICK_LEASE_MS, limit: 9 }),
    );
  expect(await claim('crashed', NOON)).toHaveLength(1);
  expect(await claim('other', later(CLICK_LEASE_MS - 1))).toEqual([]);
  expect(await claim('other', later(15_000 - 1_000))).toHaveLength(1);
});

test('a click that takes longer than its lease is not handled by another process', async () => {
  const { context, clock } = await createTestContext();
  const { database, instance } = context;
  await database.transaction(async (tx) => {
    await storeClick(tx, { signing: null }, { key: 'a', kind: 'click', body: {}, at: NOON });
    const by = { owner: instance, now: NOON, leaseMs: CLICK_LEASE_MS, limit: 9 };
    await claimDueClicks(tx, null, by);
  });
  const decided = Promise.withResolvers<void>();
  onTestFinished(() => decided.resolve());
  const handled = whileLeased(context, 'a', () => decided.promise, 5);
  clock.now = later(8_000);
  const leaseUntil = async () =>
    (await database.db.selectFrom('inbox').select('lease_until').executeTakeFirst())?.lease_until;
  await expect.poll(leaseUntil).toBe(later(8_000 + CLICK_LEASE_MS).toISOString());
  decided.resolve();
  await handled;
});

test('the lease of a click is renewed every 3 seconds, until the click is handled', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { context } = await createTestContext();
  const renewals = { count: 0 };
  const transaction: typeof context.database.transaction = () => {
    renewals.count += 1;
    return Promise.reject(new Error('the database is unavailable'));
  };
  const logged: unknown[] = [];
  const write = (line: string) => {
    const { key, msg } = JSON.parse(line);
    logged.push([key, msg]);
  };
  const log = pino({ level: 'warn' }, { write });
  const own = { ...context, log, database: { ...context.database, transaction } };
  const decided = Promise.withResolvers<string>();
  const handled = whileLeased(own, 'a', () => decided.promise);
  vi.advanceTimersByTime(2_999);
  expect(renewals.count).toBe(0);
  vi.advanceTimersByTime(1);
  expect(renewals.count).toBe(1);
  await expect.poll(() => logged).toEqual([['a', 'lease of a click was not renewed']]);
  decided.resolve('done');
  expect(await handled).toBe('done');
  vi.advanceTimersByTime(60_000);
  expect(renewals.count).toBe(1);
});
