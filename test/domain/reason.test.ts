import { expect, test } from 'vitest';
import type { Target } from '../../src/domain/change.ts';
import { reasonFor } from '../../src/domain/policy.ts';
import { policyOf, prod, staging } from './policy-fixtures.ts';

const OPEN = { allow: ['service *'], to: 'operator' };
const WORDY = { ...OPEN, reason: { required: true, minimum: 20 } };
const STRICT = {
  allow: ['service stop'],
  on: { tags: ['prod'] },
  to: 'operator',
  reason: { required: true, minimum: 5 },
};
const LAX = { ...STRICT, reason: 'optional' };
const READING = { allow: ['service list'], to: 'viewer' };
const unverified: Target = { ...prod, tags: null };

test.for<[string, Target | null, readonly object[], number]>([
  ['production', prod, [STRICT, OPEN], 5],
  ['staging', staging, [STRICT, OPEN], 0],
  ['staging under a rule that requires more text', staging, [STRICT, WORDY], 20],
  ['a service without a rule', staging, [STRICT], 0],
  ['a service of which the rule is uncertain', unverified, [STRICT, OPEN], 0],
  ['a service of which the first rule is uncertain', unverified, [LAX, WORDY], 0],
  ['a target that is not chosen yet', null, [STRICT, OPEN], 0],
  ['such a target, if every rule requires a reason', null, [STRICT, WORDY], 5],
  ['a target without a rule', null, [READING], 0],
])('the characters of a reason that are required to stop %s', ([, target, rules, least]) => {
  expect(reasonFor(policyOf(rules), { name: 'service stop' }, target)).toBe(least);
});

test.for<[string, Target | null, readonly object[], number]>([
  ['a target whose rule requires none', staging, [OPEN], 1],
  ['a target whose rule requires more', prod, [STRICT, OPEN], 5],
  ['a target without a rule', staging, [STRICT], 1],
  ['a target that is not chosen yet', null, [STRICT, OPEN], 1],
  ['such a target without a rule', null, [READING], 1],
])('those of a command that needs a reason everywhere, on %s', ([, target, rules, least]) => {
  const command = { name: 'service stop', needsReason: true };
  expect(reasonFor(policyOf(rules), command, target)).toBe(least);
});
