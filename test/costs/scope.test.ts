import { expect, test } from 'vitest';
import { costScope, labelOf } from '../../src/costs/scope.ts';
import type { CostSelector } from '../../src/domain/policy.ts';
import { row, warehouseRow } from '../maths/rows.ts';
import { costService } from './facts.ts';

const SERVICES = [
  costService('s-1', { tags: ['prod'], team: 'search' }),
  costService('s-2', { team: 'search' }),
  costService('s-3', { tags: null }),
];
const ROWS = [
  ...['s-1', 's-2', 's-3', 's-4'].map((entityId) => row({ entityId })),
  row({ entityId: 's-3', day: '2026-11-18' }),
  warehouseRow(),
];
const NOTHING: CostSelector = { services: null, tags: null, warehouses: null, teams: null };

test('a scope with tags selects configured services and counts those without known tags', () => {
  const { selector, untagged } = costScope({ ...NOTHING, tags: ['prod'] }, SERVICES, ROWS);
  expect(selector).toEqual({ services: ['s-1'] });
  expect(untagged).toBe(2);
});

test('a scope with teams selects their services and counts those without a known team', () => {
  const { selector, untagged } = costScope({ ...NOTHING, teams: ['search'] }, SERVICES, ROWS);
  expect(selector).toEqual({ services: ['s-1', 's-2'] });
  expect(untagged).toBe(2);
});

test('of a tag and a team, both must match', () => {
  const both = { ...NOTHING, tags: ['prod'], teams: ['search'] };
  expect(costScope(both, SERVICES, ROWS).selector).toEqual({ services: ['s-1'] });
  const other = { ...NOTHING, tags: ['prod'], teams: ['growth'] };
  expect(costScope(other, SERVICES, ROWS).selector).toEqual({ services: [] });
});

test('within a warehouse, only its services without known tags count', () => {
  const rows = [...ROWS, row({ entityId: 's-5', warehouseId: 'w-2' })];
  const main = { ...NOTHING, tags: ['prod'], warehouses: ['main'] };
  expect(costScope(main, SERVICES, rows).untagged).toBe(2);
  expect(costScope({ ...NOTHING, tags: ['prod'] }, SERVICES, rows).untagged).toBe(3);
});

test('a scope without tags and teams leaves out no service', () => {
  const named = { ...NOTHING, services: [{ name: 's-1', id: 's-1' }] };
  expect(costScope(named, SERVICES, ROWS).untagged).toBe(0);
  expect(costScope({ ...named, tags: ['prod'] }, SERVICES, ROWS).untagged).toBe(0);
  expect(costScope(null, SERVICES, ROWS).untagged).toBe(0);
});

test('a scope is named by everything that it selects', () => {
  const all: CostSelector = {
    services: [
      { name: 'staging', id: 's-1' },
      { name: 'ci', id: 's-2' },
    ],
    tags: ['prod', 'dev'],
    warehouses: ['main'],
    teams: ['search'],
  };
  expect(labelOf(all)).toBe('staging, ci · tags prod, dev · warehouse main · team search');
});
