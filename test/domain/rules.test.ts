import { expect, test } from 'vitest';
import { parseConfig, strictConfigObject } from '../../src/base/problem.ts';
import { requirementFor } from '../../src/domain/policy.ts';
import { policyShape } from '../../src/domain/policy-schema.ts';
import { policyOf, problemsOf, roles, words } from './policy-fixtures.ts';

const LAX = { allow: ['service stop'], to: 'operator' };

test('a file without freezes and `never` has none of them', () => {
  const reading = parseConfig(strictConfigObject(policyShape(words)), { roles, policy: [LAX] });
  expect(reading).toMatchObject({ ok: true, value: { freezes: [], never: [] } });
});

test('an explicit default equals a missing key', () => {
  const plain = policyOf([{ ...LAX, approvals: { from: 'approver' } }]);
  const approvals = { from: 'approver', count: 1, self: 'refused' };
  expect(policyOf([{ ...LAX, approvals, reason: 'optional', expires: '24h' }])).toEqual(plain);
});

test('a word that is not a command is reported once', () => {
  expect(problemsOf({ policy: [{ ...LAX, allow: ['service st*'] }] })).toEqual([
    'policy[0].allow[0]: must be a command (for example: service stop · service * · *)',
  ]);
});

test('a freeze stores its contact', () => {
  const freeze = { from: '2026-12-24T00:00Z', until: '2027-01-02T00:00Z', reason: 'year end' };
  const { freezes } = policyOf([LAX], [{ ...freeze, by: 'Gus' }, freeze]);
  expect(freezes.map(({ by }) => by)).toEqual(['Gus', null]);
});

test('`never` accepts several commands, but not an empty list', () => {
  const never = (commands: readonly string[]) => [{ commands, reason: 'it hurts' }];
  const several = ['service stop', 'service create'];
  expect(policyOf([LAX], [], never(several)).never).toMatchObject([{ commands: several }]);
  expect(problemsOf({ policy: [LAX], never: never([]) })).toEqual([
    'never[0].commands: must not be empty',
  ]);
});

test('the problem of a rule that never decides names the rules that cover it', () => {
  const rules = [
    { allow: ['cost'], to: 'viewer' },
    { allow: ['service stop'], to: 'operator' },
    { allow: ['service start'], to: 'operator' },
    { allow: ['service start', 'service stop'], to: 'approver' },
  ];
  expect(problemsOf({ policy: rules })).toEqual([
    'policy[3]: never decides: rule 2 and 3 covers all of its commands (the first rule that matches decides; put the stricter one first)',
  ]);
});

test.for<[string, object, boolean]>([
  ['lets the requester approve', { approvals: { from: 'approver', self: 'allowed' } }, true],
  ['does not', { approvals: { from: 'approver' } }, false],
  ['needs no approval', {}, false],
])('self-approval when the rule %s', ([, rule, self]) => {
  const about = { command: 'service stop', target: null };
  expect(requirementFor(policyOf([{ ...LAX, ...rule }]), about)).toMatchObject({ self });
});
