import { expect, test } from 'vitest';
import type { Target } from '../../src/domain/change.ts';
import type { Selector } from '../../src/domain/policy.ts';
import { commandsFor, selects } from '../../src/domain/policy.ts';
import {
  ana,
  ben,
  dora,
  emil,
  impostor,
  PROD_ID,
  policyOf,
  prod,
  staging,
  words,
} from './policy-fixtures.ts';

const ANY: Selector = { services: null, tags: null, warehouses: null };
const both = {
  ...ANY,
  services: [staging, prod].map(({ name, id }) => ({ name, id })),
};
const main = { ...ANY, warehouses: ['main'] };
const unlisted: Target = { ...impostor, tags: null };
const alert: Target = { ...prod, kind: 'alert' };
const keyed: Target = { ...alert, id: `service:${PROD_ID}` };
const schedule: Target = { ...prod, kind: 'schedule' };
const newService: Target = { ...staging, kind: 'new service', id: 'analytics eu' };

test.for<[string, Selector, Target, boolean | null]>([
  ['the first of two services', both, staging, true],
  ['the second of two services', both, prod, true],
  ['a third service', both, impostor, false],
  ['the schedule of one of the services', both, schedule, true],
  ['the schedule of a third service', both, { ...impostor, kind: 'schedule' }, false],
  ['an alert with the id of a service', both, alert, false],
  ['an alert with the key of a service as its id', both, keyed, false],
  ['a new service, which is none of the services', both, newService, false],
  ['a new service with the id of a service', both, { ...newService, id: PROD_ID }, false],
  ['a new service in the warehouse', main, { ...newService, warehouse: 'main' }, true],
  ['a new service in an unknown warehouse', main, { ...newService, tags: null }, null],
  ['a service in the warehouse', main, prod, true],
  ['a configured service without a warehouse', main, staging, false],
  ['an unconfigured service, whose warehouse is unknown', main, unlisted, null],
])('whether a selector matches a target: %s', ([, selector, target, is]) => {
  expect(selects(selector, target)).toBe(is);
});

const layered = policyOf([
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

test('a rule after one without a selector decides nothing', () => {
  const covered = policyOf([
    { allow: ['service *'], to: 'operator' },
    { allow: ['service stop', 'alert edit'], to: 'viewer' },
  ]);
  expect(commandsFor(covered, ['service stop', 'alert edit'], dora)).toEqual(['alert edit']);
});

test('users see the commands that some rule allows them, and no others', () => {
  const commands = [...words.queries, ...words.changes];
  const reading = ['service list', 'service show', 'cost', 'alert list'];
  expect(commandsFor(layered, commands, dora)).toEqual(reading);
  expect(commandsFor(layered, commands, ben)).toEqual([...reading, 'service stop']);
  expect(commandsFor(layered, commands, ana)).toEqual([
    ...reading,
    ...['service start', 'service stop', 'service scale', 'service create', 'service schedule'],
  ]);
  expect(commandsFor(layered, commands, emil)).toEqual([]);
});
