import { expect, test } from 'vitest';
import { watchedLines } from '../../src/costs/judge-lines.ts';
import { daily, warehouseRow } from '../maths/rows.ts';

const SPAN = { first: '2026-11-01', last: '2026-11-03' };
const CREDITS = [10, 11, 12];

/** The rows of a warehouse of this id, for the three days. */
function warehouse(entityId: string) {
  const { day: _, total: __, metrics: ___, ...own } = warehouseRow({ entityId });
  return daily(SPAN.first, CREDITS, { ...own, metrics: {} });
}

function idsOf(warehouseId: string) {
  const rows = [...daily(SPAN.first, CREDITS), ...warehouse(warehouseId)];
  return watchedLines(rows, SPAN, 1).map(({ id, name }) => [id, name]);
}

test('a line has the id of its entity, as in stored incidents', () => {
  expect(idsOf('w-1')).toEqual([
    ['s-1', 'analytics-prod'],
    ['w-1', 'warehouse main'],
    ['s-1 computeCredits', 'analytics-prod · compute'],
    ['w-1 rest', 'warehouse main · not broken down'],
  ]);
});

test('a warehouse with the id of a service has lines of its own', () => {
  expect(idsOf('s-1')).toEqual([
    ['s-1', 'analytics-prod'],
    ['warehouse s-1', 'warehouse main'],
    ['s-1 computeCredits', 'analytics-prod · compute'],
    ['warehouse s-1 rest', 'warehouse main · not broken down'],
  ]);
});
