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
  ['the first of two services is', both, staging, true],
  ['the second of two services is', both, prod, true],
  ['a third service is not', both, impostor, false],
  ['an alert with the id of a service is not', both, alert, false],
  [
    'an alert that calls itself a service is not',
    both,
    { ...alert, id: `service:${PROD_ID}` },
    false,
  ],
  ['a service in the warehouse is', main, prod, true],
  ['a service that the file puts into none is not', main, staging, false],
  ['a service of which the file says nothing may be in any', main, unlisted, null],
])('whether a rule is about a target: %s', ([, selector, target, is]) => {
  expect(selects(selector, target)).toBe(is);
});
