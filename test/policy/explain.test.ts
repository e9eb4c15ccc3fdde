import { expect, test } from 'vitest';
import type { Target } from '../../src/changes/change.ts';
import { commandsFor, whoMayRequest } from '../../src/policy/explain.ts';
import { ana, ben, dora, emil, policyOf, prod, staging, words } from './fixtures.ts';

const alert: Target = { ...prod, kind: 'alert' };

const policy = policyOf([
  { allow: ['service list', 'service show', 'cost', 'alert list'], to: 'viewer' },
  {
    allow: ['service stop'],
    on: { tags: ['prod'] },
    to: 'approver',
    approvals: { from: 'approver', count: 2 },
    breakGlass: { to: 'approver' },
  },
  { allow: ['service *'], to: 'operator', approvals: { from: 'approver', self: 'allowed' } },
]);

test('the members who may request and approve a stop of production', () => {
  expect(whoMayRequest(policy, 'service stop', prod)).toEqual([
    {
      rule: policy.rules[1],
      requesters: { role: 'approver', groups: ['@db-leads'], users: [] },
      approvers: { role: 'approver', groups: ['@db-leads'], users: [], count: 2, self: false },
      breakGlass: { role: 'approver', groups: ['@db-leads'], users: [] },
    },
  ]);
});

test.for<[string, string, Target | null, readonly number[]]>([
  ['production is named', 'service stop', prod, [2]],
  ['staging is named', 'service stop', staging, [3]],
  ['no target is named', 'service stop', null, [2, 3]],
  ['the command reads', 'service show', staging, [1]],
  ['no rule speaks of it', 'alert edit', null, []],
  ['no rule speaks of it, and an alert is named', 'alert edit', alert, []],
])('the rules that may allow a request when %s', ([, command, target, places]) => {
  expect(whoMayRequest(policy, command, target).map(({ rule }) => rule.place)).toEqual(places);
});

test('a role that the file does not define has no members', () => {
  const [way] = whoMayRequest({ ...policy, roles: new Map() }, 'service stop', prod);
  expect(way?.requesters).toEqual({ role: 'approver', groups: [], users: [] });
});

test('a rule after one without a selector is never listed', () => {
  const covered = policyOf([
    { allow: ['service *'], to: 'operator' },
    { allow: ['service stop', 'alert edit'], to: 'viewer' },
  ]);
  expect(whoMayRequest(covered, 'service stop', null).map(({ rule }) => rule.place)).toEqual([1]);
  expect(commandsFor(covered, ['service stop', 'alert edit'], dora)).toEqual(['alert edit']);
});

test('users see the commands that some rule allows them, and no others', () => {
  const commands = [...words.queries, ...words.changes];
  const reading = ['service list', 'service show', 'cost', 'alert list'];
  expect(commandsFor(policy, commands, dora)).toEqual(reading);
  expect(commandsFor(policy, commands, ben)).toEqual([...reading, 'service stop']);
  expect(commandsFor(policy, commands, ana)).toEqual([
    ...reading,
    'service start',
    'service stop',
    'service scale',
    'service create',
  ]);
  expect(commandsFor(policy, commands, emil)).toEqual([]);
});
