import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { moveBot } from '../../../sandbox/clock/bot-process.ts';

const HOUR_MS = 3_600_000;
const PRELOAD = new URL('../../../sandbox/clock/bot-clock.ts', import.meta.url).href;

/** A process that waits in each way for half an hour, and reports what has happened. */
const SCRIPT = `
  import { setTimeout as sleep } from 'node:timers/promises';
  const HALF = ${HOUR_MS / 2};
  const seen = { slept: false, sleptLonger: false, runs: 0, endedRuns: 0, timedOut: false, aborted: false };
  sleep(HALF).then(() => { seen.slept = true; });
  sleep(4 * HALF, 'value', { ref: true }).then(() => { seen.sleptLonger = true; });
  const cancelled = new AbortController();
  sleep(HALF, null, { signal: cancelled.signal }).catch((error) => { seen.aborted = error.name; });
  cancelled.abort();
  setInterval(() => { seen.runs += 1; }, HALF / 10);
  const ended = setInterval(() => { seen.endedRuns += 1; }, HALF);
  clearInterval(ended);
  setTimeout(() => { seen.timedOut = true; }, HALF);
  const signal = AbortSignal.timeout(HALF);
  process.on('message', ({ report }) => {
    if (!report) return;
    const times = { date: new Date().getTime(), now: Date.now(), text: Date(), monotonic: performance.now() };
    process.send({ ...seen, ...times, fixed: new Date(0).toISOString(), isDate: new Date() instanceof Date, timeoutEnded: signal.aborted });
  });
`;

const Report = z.looseObject({
  ...{ date: z.number(), now: z.number(), monotonic: z.number(), text: z.string() },
});

function waitingProcess() {
  const args = ['--import', PRELOAD, '--input-type=module', '--eval', SCRIPT];
  const child = spawn(process.execPath, args, {
    env: { SANDBOX_CLOCK_OFFSET_MS: String(-HOUR_MS) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill());
  const report = async () => {
    const answer = once(child, 'message');
    child.send({ report: true });
    return Report.parse((await answer)[0]);
  };
  return { child, report };
}

test('a move of the clock ends sleeps and runs intervals once, but ends no timeout', async () => {
  const { child, report } = waitingProcess();
  const before = await report();
  expect(before).toMatchObject({ slept: false, runs: 0, aborted: 'AbortError', isDate: true });
  expect(Math.abs(before.now - (Date.now() - HOUR_MS))).toBeLessThan(60_000);

  const { sleepsUntil } = await moveBot(child, 0);
  const after = await report();
  expect(after).toMatchObject({ slept: true, sleptLonger: false, runs: 1, endedRuns: 0 });
  expect(after).toMatchObject({ timedOut: false, timeoutEnded: false });
  expect(sleepsUntil).toBeGreaterThan(after.now);
  expect(after.date - before.date).toBeGreaterThanOrEqual(HOUR_MS);
  expect(after.monotonic - before.monotonic).toBeGreaterThanOrEqual(HOUR_MS);
  expect(Math.abs(Date.parse(after.text) - after.now)).toBeLessThan(60_000);
  expect(after.fixed).toBe('1970-01-01T00:00:00.000Z');
});

test('a move of a process that has exited is over at once', async () => {
  const { child, report } = waitingProcess();
  await report();
  child.kill();
  await once(child, 'exit');
  expect(await moveBot(child, 0)).toEqual({ sleepsUntil: null, activeMs: 0 });
});

test('a bot ends with its sandbox, however that ends', async () => {
  const { child, report } = waitingProcess();
  await report();
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
