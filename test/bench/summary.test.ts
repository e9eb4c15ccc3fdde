import { expect, test } from 'vitest';
import type { Figures } from '../../bench/figures.ts';
import { type Rounds, summary } from '../../bench/summary.ts';
import { table } from '../../bench/table.ts';

const BARE: Figures = {
  readyMs: 400,
  readyCpuMs: 350,
  coldMaxMs: 50,
  ackP50Ms: 1,
  ackP99Ms: 10,
  ackMaxMs: 20,
  not200: 0,
  over1s: 0,
  unanswered: 0,
  cpuMsPerCommand: 1,
  rssMib: 100,
  acksPerSecond: 1_000,
  answersPerSecond: 900,
  lateP99Ms: 1,
};

function rounds(signalbox: readonly Partial<Figures>[]): Rounds {
  return {
    blank: [BARE],
    bare: signalbox.map(() => BARE),
    signalbox: signalbox.map((ours) => ({ ...BARE, ...ours })),
  };
}

function lineOf(figure: keyof Figures, signalbox: readonly Partial<Figures>[]) {
  return summary(rounds(signalbox)).find((line) => line.figure === figure);
}

test('one bad round does not decide, but shows in the range', () => {
  const line = lineOf('ackP99Ms', [{ ackP99Ms: 9 }, { ackP99Ms: 60 }, { ackP99Ms: 10 }]);
  expect(line).toMatchObject({ bare: 10, signalbox: 10, met: true });
  expect(line?.ratio).toEqual({ of: 1, from: 0.9, to: 6 });
});

test('one lost command in one round is one too many', () => {
  const line = lineOf('not200', [{}, { not200: 1 }, {}]);
  expect(line).toMatchObject({ signalbox: 1, ratio: null, met: false });
});

test('the slowest of all rounds is the slowest', () => {
  const line = lineOf('ackMaxMs', [{ ackMaxMs: 30 }, { ackMaxMs: 999 }, { ackMaxMs: 30 }]);
  expect(line).toMatchObject({ signalbox: 999, met: null });
});

test.for<[keyof Figures, number, boolean]>([
  ['ackP99Ms', 10, true],
  ['ackP99Ms', 10.1, false],
  ['over1s', 1, false],
  ['unanswered', 1, false],
  // It could not be measured.
  ['ackP99Ms', Number.NaN, false],
  ['readyMs', 560, true],
  ['readyMs', 561, false],
  ['rssMib', 100, true],
  ['rssMib', 101, false],
  ['acksPerSecond', 900, true],
  ['acksPerSecond', 899, false],
])('%s of %d is judged by its aim', ([figure, value, met]) => {
  expect(lineOf(figure, [{ [figure]: value }])?.met).toBe(met);
});

test('the table reads in columns', () => {
  const all = summary(rounds([{ ackP99Ms: 16 }, { ackP99Ms: 17.5, over1s: 2 }]));
  const few = all.filter(({ figure }) => ['ackP50Ms', 'ackP99Ms', 'over1s'].includes(figure));
  expect(`\n${table(few)}\n`).toBe(`
             blank  bare Bolt  Signalbox  ratio       rounds   aim
ack p50, ms   1.00       1.00       1.00   1.00  1.00 … 1.00
ack p99, ms  10.00      10.00      16.75   1.68  1.60 … 1.75   ≤ 1  missed
over 1 s         0          0          2                      none  missed
`);
});
