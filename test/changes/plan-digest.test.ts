import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, Plan } from '../../src/changes/change.ts';
import { canonical, planDigest } from '../../src/changes/plan-digest.ts';
import { minutes, PLAN } from './fixtures.ts';

test('the order of keys does not change the text, the order of items does', () => {
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

// The JSON values of fast-check have our type.
const values = fc.jsonValue() as fc.Arbitrary<Json>;

test('equal values with keys in any order have the same text', () => {
  fc.assert(fc.property(values, (value) => canonical(reversed(value)) === canonical(value)));
});

test('different values have different texts', () => {
  fc.assert(
    fc.property(values, (value) => {
      // JSON has no negative zero.
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
  ['another state before', 'service stop', { before: seen({ state: 'idle' }) }],
  ['an unknown state before', 'service stop', { before: null }],
])('the plan digest changes with %s', ([, command, over]) => {
  expect(planDigest(command, { ...PLAN, ...over })).not.toBe(digest);
});

test.for<[string, Partial<Plan>]>([
  ['the service has a new name', target({ name: 'analytics', tags: [], warehouse: null })],
  ['a warning has another wording', { warnings: ['Queries stop.'] }],
  ['the same state was read again', { before: seen({ state: 'running' }) }],
])('the plan digest stays equal when %s', ([, over]) => {
  expect(planDigest('service stop', { ...PLAN, ...over })).toBe(digest);
});

test('bodies whose texts only end at different places have different digests', () => {
  const one = planDigest('service stop', { ...PLAN, body: { a: 'x","b":"y' } });
  expect(one).not.toBe(planDigest('service stop', { ...PLAN, body: { a: 'x', b: 'y' } }));
});

function target(over: Partial<Plan['target']>): Partial<Plan> {
  return { target: { ...PLAN.target, ...over } };
}

function seen(fields: Readonly<Record<string, Json>>): Plan['before'] {
  return { fields, seenAt: minutes(-1), source: 'reply to a start' };
}
