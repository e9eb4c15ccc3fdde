import { expect, test } from 'vitest';
import type { Target } from '../../src/domain/change.ts';
import { decide, upcomingFreezes, withFreezes } from '../../src/domain/policy.ts';
import { ana, NOON, PROD_ID, policyOf, prod, staging } from './policy-fixtures.ts';

const HOUR = 3_600_000;

function inHours(count: number): Date {
  return new Date(NOON.getTime() + count * HOUR);
}

function freeze(from: number, until: number, on: object | null = null) {
  const [begins, ends] = [inHours(from).toISOString(), inHours(until).toISOString()];
  const entry = { from: begins, until: ends, reason: `${from}–${until}`, ...(on && { on }) };
  return policyOf([{ allow: ['service *'], to: 'operator' }], [entry]).freezes;
}

const frozenTag: Target = {
  ...{ kind: 'freeze', id: 'tag:prod', name: 'everything tagged prod' },
  ...{ tags: ['prod'], warehouse: null },
};
const frozenService: Target = { ...frozenTag, id: `service:${PROD_ID}`, warehouse: 'main' };
const everything: Target = { ...frozenTag, id: 'everything', tags: null };

function ask(policy: ReturnType<typeof policyOf>, command: string, target: Target) {
  const asked = { kind: 'change', command, target, actor: ana, reason: 'x', now: NOON } as const;
  const decision = decide(policy, asked);
  return decision.allow ? `rule ${decision.rule.requires.rule}` : decision.refusal;
}

test('active freezes and those of the next week are shown, later and ended ones are not', () => {
  const all = [freeze(24, 48), freeze(-1, 1), freeze(7 * 24 + 1, 9 * 24), freeze(-4, -1)].flat();
  expect(upcomingFreezes(all, prod, NOON).map(({ reason }) => reason)).toEqual(['-1–1', '24–48']);
});

test('a freeze that begins in exactly a week is shown, one that ends now is not', () => {
  const all = [freeze(7 * 24, 8 * 24), freeze(-1, 0)].flat();
  expect(upcomingFreezes(all, prod, NOON).map(({ reason }) => reason)).toEqual(['168–192']);
});

test('a freeze of other targets is not shown', () => {
  const all = [freeze(1, 2, { tags: ['prod'] }), freeze(1, 3, { services: ['staging'] })].flat();
  expect(upcomingFreezes(all, staging, NOON).map(({ reason }) => reason)).toEqual(['1–3']);
});

test('a freeze from Slack applies like one of the file', () => {
  const policy = policyOf([{ allow: ['service *'], to: 'operator' }]);
  expect(ask(policy, 'service stop', prod)).toBe('rule 1');
  expect(ask(withFreezes(policy, freeze(-1, 1)), 'service stop', prod)).toBe('frozen');
});

test('no freeze blocks creating and lifting freezes', () => {
  const policy = withFreezes(policyOf([{ allow: ['*'], to: 'operator' }]), freeze(-1, 1));
  for (const target of [frozenTag, frozenService, everything]) {
    expect(ask(policy, 'change unfreeze', target)).toBe('rule 1');
  }
});

test.for<[string, object, Target, string]>([
  ['a tag, of that tag', { tags: ['prod'] }, frozenTag, 'rule 1'],
  ['a tag, of another', { tags: ['eu'] }, frozenTag, 'rule 2'],
  ['a tag, of everything', { tags: ['prod'] }, everything, 'no-rule'],
  ['a service, of that service', { services: ['analytics-prod'] }, frozenService, 'rule 1'],
  ['a service, of another service', { services: ['staging'] }, frozenService, 'rule 2'],
  ['a service, of a tag', { services: ['staging'] }, frozenTag, 'no-rule'],
  ['a warehouse, of a service in it', { warehouses: ['main'] }, frozenService, 'rule 1'],
  ['a warehouse, of a tag', { warehouses: ['main'] }, frozenTag, 'no-rule'],
])(
  'a freeze under a rule about %s is decided only if the rule is certain to match',
  ([, on, target, is]) => {
    const policy = policyOf([
      { allow: ['*'], on, to: 'operator', approvals: { from: 'approver', count: 2 } },
      { allow: ['*'], to: 'operator' },
    ]);
    expect(ask(policy, 'change freeze', target)).toBe(is);
  },
);

test('a `never` entry comes before freezes and rules, with its reason', () => {
  const never = {
    commands: ['service stop'],
    on: { tags: ['prod'] },
    reason: 'The shop runs on it',
  };
  const policy = policyOf([{ allow: ['*'], to: 'operator' }], [], [never]);
  const question = { kind: 'change', command: 'service stop', actor: ana, reason: null } as const;
  const frozen = withFreezes(policy, freeze(-1, 1));
  const decision = decide(frozen, { ...question, target: prod, now: NOON });
  const why = { refusal: 'never', never: { reason: 'The shop runs on it' }, freeze: null };
  expect(decision).toMatchObject(why);
});
