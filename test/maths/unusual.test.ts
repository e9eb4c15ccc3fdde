import { describe, expect, test } from 'vitest';
import { addDays, daysBetween } from '../../src/base/time.ts';
import {
  type AppliedChange,
  effectOfChange,
  floorOf,
  judgeLine,
  usualRange,
} from '../../src/maths/anomalies.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { chance } from './rows.ts';

const TODAY = '2026-11-20';
const KNOWN = { share: 1, error: 0, common: 0 };

/** Credits of 80 days before today, with a noise, times a factor; the last three days are open. */
function valuesOf(
  factor: (ago: number) => number,
  noise = 0.06,
  completeness: object | null = KNOWN,
) {
  const random = chance(5);
  return daysBetween(addDays(TODAY, -80), addDays(TODAY, -1)).map((day, index): DayValue => {
    const ago = 80 - index;
    const value = 30 * Math.exp(noise * 2 * (random() - 0.5)) * factor(ago);
    const openDay = { age: ago, completeness: completeness as typeof KNOWN | null };
    return ago > 3 ? { day, value, final: true } : { day, value, final: false, openDay };
  });
}

function judged(
  values: readonly DayValue[],
  { changes = [], expected = new Map(), floor = 6 } = {} as {
    changes?: readonly AppliedChange[];
    expected?: ReadonlyMap<string, string>;
    floor?: number;
  },
) {
  const line = { key: 's-1', name: 'search', values };
  return judgeLine(line, { today: TODAY, floor, expected, changes });
}

const DOUBLED = (ago: number) => (ago === 1 ? 2 : 1);

test('a day of ×2 is unusual on the next morning', () => {
  expect(judged(valuesOf(DOUBLED)).unusual).toMatchObject({
    kind: 'up',
    since: '2026-11-19',
    last: '2026-11-19',
    relative: expect.closeTo(0.9, 1),
    explained: null,
  });
});

test.for<[string, readonly DayValue[]]>([
  ['an ordinary day', valuesOf(() => 1)],
  ['a day of +30%', valuesOf((ago) => (ago === 1 ? 1.3 : 1))],
  ['what became the new level', valuesOf((ago) => (ago <= 8 ? 2 : 1))],
  ['the return after some low days', valuesOf((ago) => (ago > 2 && ago < 14 ? 0.4 : 1))],
  ['a day that is not complete yet', valuesOf((ago) => (ago === 1 ? 0.3 : 1), 0.06, null)],
])('%s is not unusual', ([, values]) => {
  expect(judged(values).unusual).toBeNull();
});

test('cents are below the floor', () => {
  expect(judged(valuesOf(DOUBLED), { floor: 40 }).unusual).toBeNull();
});

test('two expensive days do not blind: a ×3.7 three weeks later is found', () => {
  const factor = (ago: number) => (ago === 22 || ago === 23 ? 4 : ago === 1 ? 3.7 : 1);
  expect(judged(valuesOf(factor)).unusual?.relative).toBeGreaterThan(2.4);
});

test('an increase is reported while it lasts, with its first day', () => {
  const { unusual } = judged(valuesOf((ago) => (ago <= 4 ? 1.7 : 1)));
  expect(unusual).toMatchObject({ since: '2026-11-16', last: '2026-11-19' });
  expect(unusual?.days.length).toBe(4);
});

test('a decrease counts from its second day on, when the days are nearly complete', () => {
  expect(judged(valuesOf((ago) => (ago <= 1 ? 0 : 1))).unusual).toBeNull();
  expect(judged(valuesOf((ago) => (ago <= 2 ? 0 : 1))).unusual).toMatchObject({
    kind: 'down',
    since: '2026-11-18',
    relative: -1,
  });
});

test('a line that varies a lot is watched for more only, and its factor says so', () => {
  const varies = judged(valuesOf(() => 1, 1.2));
  expect(varies.factor).toBeGreaterThan(2);
  expect(judged(valuesOf(() => 1)).factor).toBeLessThan(1.7);
});

test('a line that began is new, and one with rare costs is rare', () => {
  const began = valuesOf((ago) => (ago <= 2 ? 1 : 0));
  expect(judged(began).unusual).toMatchObject({ kind: 'new', since: '2026-11-18' });
  const rare = valuesOf((ago) => (ago === 1 ? 4 : ago % 9 === 0 ? 1 : 0));
  expect(judged(rare).unusual).toMatchObject({ kind: 'rare', since: '2026-11-19' });
});

test('what a user expected is usual from its first day on', () => {
  const values = valuesOf((ago) => (ago <= 3 ? 2 : 1));
  expect(judged(values, { expected: new Map([['s-1', '2026-11-17']]) }).unusual).toBeNull();
});

describe('a change of Signalbox', () => {
  const size = {
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 16,
    numReplicas: 3,
    idleScaling: false,
  };
  const twice = { ...size, minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 };
  const scaled: AppliedChange = {
    ...{ id: 'ADHZMF', serviceId: 's-1', service: 'search', what: 'scaled', day: '2026-11-17' },
    ...{ direction: 'up', before: size, after: twice, isUnknown: false },
  };
  const since17 = (factor: number) => valuesOf((ago) => (ago <= 2 ? factor : ago === 3 ? 1.5 : 1));

  test('explains an increase of its size', () => {
    expect(judged(since17(2), { changes: [scaled] }).unusual?.explained).toMatchObject({ rest: 0 });
  });

  test('explains only a part of a larger one', () => {
    const { unusual } = judged(since17(5), { changes: [scaled] });
    expect(unusual?.explained?.change.id).toBe('ADHZMF');
    expect(unusual?.explained?.rest).toBeGreaterThan(50);
  });

  test('explains an expensive first day, if a line of its new size has such days', () => {
    const noisy = valuesOf((ago) => (ago === 1 ? 4.4 : ago === 2 ? 1.5 : 1), 0.25);
    const scaledLate = { ...scaled, day: '2026-11-18' };
    expect(judged(noisy, { changes: [scaledLate] }).unusual?.explained?.rest).toBe(0);
    const double = since17(4.3);
    expect(judged(double, { changes: [scaled] }).unusual?.explained?.rest).toBeGreaterThan(30);
  });

  test('explains an increase whose first days have no data, and none that began later', () => {
    const late = { ...scaled, day: '2026-11-15' };
    const values = valuesOf((ago) => (ago <= 2 ? 2 : 1));
    const missing = values.filter(({ day }) => day !== '2026-11-16' && day !== '2026-11-17');
    expect(judged(missing, { changes: [late] }).unusual?.explained?.rest).toBe(0);
    expect(judged(values, { changes: [late] }).unusual?.explained).toBeNull();
  });

  test.for<[string, Partial<AppliedChange>]>([
    ['of another service', { serviceId: 's-2' }],
    ['in the other direction', { direction: 'down' }],
    ['of another day', { day: '2026-11-12' }],
  ])('%s explains nothing', ([, over]) => {
    const { unusual } = judged(since17(2), { changes: [{ ...scaled, ...over }] });
    expect(unusual?.explained).toBeNull();
  });

  test('has its effect measured on whole days', () => {
    const values = valuesOf((ago) => (ago <= 2 ? 0 : ago === 3 ? 0.5 : 1));
    const effect = effectOfChange({ day: '2026-11-17' }, { values });
    expect(effect?.days).toBe(2);
    expect(effect?.perDay).toBeCloseTo(-30, -0.5);
  });
});

test('the floor is the larger of a credit and 2% of the usual day', () => {
  expect(floorOf(valuesOf(() => 10))).toBeCloseTo(6, 0);
  expect(floorOf(valuesOf(() => 0.1))).toBe(1);
  const values = valuesOf(() => 10);
  expect(floorOf(values, { share: 0.1 })).toBeCloseTo(30, 0);
  expect(floorOf([])).toBe(1);
});

describe('the usual range of a day', () => {
  const range = (factor: (ago: number) => number, completeness: object | null = KNOWN) => {
    const values = valuesOf(factor, 0.06, completeness);
    const day = values.at(-1);
    return day ? usualRange(values, day) : null;
  };

  test.for<[string, number, 'within' | 'above' | 'below']>([
    ['as usual', 1, 'within'],
    ['above', 1.5, 'above'],
    ['below', 0.5, 'below'],
  ])('says %s', ([, factor, side]) => {
    expect(range((ago) => (ago === 1 ? factor : 1))?.side).toBe(side);
  });

  test('never says below of a day of unknown completeness', () => {
    expect(range((ago) => (ago === 1 ? 0.3 : 1), null)?.side).toBe('within');
    expect(range((ago) => (ago === 1 ? 3 : 1), null)?.side).toBe('above');
  });

  test('compares the completed cost', () => {
    const half = { share: 0.5, error: 0.02, common: 0 };
    expect(range((ago) => (ago === 1 ? 0.5 : 1), half)?.side).toBe('within');
  });

  test('needs ten days', () => {
    const values = valuesOf(() => 1).slice(-10);
    const day = values.at(-1);
    expect(day && usualRange(values, day)).toBeNull();
  });
});
