import { expect, test } from 'vitest';
import { machineClock } from '../../src/http/clock.ts';

const AN_HOUR = 3_600_000;

test('a sleep ends with its signal, and leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const woken = new AbortController();
  const sleep = machineClock.sleep(AN_HOUR, woken.signal);
  expect(timers()).toBe(before + 1);
  woken.abort();
  await sleep;
  await machineClock.sleep(AN_HOUR, AbortSignal.abort());
  expect(timers()).toBe(before);
});

test('a sleep without a signal ends by itself', async () => {
  await expect(machineClock.sleep(0)).resolves.toBeUndefined();
});
