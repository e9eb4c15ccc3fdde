import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import {
  type CostChange,
  type Scaling,
  type SizedDay,
  scaleEffect,
  startEffect,
  stopEffect,
  type UnitPrice,
  unitPrice,
} from '../../src/maths/effect.ts';
import { finalDays } from './rows.ts';

const TODAY = '2026-11-20';
const FIXED: Scaling = {
  ...{ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16, numReplicas: 3, idleScaling: false },
};
/** 16 GB · 3 replicas · 24 hours at a hundredth of a credit. */
const FIXED_DAY = 11.52;
const PRICE: UnitPrice = 0.01;

function compute(values: readonly number[]) {
  return finalDays(values, addDays(TODAY, -values.length));
}

function known(effect: CostChange) {
  if (!effect.known) throw new Error(effect.why);
  return effect;
}

function sized(value: number, day: Partial<SizedDay> = {}): SizedDay {
  return { value, final: true, scaling: FIXED, ...day };
}

test('the price of a GB-hour is the median of the days of a fixed size', () => {
  const days = [FIXED_DAY, FIXED_DAY * 2, FIXED_DAY * 0.9].map((value) => sized(value));
  expect(unitPrice(days)).toBeCloseTo(0.01);
});

test.for<[string, Partial<SizedDay>]>([
  ['may still change', { final: false }],
  ['cost what is no cost', { value: Number.NaN }],
  ['cost nothing', { value: 0 }],
])('no price is taken from a day that %s', ([, day]) => {
  const days = [sized(FIXED_DAY), sized(FIXED_DAY), sized(FIXED_DAY, day)];
  expect(unitPrice(days)).toBeNull();
});

test('a stop saves the daily cost', () => {
  const saved = expect.closeTo(-18);
  expect(stopEffect(compute(Array(30).fill(18)), TODAY)).toEqual({
    ...{ known: true, basis: 'past-days', days: 14 },
    perDay: { about: saved, low: saved, high: saved },
  });
});

test('the range of a day is that of past days', () => {
  const values = Array.from({ length: 56 }, (_, index) => 10 + 5 * ((index * 5) % 3));
  const { low, about, high } = known(stopEffect(compute(values), TODAY)).perDay;
  expect([low, high]).toEqual([-20, -10]);
  expect(about).toBeCloseTo(-15, 0);
});

test('six days are too few for an estimate', () => {
  const effect = { known: false, why: 'too-few-days' };
  expect(stopEffect(compute(Array(6).fill(18)), TODAY)).toEqual(effect);
  const sizes = { before: FIXED, after: FIXED };
  expect(scaleEffect(compute(Array(6).fill(18)), sizes, PRICE, TODAY)).toEqual(effect);
});

test('a start restores the cost of the days on which the service ran', () => {
  const values = [...Array(20).fill(12), ...Array(20).fill(0)];
  const effect = known(startEffect(compute(values), TODAY));
  expect(effect).toMatchObject({ basis: 'past-days', perDay: { about: expect.closeTo(12) } });
});

test('a service that has not run is not estimated', () => {
  const unknown = { known: false, why: 'too-few-days' };
  expect(startEffect(compute(Array(20).fill(0)), TODAY)).toEqual(unknown);
});

function scaled(
  before: Scaling | null,
  after: Scaling | null,
  price: UnitPrice = PRICE,
  level = FIXED_DAY,
): CostChange {
  return scaleEffect(compute(Array(20).fill(level)), { before, after }, price, TODAY);
}

test('from fixed size to fixed size the ratio decides, without a price', () => {
  const effect = known(scaled(FIXED, { ...FIXED, numReplicas: 6 }, null));
  const perDay = { about: expect.closeTo(FIXED_DAY) };
  expect(effect).toMatchObject({ basis: 'fixed-size', perDay });
});

test('from a range to a fixed size the new size decides, at its price', () => {
  const ranged = { ...FIXED, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 64 };
  const effect = known(scaled(ranged, FIXED, PRICE, 20));
  const perDay = { about: expect.closeTo(FIXED_DAY - 20) };
  expect(effect).toMatchObject({ basis: 'unit-price', perDay });
});

const RANGED: Scaling = { ...FIXED, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 };

test.for<[string, Partial<Scaling>, readonly [about: number, low: number, high: number]]>([
  ['room to both sides', {}, [0, -5.76, 11.52]],
  ['a higher floor', { minReplicaMemoryGb: 24 }, [5.76, 5.76, 11.52]],
  ['a lower ceiling', { maxReplicaMemoryGb: 12 }, [-2.88, -5.76, -2.88]],
  ['one it may idle under', { minReplicaMemoryGb: 24, idleScaling: true }, [0, -11.52, 11.52]],
])('with the price of a GB-hour a service is scaled to %s', ([, after, [about, low, high]]) => {
  const effect = known(scaled(FIXED, { ...RANGED, ...after }));
  const close = (value: number) => expect.closeTo(value);
  const perDay = { about: close(about), low: close(low), high: close(high) };
  expect(effect).toMatchObject({ basis: 'unit-price', perDay });
});

test.for<[string, CostChange, string]>([
  ['the size before', scaled(null, FIXED), 'size-not-known'],
  ['the size after', scaled(FIXED, null), 'size-not-known'],
  ['any memory', scaled({ ...FIXED, numReplicas: 0 }, FIXED), 'size-not-known'],
  ['the price', scaled(FIXED, RANGED, null), 'price-not-known'],
])('scaling is not estimated without %s', ([, effect, why]) => {
  expect(effect).toEqual({ known: false, why });
});
