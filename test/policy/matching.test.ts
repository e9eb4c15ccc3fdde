import { expect, test } from 'vitest';
import type { Target } from '../../src/changes/change.ts';
import { selects } from '../../src/policy/matching.ts';
import type { Selector } from '../../src/policy/policy-types.ts';
import { impostor, PROD_ID, prod, staging } from './fixtures.ts';

const ANY: Selector = { services: null, tags: null, warehouses: null };
const both = {
  ...ANY,
  services: [staging, prod].map(({ name, id }) => ({ name, id })),
};
const main = { ...ANY, warehouses: ['main'] };
const unlisted: Target = { ...impostor, tags: null };
const alert: Target = { ...prod, kind: 'alert' };

test.for<[string, Selector, Target, boolean | null]>([
  ['the first of two services', both, staging, true],
  ['the second of two services', both, prod, true],
  ['a third service', both, impostor, false],
  ['an alert with the id of a service', both, alert, false],
  [
    'an alert with the key of a service as its id',
    both,
    { ...alert, id: `service:${PROD_ID}` },
    false,
  ],
  ['a service in the warehouse', main, prod, true],
  ['a configured service without a warehouse', main, staging, false],
  ['an unconfigured service, whose warehouse is unknown', main, unlisted, null],
])('whether a selector matches a target: %s', ([, selector, target, is]) => {
  expect(selects(selector, target)).toBe(is);
});
