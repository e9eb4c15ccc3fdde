import { expect, test } from 'vitest';
import { typedNames } from '../../src/ops/init.ts';

test('each service of the API gets a name that a person can type', () => {
  const given = ['staging', 'bad "name"', 'Staging', ' \u0000', `${'x'.repeat(200)}`, 'ünïcode é'];
  const services = new Map(given.map((name, at) => [`${at}1525c708-e4bc-426d-a9e7`, name]));
  expect(typedNames(services).map(({ name }) => name)).toEqual([
    'staging',
    'bad name',
    'Staging 21525c70',
    '31525c70',
    'x'.repeat(80),
    'ünïcode é',
  ]);
});
