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

const LEAST_5 = { required: true, minimum: 5 };
const OPTIONAL = { required: false, minimum: 1 };
const NO_REASON = { required: false, minimum: 0 };

test.for<[string, Target | null, readonly object[], object]>([
  ['production', prod, [STRICT, OPEN], LEAST_5],
  ['staging', staging, [STRICT, OPEN], OPTIONAL],
  ['staging under a rule that requires more text', staging, [STRICT, WORDY], WORDY.reason],
  ['a service without a rule', staging, [STRICT], NO_REASON],
  ['a service of which the rule is uncertain', unverified, [STRICT, OPEN], NO_REASON],
  ['a service of which the first rule is uncertain', unverified, [LAX, WORDY], NO_REASON],
  ['a target that is not chosen yet', null, [STRICT, OPEN], NO_REASON],
  ['such a target, if every rule requires a reason', null, [STRICT, WORDY], LEAST_5],
  ['a target without a rule', null, [READING], NO_REASON],
])('the reason that is required to stop %s', ([, target, rules, reason]) => {
  expect(reasonFor(policyOf(rules), 'service stop', target)).toEqual(reason);
});
