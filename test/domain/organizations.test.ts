import { expect, test } from 'vitest';
import { organizationOf, type Target, targetKey } from '../../src/domain/change.ts';
import { freezeTarget } from '../../src/domain/freezes.ts';
import { decide, freezeFor, neverRuleFor, type Policy } from '../../src/domain/policy.ts';
import { hasSameFacts } from '../../src/domain/targets.ts';
import { service } from '../commands/fixtures.ts';
import { ana, NOON, policyOf, problemsOf, prod } from './policy-fixtures.ts';

const EU = { id: 'o-eu', name: 'prod-eu' };
const US = { id: 'o-us', name: 'prod-us' };
const euProd: Target = { ...prod, organization: EU };
const usProd: Target = { ...prod, organization: US };
const ALERT: Target = { kind: 'alert', id: 'a', name: 'a', tags: [], warehouse: null };

const on = { organizations: [US], services: null, tags: null, warehouses: null };
const [strict, usual] = [
  { allow: ['service stop', 'alert edit'], to: 'operator', approvals: { from: 'approver' } },
  { allow: ['*'], to: 'operator' },
];
const base = policyOf([strict, usual]);
const rules = base.rules.map((rule, at) => (at === 0 ? { ...rule, on } : rule));
const policy: Policy = { ...base, rules };

function ruleFor(target: Target, under = policy, agent?: string) {
  const actor = { ...ana, ...(agent && { agent }) };
  const asked = { command: 'service stop', kind: 'change', target, actor, reason: null } as const;
  const decision = decide(under, { ...asked, now: NOON });
  return decision.allow ? decision.rule.requires.rule : decision.refusal;
}

test('a rule of an organization decides about its services, and about no others and no alert', () => {
  expect(ruleFor(usProd)).toBe(1);
  expect(ruleFor(euProd)).toBe(2);
  expect(ruleFor(ALERT)).toBe(2);
});

test('where the organization is unknown, a rule of one cannot be decided', () => {
  expect(ruleFor(prod)).toBe('no-rule');
});

test('a freeze and a never of an organization hold there', () => {
  const freeze = { from: NOON, until: new Date(NOON.getTime() + 1), on, reason: 'r', by: null };
  const never = { commands: ['service stop'], on, reason: 'r' };
  const named = (target: Target) => [
    freezeFor([freeze], target, NOON) !== null,
    neverRuleFor({ ...policy, never: [never] }, { command: 'service stop', target }) !== null,
  ];
  expect(named(usProd)).toEqual([true, true]);
  expect(named(euProd)).toEqual([false, false]);
});

test('an agent of some organizations neither changes nor reads those of others, nor all at once', () => {
  const agents = new Map([['ci', []]]);
  const open = rules.map((rule) => ({ ...rule, agents: 'allowed', on: null }) as const);
  const narrowed = { ...policy, rules: open, agents, agentOrganizations: new Map([['ci', [US]]]) };
  expect(ruleFor(usProd, narrowed, 'ci')).toBe(1);
  expect(ruleFor(euProd, narrowed, 'ci')).toBe('agent-not-admitted');
  expect(ruleFor(prod, narrowed, 'ci')).toBe('agent-not-admitted');
  const read = (target: Target | null) =>
    decide(narrowed, {
      ...{ command: 'service stop', kind: 'query', target, reason: null, now: NOON },
      actor: { ...ana, agent: 'ci' },
    }).allow;
  expect([usProd, euProd, null].map(read)).toEqual([true, false, false]);
});

test('a rule names an organization of the file', () => {
  expect(problemsOf({ policy: [{ ...usual, on: { organizations: ['prod-us'] } }] })).toEqual([
    'policy[0].on.organizations[0]: names no organization: “prod-us”',
  ]);
});

test('the lock of a service is of its organization; freezes and alerts are of the first one', () => {
  const key = (target: Target) => targetKey({ organization: 'o-eu', plan: { target } });
  expect(key(usProd)).toBe(`o-us/service/${prod.id}`);
  expect(key(euProd)).toBe(key(prod));
  expect(key(ALERT)).toBe('o-eu/alert/a');
  const own = service('staging', { organizationId: 'o-us', organization: 'prod-us' });
  const freeze = freezeTarget({ service: { id: own.id, name: own.name } }, [own]);
  expect(freeze.organization).toEqual(US);
  expect(organizationOf(freeze, 'o-eu')).toBe('o-eu');
  expect(organizationOf({ ...freeze, kind: 'standing approval' }, 'o-eu')).toBe('o-eu');
});

test('a freeze of services of several organizations is of none, so that rules of one cannot be decided', () => {
  const all = [
    service('a', { organizationId: 'o-eu', organization: 'prod-eu' }),
    service('b', { organizationId: 'o-us', organization: 'prod-us' }),
  ];
  expect(freezeTarget({ everything: true }, all).organization).toBeUndefined();
});

test('facts from the time of one organization are the same facts; another organization is none', () => {
  expect(hasSameFacts({ ...prod, tags: ['eu', 'prod'] }, usProd)).toBe(true);
  expect(hasSameFacts(euProd, usProd)).toBe(false);
});
