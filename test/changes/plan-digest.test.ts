import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, Plan } from '../../src/changes/change.ts';
import { canonical, planDigest } from '../../src/changes/plan-digest.ts';
import { minutes, PLAN } from './fixtures.ts';

test('keys in another order give the same text, items in another order do not', () => {
  expect(canonical({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  );
  expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
});

function reversed(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}

// What fast-check calls JSON is what we call so.
const values = fc.jsonValue() as fc.Arbitrary<Json>;

test('the order in which keys were written never matters', () => {
  fc.assert(fc.property(values, (value) => canonical(reversed(value)) === canonical(value)));
});

test('no two values have the same text, for each can be read back from its own', () => {
  fc.assert(
    fc.property(values, (value) => {
      // As JSON has it: there zero has no sign.
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

const digest = planDigest('service stop', PLAN);

test.for<[string, string, Partial<Plan>]>([
  ['another command', 'service start', {}],
  ['another body', 'service stop', { body: { command: 'start' } }],
  ['one more field in the body', 'service stop', { body: { command: 'stop', force: null } }],
  ['a number in place of its digits', 'service stop', { body: { command: 1 } }],
  ['another service of the same name', 'service stop', target({ id: 'other' })],
  ['an alert of the same id', 'service stop', target({ kind: 'alert' })],
  ['another condition before', 'service stop', { before: seen({ state: 'idle' }) }],
  ['nothing known of before', 'service stop', { before: null }],
])('an approval does not hold for %s', ([, command, over]) => {
  expect(planDigest(command, { ...PLAN, ...over })).not.toBe(digest);
});

test.for<[string, Partial<Plan>]>([
  ['the service has a new name', target({ name: 'analytics', tags: [], warehouse: null })],
  ['a warning is worded anew', { warnings: ['Queries stop.'] }],
  ['the same was seen again', { before: seen({ state: 'running' }) }],
])('an approval still holds when %s', ([, over]) => {
  expect(planDigest('service stop', { ...PLAN, ...over })).toBe(digest);
});

test('bodies that differ only in where a text ends have different digests', () => {
  const one = planDigest('service stop', { ...PLAN, body: { a: 'x","b":"y' } });
  expect(one).not.toBe(planDigest('service stop', { ...PLAN, body: { a: 'x', b: 'y' } }));
});

function target(over: Partial<Plan['target']>): Partial<Plan> {
  return { target: { ...PLAN.target, ...over } };
}

function seen(fields: Readonly<Record<string, Json>>): Plan['before'] {
  return { fields, seenAt: minutes(-1), source: 'reply to a start' };
}
