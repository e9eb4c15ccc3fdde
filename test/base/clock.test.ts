import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/time.ts';

const AN_HOUR = 3_600_000;

test('a sleep ends with its signal and leaves no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const woken = new AbortController();
  const sleep = systemClock.sleep(AN_HOUR, woken.signal);
  expect(timers()).toBe(before + 1);
  woken.abort();
  await sleep;
  await systemClock.sleep(AN_HOUR, AbortSignal.abort());
  expect(timers()).toBe(before);
});

test('a sleep without a signal ends by itself', async () => {
  await expect(systemClock.sleep(0)).resolves.toBeUndefined();
});

test('a call after a time is made once, and not after it was cancelled', async () => {
  const calls: string[] = [];
  systemClock.after(0, () => calls.push('cancelled'))();
  await new Promise<void>((called) => {
    systemClock.after(0, () => {
      calls.push('due');
      called();
    });
  });
  expect(calls).toEqual(['due']);
});

test('a time limit that has passed already aborts at once', async () => {
  const late = systemClock.timeout(-4);
  await new Promise((resolve) => late.addEventListener('abort', resolve));
  expect(late.aborted).toBe(true);
});
