import { expect, test } from 'vitest';
import { lineChanges } from '../../src/costs/comparison.ts';
import { linesOf, tablePart } from '../../src/costs/table.ts';
import { sumBy } from '../../src/maths/lines.ts';
import { microOf } from '../../src/maths/rows.ts';
import { row } from '../maths/rows.ts';

const NOW = { first: '2026-11-09', last: '2026-11-10' };
const BEFORE = { first: '2026-11-02', last: '2026-11-03' };

function costs(day: string, id: string, credits: number, locked = true) {
  return row({ day, entityId: id, entityName: id, serviceId: id, credits, locked });
}

const ROWS = [
  costs('2026-11-02', 'a', 10),
  costs('2026-11-02', 'b', 5),
  costs('2026-11-03', 'a', 10),
  costs('2026-11-09', 'a', 12),
  costs('2026-11-09', 'b', 4),
  costs('2026-11-10', 'a', 3, false),
];

test('only days that are final in both periods count, so no false decrease is shown', () => {
  const changes = lineChanges(ROWS, ROWS, 'service', { now: NOW, before: BEFORE });
  expect([...(changes?.values() ?? [])].map(({ delta }) => delta)).toEqual([
    microOf(2),
    microOf(-1),
  ]);
});

test('the others together have the change of all others', () => {
  const changes = lineChanges(ROWS, ROWS, 'service', { now: NOW, before: BEFORE });
  const part = tablePart(
    'service',
    linesOf({ by: 'service', period: NOW as never, top: 1 }, ROWS, [], changes),
    changes,
  );
  const cells = part.kind === 'table' ? part.rows.map((cells) => cells.at(-1)) : [];
  expect(cells).toMatchObject([
    { value: 2, text: '+2.0' },
    { value: -1, text: '−1.0' },
  ]);
});

test('a line without earlier days is new, and one without compared days has no change', () => {
  const rows = [...ROWS, costs('2026-11-09', 'c', 7), costs('2026-11-10', 'd', 8, false)];
  const changes = lineChanges(rows, rows, 'service', { now: NOW, before: BEFORE });
  const part = tablePart('service', sumBy(rows, 'service', NOW), changes);
  const cells = part.kind === 'table' ? part.rows.map((row) => [row[0], row.at(-1)]) : [];
  expect(cells).toContainEqual(['c', { value: 7, text: '+7.0 (new)' }]);
  expect(cells).toContainEqual(['d', null]);
});

test('days, weeks and months have no change of their own', () => {
  expect(lineChanges(ROWS, ROWS, 'day', { now: NOW, before: BEFORE })).toBe(null);
});

test('without a day that is final in both, the reported days are compared', () => {
  const rows = [costs('2026-11-02', 'a', 10), costs('2026-11-09', 'a', 4, false)];
  const changes = lineChanges(rows, rows, 'service', { now: NOW, before: BEFORE });
  expect(changes?.get('a')?.delta).toBe(microOf(-6));
});
