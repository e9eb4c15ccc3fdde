import { expect, test } from 'vitest';
import { createProbePass, type Probe, type ProbedRead } from '../../../src/http/optional/probes.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const DECIDED: ProbedRead = { known: true, value: 1, readAt: new Date(NOON), isDecided: true };
const OPEN: ProbedRead = {
  ...{ known: false, gap: 'no-answer', why: 'no answer', status: null, isDecided: false },
};

/** Probes that log when they run, and a clock that a test moves. */
function passOf(count: number, results: readonly ProbedRead[] = []) {
  const time = { ms: 0, isReady: true };
  const runs: string[] = [];
  const left = [...results];
  const probes = Array.from({ length: count }, (_, index): Probe => {
    const capability = `probe ${index + 1}`;
    const run = async () => {
      runs.push(`${time.ms / 1_000} s: ${capability}`);
      return left.shift() ?? DECIDED;
    };
    return { capability, permission: null, run };
  });
  const pass = createProbePass(probes, {
    now: () => new Date(NOON + time.ms),
    isReady: () => time.isReady,
  });
  /** One pass per second, like the scheduler. */
  const advance = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await pass();
      time.ms += 1_000;
    }
  };
  return { time, runs, advance };
}

test('the probes of a start are spread over a minute, and each runs once', async () => {
  const { runs, advance } = passOf(4);
  await advance(600);
  expect(runs).toEqual(['0 s: probe 1', '15 s: probe 2', '30 s: probe 3', '45 s: probe 4']);
});

test('no probe runs before the connection to Slack', async () => {
  const { time, runs, advance } = passOf(2);
  time.isReady = false;
  await advance(300);
  expect(runs).toEqual([]);
  time.isReady = true;
  await advance(60);
  expect(runs).toEqual(['300 s: probe 1', '330 s: probe 2']);
});

test('a probe that decided nothing runs again after one minute, then two, at most 30', async () => {
  const { runs, advance } = passOf(
    1,
    Array.from({ length: 8 }, () => OPEN),
  );
  await advance(3 * 3_600);
  const minutes = runs.map((run) => Number.parseInt(run, 10) / 60);
  expect(minutes).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121]);
});

test('a pass runs one probe, so that late ones do not arrive together', async () => {
  const { time, runs, advance } = passOf(3);
  await advance(1);
  time.ms = 120_000;
  await advance(1);
  expect(runs).toHaveLength(2);
});
