import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import {
  type AnomalyVerdict,
  commonCause,
  judge,
  minImpactOf,
  usualRange,
} from '../../src/maths/anomalies.ts';
import { settledDays } from '../../src/maths/statistics.ts';
import { chance, finalDays, normal, syntheticLine } from './synthetic.ts';

const FIRST = '2026-03-02';
const DAY = addDays(FIRST, 56);

function around(level: number, sigma = 0.04, days = 56): readonly number[] {
  const random = chance(3);
  return Array.from({ length: days }, () => level * Math.exp(sigma * normal(random)));
}

const settledValues = (values: readonly number[]) => settledDays(finalDays(values, FIRST));

function judged(history: readonly number[], value: number, final = true): AnomalyVerdict {
  const day = { day: addDays(FIRST, history.length), value, final };
  return judge(settledDays([...finalDays(history, FIRST), day]), day, 2);
}

test.for<[string, number, object]>([
  ['a day like the others', 20.4, { kind: 'usual' }],
  ['twice as much', 40, { kind: 'unusual', tier: 'alert', direction: 'up' }],
  ['a good quarter more', 26.5, { kind: 'unusual', tier: 'notice', direction: 'up' }],
  ['nothing at all', 0, { kind: 'unusual', tier: 'notice', direction: 'down' }],
])('a steady line that costs %s', ([, value, verdict]) => {
  expect(judged(around(20), value)).toMatchObject(verdict);
});

test('an unusual day has its expected cost and its excess', () => {
  const verdict = judged(Array(56).fill(20), 50);
  expect(verdict).toMatchObject({ expected: 20, excess: 30 });
  expect(verdict).toHaveProperty('z', expect.closeTo(Math.log(51 / 21) / 0.06));
});

test.for<[string, number, AnomalyVerdict['kind']]>([
  ['that is low is not reported', 5, 'usual'],
  ['that is high is reported at once', 60, 'unusual'],
])('a day that is not final and %s', ([, value, kind]) => {
  expect(judged(around(20), value, false).kind).toBe(kind);
});

test('a change below the minimum impact is never unusual', () => {
  expect(judged(Array(56).fill(0.5), 2.4).kind).toBe('usual');
  expect(judged(Array(56).fill(0.5), 2.6).kind).toBe('unusual');
});

test('a change of less than a quarter is never unusual', () => {
  expect(judged(Array(56).fill(1_000), 1_249).kind).toBe('usual');
  expect(judged(Array(56).fill(1_000), 1_260).kind).toBe('unusual');
});

test('a Monday after the weekend is usual, and a Sunday with the cost of a Monday is not', () => {
  const week = [30, 30, 30, 30, 30, 8, 8];
  const values = around(1).map((factor, index) => factor * (week[index % 7] ?? 0));
  expect(judged(values, 30).kind).toBe('usual');
  expect(judged([...values, ...values.slice(0, 6)], 30)).toMatchObject({ kind: 'unusual' });
});

test('a burst as large as two earlier ones is usual', () => {
  const bursts = around(20).map((value, index) => (index === 20 || index === 40 ? 60 : value));
  expect(judged(bursts, 58).kind).toBe('usual');
  expect(judged(bursts, 75).kind).toBe('unusual');
});

test('one spike of the past does not hide another', () => {
  const spike = around(20).map((value, index) => (index === 30 ? 90 : value));
  expect(judged(spike, 60).kind).toBe('unusual');
});

const seldom = Array.from({ length: 56 }, (_, index) => (index % 9 === 0 ? 6 : 0));

test.for<[string, readonly number[], number, AnomalyVerdict['kind']]>([
  ['what it costs now and then', seldom, 6, 'usual'],
  ['half as much again and more', seldom, 9.1, 'rare-cost'],
  ['little, for the first time', Array(56).fill(0), 3.9, 'usual'],
  ['something, for the first time', Array(56).fill(0), 4, 'new-cost'],
])('a line that rarely has costs has %s', ([, history, value, kind]) => {
  expect(judged(history, value).kind).toBe(kind);
});

test.for<[string, AnomalyVerdict]>([
  ['nine days old', judged(around(20, 0.04, 9), 500)],
  ['without a past', judged([], 500)],
])('a line that is %s is too new to be tested', ([, verdict]) => {
  expect(verdict).toEqual({ kind: 'untested', why: 'too-new' });
});

test('a line of ten days is tested', () => {
  expect(judged(around(20, 0.04, 10), 500).kind).toBe('unusual');
});

test.for([Number.NaN, -3, Number.POSITIVE_INFINITY])(
  '%s is not a cost and is not tested',
  (value) => {
    expect(judged(around(20), value)).toEqual({ kind: 'untested', why: 'not-a-cost' });
  },
);

test('invalid figures and days that are not final are not used as history', () => {
  const odd = finalDays(around(20), FIRST).flatMap((day, index) => [
    day,
    { day: addDays(FIRST, -1 - index), value: index % 2 ? Number.NaN : -5, final: true },
    { day: addDays(FIRST, -99 - index), value: 900, final: false },
  ]);
  const day = { day: DAY, value: 29, final: true };
  expect(judge(settledDays(odd), day, 2)).toEqual(judge(settledValues(around(20)), day, 2));
});

const kinds = fc.constantFrom('steady', 'business', 'bursty', 'sparse', 'weekly-job', 'tiny');

test('the result does not depend on the currency or the order', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      kinds,
      fc.double({ min: 0, max: 8, noNaN: true }),
      (seed, kind, factor) => {
        const { values } = syntheticLine(chance(seed), kind, FIRST, 57);
        const last = (values[56] ?? 0) * factor;
        const verdictAt = (scale: number) => {
          const days = finalDays(
            values.slice(0, 56).map((value) => value * scale),
            FIRST,
          );
          const day = { day: DAY, value: last * scale, final: true };
          const verdict = judge(settledDays(days), day, 2 * scale);
          expect(judge(settledDays(days.toReversed()), day, 2 * scale)).toEqual(verdict);
          return verdict;
        };
        const { kind: verdict, ...rest } = verdictAt(1);
        expect(verdictAt(64).kind).toBe(verdict);
        if ('z' in rest) expect(verdictAt(64)).toHaveProperty('z', expect.closeTo(rest.z, 6));
      },
    ),
  );
});

test('the ends of the usual range are the limits of the test', () => {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom('steady', 'business', 'bursty'), (seed, kind) => {
      const { values } = syntheticLine(chance(seed), kind, FIRST, 56);
      const days = settledValues(values);
      const range = usualRange(days, DAY, 2);
      if (!range) throw new Error('there is a range for 56 days');
      const kindOf = (value: number) => judge(days, { day: DAY, value, final: true }, 2).kind;
      expect(kindOf(range.high * 1.001)).toBe('unusual');
      expect(kindOf(range.high * 0.999)).toBe('usual');
      expect(kindOf(range.low * 1.001 + 1e-9)).toBe('usual');
      if (range.low > 0) expect(kindOf(range.low * 0.999)).toBe('unusual');
    }),
    { numRuns: 60 },
  );
});

test('the usual range of a small line begins at 0', () => {
  expect(usualRange(settledValues(Array(56).fill(1)), DAY, 2)).toMatchObject({ low: 0 });
});

test('a line that is new or rarely has costs has no usual range', () => {
  expect(usualRange(settledValues(around(20, 0.04, 9)), DAY, 2)).toBeNull();
  expect(usualRange(settledValues(seldom), DAY, 2)).toBeNull();
});

test.for<[string, readonly number[], number]>([
  ['two credits for a small bill', Array(30).fill(100), 2],
  ['half a percent of a large one', Array(30).fill(5_000), 25],
  ['two credits where nothing is known', [], 2],
])('the minimum impact is %s', ([, values, impact]) => {
  expect(minImpactOf(finalDays(values, FIRST))).toBe(impact);
});

function verdicts(up: number, down: number, usual: number): readonly AnomalyVerdict[] {
  const unusual = { kind: 'unusual', tier: 'alert', expected: 1, excess: 1, z: 9 } as const;
  return [
    ...Array<AnomalyVerdict>(up).fill({ ...unusual, direction: 'up' }),
    ...Array<AnomalyVerdict>(down).fill({ ...unusual, direction: 'down' }),
    ...Array<AnomalyVerdict>(usual).fill({ kind: 'usual', expected: 1 }),
    { kind: 'untested', why: 'too-new' },
  ];
}

test.for<[string, readonly AnomalyVerdict[], 'up' | 'down' | null]>([
  ['five of ten rose', verdicts(5, 0, 5), 'up'],
  ['five of ten fell', verdicts(0, 5, 5), 'down'],
  ['only four of ten rose', verdicts(4, 0, 6), null],
  ['three rose and three fell', verdicts(3, 3, 4), null],
  ['there are but four lines', verdicts(4, 0, 0), null],
])('whether there is a common cause when %s', ([, lines, cause]) => {
  expect(commonCause(lines)).toBe(cause);
});
