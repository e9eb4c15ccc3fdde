import { expect, test } from 'vitest';
import type { Target } from '../../src/domain/change.ts';
import { type Decision, decide, requirementFor, selects } from '../../src/domain/policy.ts';
import { ana, dora, NOON, policyOf, problemsOf, prod, staging } from './policy-fixtures.ts';

const dev: Target = {
  ...{ ...staging, id: '00000000-0000-4000-8000-000000000001', name: 'staging-eu' },
  ...{ tags: ['eu'], warehouse: 'main', discovered: true },
};
const unverified: Target = { ...dev, tags: null, warehouse: null };
const untagged: Target = { ...dev, tags: [], warehouse: null };
const freeze = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'sale' };

const STRICT = { allow: ['service stop'], on: { tags: ['prod'] }, to: 'operator' };
const OF_EU = { on: { tags: ['eu'] } };
const OPEN = { allow: ['service stop'], ...OF_EU, to: 'operator', discovered: 'allowed' };
const REST = { allow: ['service *'], to: 'operator' };

type Parts = readonly [
  rules: readonly object[],
  freezes?: readonly object[],
  never?: readonly object[],
];

function stop(target: Target, parts: Parts, actor = ana): Decision {
  const question = { command: 'service stop', kind: 'change', target, actor } as const;
  return decide(policyOf(...parts), { ...question, reason: null, now: NOON });
}

function answer(decision: Decision): readonly [string, number | null] {
  return [decision.allow ? 'allowed' : decision.refusal, decision.rule?.requires.rule ?? null];
}

const OF_MAIN = { on: { warehouses: ['main'] } };
const IN_MAIN = { ...OPEN, ...OF_MAIN };
const CLOSED = { ...OPEN, discovered: 'refused' };
const NEVER_IN_EU = { commands: ['service stop'], ...OF_EU, reason: 'no' };
const twoTags = { ...dev, tags: ['eu', 'prod'] };
const somewhere = { ...dev, warehouse: null };

test.for<[string, Target, Parts, readonly [string, number | null]]>([
  ['is covered by its tags and allowed', dev, [[STRICT, OPEN]], ['allowed', 2]],
  ['is covered by its warehouse and allowed', dev, [[IN_MAIN]], ['allowed', 1]],
  ['is covered by a rule that does not allow it', dev, [[CLOSED, REST]], ['not-listed', 1]],
  ['is covered only by a rule without a selector', dev, [[STRICT, REST]], ['not-listed', 2]],
  ['has a tag of a stricter rule first', twoTags, [[STRICT, OPEN]], ['not-listed', 1]],
  ['has no tag of any rule', untagged, [[STRICT, OPEN]], ['no-rule', null]],
  ['has unknown tags', unverified, [[STRICT, OPEN]], ['not-verified', 1]],
  ['has unknown tags and a rule by warehouse', unverified, [[IN_MAIN]], ['not-verified', 1]],
  ['has tags and an unknown warehouse', untagged, [[IN_MAIN, REST]], ['not-verified', 1]],
  ['is frozen by a tag of the server', dev, [[OPEN], [{ ...freeze, ...OF_EU }]], ['frozen', 1]],
  ['may be in a frozen warehouse', somewhere, [[OPEN], [{ ...freeze, ...OF_MAIN }]], ['frozen', 1]],
  ['has a forbidden tag of the server', dev, [[OPEN], [], [NEVER_IN_EU]], ['never', 1]],
])('a change of a discovered service that %s', ([, target, parts, expected]) => {
  expect(answer(stop(target, parts))).toEqual(expected);
});

test('a user whom the rule does not admit reads that, and not whether the service is listed', () => {
  expect(answer(stop(dev, [[REST]], dora))).toEqual(['not-a-requester', 1]);
});

test('a configured service needs no permission for discovered services', () => {
  expect(answer(stop(prod, [[STRICT]]))).toEqual(['allowed', 1]);
  expect(answer(stop({ ...prod, tags: null }, [[STRICT]]))).toEqual(['no-rule', 1]);
});

test('a query names a discovered service under a rule without a permission for it', () => {
  const policy = policyOf([{ allow: ['service show'], to: 'operator' }]);
  const question = { command: 'service show', kind: 'query', actor: ana, reason: null } as const;
  for (const target of [dev, unverified]) {
    expect(decide(policy, { ...question, target, now: NOON }).allow).toBe(true);
  }
});

test('the current rule requires nothing of a service that it does not allow', () => {
  const about = { command: 'service stop', target: dev };
  expect(requirementFor(policyOf([REST]), about)).toBeNull();
  expect(requirementFor(policyOf([OPEN]), about)).toMatchObject({ rule: 1 });
});

test('the unknown warehouse of a discovered service is not “no warehouse”', () => {
  const main = { services: null, tags: null, warehouses: ['main'] };
  expect(selects(main, { ...dev, warehouse: null })).toBeNull();
  expect(selects(main, staging)).toBe(false);
});

test('one rule for discovered services may allow queries and several changes', () => {
  const allow = ['service show', 'service start', 'service stop'];
  expect(problemsOf({ policy: [{ ...OPEN, allow }] })).toEqual([]);
});

const NO_COVER =
  'policy[0]: has discovered: allowed, but its selector covers no discovered service (set on: { tags: […] } or on: { warehouses: […] }, without services)';

test.for<[string, object, string]>([
  ['discovered services are allowed everywhere', { ...REST, discovered: 'allowed' }, NO_COVER],
  ['their rule names services', { ...OPEN, on: { services: ['staging'], tags: ['eu'] } }, NO_COVER],
  [
    'the permission is not one of the two words',
    { ...OPEN, discovered: true },
    'policy[0].discovered: cannot be “true” (one of: refused, allowed)',
  ],
  [
    'a rule names a tag that neither a service nor cloud.tags declares',
    { ...OPEN, on: { tags: ['env=stagin'] } },
    'policy[0].on.tags[0]: names no tag of a service: “env=stagin” (did you mean “env=staging”?)',
  ],
  [
    'a rule names a tag of the server that is not declared',
    { ...OPEN, on: { tags: ['team=orders'] } },
    expect.stringMatching(/“team=orders” .*; declare a tag of the server in cloud\.tags\)$/),
  ],
])('the file is refused when %s', ([, rule, problem]) => {
  expect(problemsOf({ policy: [rule] })).toContainEqual(problem);
});

test('rules, freezes and never may name a tag of the server', () => {
  const on = { tags: ['env=staging'] };
  const never = [{ commands: ['service stop'], on, reason: 'no' }];
  expect(policyOf([{ ...OPEN, on }], [{ ...freeze, on }], never).rules[0]?.on?.tags).toEqual(
    on.tags,
  );
});
