import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonical, type Json } from '../../src/base/text.ts';
import type { Change, Plan, Requirement, Snapshot } from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import { ben, changeIn, minutes, NOON, PLAN } from './changes-fixtures.ts';

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

const CHANGE = changeIn('pending', { plan: { ...PLAN, timing: { startAt: null, revert: null } } });
const { plan, requires } = CHANGE;
const digest = planDigest(CHANGE);

const target = (over: Partial<Plan['target']>) => ({
  plan: { ...plan, target: { ...plan.target, ...over } },
});
const planned = (over: Partial<Plan>) => ({ plan: { ...plan, ...over } });
const required = (over: Partial<Requirement>) => ({ requires: { ...requires, ...over } });
const seen = (over: Partial<Snapshot>) =>
  planned({ before: { fields: { state: 'running' }, seenAt: NOON, source: 'a read', ...over } });
const [row = { field: '', label: '', before: null, after: null }] = plan.rows;

test.for<[string, Partial<Change>]>([
  ['another command', { command: 'service start' }],
  ['another requester', { requester: ben.id }],
  ['another reason', { reason: 'because' }],
  ['no reason', { reason: null }],
  ['another service of the same name', target({ id: 'other' })],
  ['an alert of the same id', target({ kind: 'alert' })],
  ['another name of the same service', target({ name: 'staging' })],
  ['other tags', target({ tags: [] })],
  ['unknown tags', target({ tags: null })],
  ['another warehouse', target({ warehouse: null })],
  ['other arguments', planned({ args: {} })],
  ['another call', planned({ sends: 'PATCH scale' })],
  ['another body', planned({ body: { command: 'start' } })],
  ['one more field in the body', planned({ body: { command: 'stop', force: null } })],
  ['a number in place of its digits', planned({ body: { command: 1 } })],
  ['an unknown state before', planned({ before: null })],
  ['another state before', seen({ fields: { state: 'idle' } })],
  ['another volatile state', seen({ volatileFields: { state: 'OK' } })],
  ['another time of the read', seen({ seenAt: minutes(1) })],
  ['another source of the state', seen({ source: 'a reply' })],
  ['no row', planned({ rows: [] })],
  ['another label of a row', planned({ rows: [{ ...row, label: 'Size' }] })],
  ['another value before in a row', planned({ rows: [{ ...row, before: 1 }] })],
  ['another value after in a row', planned({ rows: [{ ...row, after: 1 }] })],
  ['other unchanged fields', planned({ unchangedFields: ['x'] })],
  ['no warning', planned({ warnings: [] })],
  ['another estimate', planned({ cost: { text: 'free', perDay: 0, share: 0 } })],
  ['another start', planned({ timing: { startAt: '2026-11-20T20:00:00.000Z', revert: null } })],
  ['another rule', required({ rule: 9 })],
  ['other requesters', required({ to: 'viewer' })],
  ['other approvers', required({ from: 'viewer' })],
  ['no approvers', required({ from: null })],
  ['fewer approvals', required({ count: 1 })],
  ['approval by the requester', required({ self: true })],
  ['no required reason', required({ reason: false })],
  ['a later expiry', required({ expiresAfterMs: 1 })],
  ['another channel', required({ channel: '#other' })],
  ['an escalation', required({ escalation: { to: 'viewer', afterMs: 0 } })],
  ['break-glass', required({ breakGlass: 'viewer' })],
])('the plan digest changes with %s', ([, over]) => {
  const changes = [CHANGE, { ...CHANGE, ...seen({}) }];
  const digests = [...changes, { ...CHANGE, ...over }].map(planDigest);
  expect(new Set(digests).size).toBe(3);
});

test('the plan digest does not depend on what happens to a change later', () => {
  const later = { state: 'approved', version: 9, approvals: [{ by: ben.id, at: NOON }] } as const;
  expect(planDigest({ ...CHANGE, ...later })).toBe(digest);
});

test('bodies whose texts only end at different places have different digests', () => {
  const one = planDigest({ ...CHANGE, ...planned({ body: { a: 'x","b":"y' } }) });
  expect(one).not.toBe(planDigest({ ...CHANGE, ...planned({ body: { a: 'x', b: 'y' } }) }));
});

test('a digest names its format and is a hexadecimal SHA-256 hash', () => {
  expect(planDigest(changeIn('pending'))).toMatch(/^3:[0-9a-f]{64}$/);
});
