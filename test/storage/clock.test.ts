import { afterEach, expect, test, vi } from 'vitest';
import { followClock } from '../../src/storage/old/clock.ts';
import { minutes, NOON } from './example-change.ts';

afterEach(() => {
  vi.useRealTimers();
});

function aMachine(database: { now: Date; down?: boolean }) {
  const state = { machine: NOON.getTime(), ticks: 5_000 };
  const now = async () => {
    if (database.down) throw new Error('the database is away');
    return database.now;
  };
  const errors: unknown[] = [];
  const source = { machine: () => state.machine, monotonic: () => state.ticks };
  return {
    state,
    errors,
    follow: () =>
      followClock(
        { now },
        { onError: (error) => void errors.push(error), onRead: () => undefined },
        source,
      ),
  };
}

test('a machine with a fast clock uses the time of the database', async () => {
  const { state, follow } = aMachine({ now: minutes(-10) });
  const clock = await follow();
  expect(clock.now()).toEqual(minutes(-10));
  expect(clock.behindMs()).toBe(-600_000);
  state.ticks += 60_000;
  expect(clock.now()).toEqual(minutes(-9));
  clock.stop();
});

test('setting the clock of the machine has no effect', async () => {
  const { state, follow } = aMachine({ now: NOON });
  const clock = await follow();
  state.machine += 3_600_000;
  state.ticks += 1_000;
  expect(clock.now().getTime() - NOON.getTime()).toBe(1_000);
  clock.stop();
});

test('the clock is synchronized again, and continues while the database is unavailable', async () => {
  vi.useFakeTimers();
  const database = { now: NOON, down: false };
  const { state, errors, follow } = aMachine(database);
  const clock = await follow();
  database.now = minutes(30);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(clock.now()).toEqual(minutes(30));

  database.down = true;
  await vi.advanceTimersByTimeAsync(30_000);
  state.ticks += 60_000;
  expect(clock.now()).toEqual(minutes(31));
  expect(errors).toHaveLength(1);
  clock.stop();
});
