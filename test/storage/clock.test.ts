import { afterEach, expect, test, vi } from 'vitest';
import { followClock } from '../../src/storage/index.ts';
import { ENGINES } from './engines.ts';
import { freshStore } from './stores.ts';

afterEach(() => {
  vi.useRealTimers();
});

const NOON = new Date('2026-08-03T12:00:00Z');
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);

async function aMachine(database: { now: Date; down?: boolean }) {
  const [engine = 'sqlite'] = ENGINES;
  const state = { ticks: 5_000 };
  const now = () => {
    if (database.down) throw new Error('the database is away');
    return database.now.getTime();
  };
  const store = await freshStore(engine, { now });
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  return {
    state,
    errors,
    follow: () => followClock(store, { onError, onRead: () => undefined }, () => state.ticks),
  };
}

test('a machine with a fast clock uses the time of the database', async () => {
  const { state, follow } = await aMachine({ now: minutes(-10) });
  const clock = await follow();
  expect(clock.now()).toEqual(minutes(-10));
  state.ticks += 60_000;
  expect(clock.now()).toEqual(minutes(-9));
  clock.stop();
});

test('setting the clock of the machine has no effect', async () => {
  const { state, follow } = await aMachine({ now: NOON });
  const clock = await follow();
  vi.setSystemTime(minutes(60));
  state.ticks += 1_000;
  expect(clock.now().getTime() - NOON.getTime()).toBe(1_000);
  clock.stop();
});

test('the clock is synchronized again, and continues while the database is unavailable', async () => {
  const database = { now: NOON, down: false };
  const { state, errors, follow } = await aMachine(database);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const clock = await follow();
  database.now = minutes(30);
  vi.advanceTimersByTime(30_000);
  await expect.poll(() => clock.now()).toEqual(minutes(30));

  database.down = true;
  vi.advanceTimersByTime(30_000);
  await expect.poll(() => errors).toHaveLength(1);
  state.ticks += 60_000;
  expect(clock.now()).toEqual(minutes(31));
  clock.stop();
});
