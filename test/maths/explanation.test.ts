import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { explainChange } from '../../src/maths/compare.ts';
import { microOf } from '../../src/maths/rows.ts';
import { type LineOfPostgres, linesByPostgres } from './postgres-changes.ts';
import { pipeRow, randomRows, row, warehouseRow } from './rows.ts';

const pairsOf = (first: string, days: number, apart: number) =>
  Array.from({ length: days }, (_, index) => ({
    now: addDays(first, index),
    before: addDays(first, index - apart),
  }));

const change = ({ now, before }: LineOfPostgres) => now - before;
const sum = (all: readonly number[]) => all.reduce((whole, each) => whole + each, 0);

/** The rule of docs/costs.md#reasons, on the lines of the database. */
function expectedMovers(lines: readonly LineOfPostgres[]) {
  const sizes = lines.map((line) => Math.abs(change(line))).sort((a, b) => b - a);
  const whole = sum(sizes);
  const count = sizes.findIndex((_, index) => sum(sizes.slice(0, index)) >= 0.8 * whole);
  return sizes.slice(0, Math.min(5, count < 0 ? sizes.length : count));
}

test('movers, others and totals are those of PostgreSQL, for any rows', async () => {
  const cases = fc.record({
    rows: randomRows,
    apart: fc.constantFrom(7, 14, 35),
    days: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, apart, days }) => {
      const pairs = pairsOf('2026-10-20', Math.min(days, apart), apart);
      const lines = await linesByPostgres(rows, pairs);
      const { before: was, now, movers, others } = explainChange(rows, pairs);
      expect(was).toBe(sum(lines.map(({ before }) => before)));
      expect(now).toBe(sum(lines.map(({ now }) => now)));
      const byKey = new Map(lines.map((line) => [`${line.service} ${line.metric}`, change(line)]));
      for (const { key, delta } of movers) expect(delta).toBe(byKey.get(key));
      expect(movers.map(({ delta }) => Math.abs(delta))).toEqual(expectedMovers(lines));
      const rest = [...byKey].filter(([key]) => !movers.some((mover) => mover.key === key));
      expect(others.micro).toBe(sum(rest.map(([, each]) => each)));
      expect(others.lines).toBe(rest.filter(([, each]) => each !== 0).length);
      expect(was + sum(movers.map(({ delta }) => delta)) + others.micro).toBe(now);
    }),
    { numRuns: 60 },
  );
});

const [NOW, BEFORE] = ['2026-11-17', '2026-11-10'];

test('a mover has the name of its service and metric, and pipes count to their service', () => {
  const rows = [
    row({ day: BEFORE, credits: 10 }),
    row({ day: NOW, credits: 30 }),
    pipeRow({ day: NOW, credits: 15, metrics: { dataTransferCredits: microOf(15) } }),
    warehouseRow({ day: NOW, credits: 12, metrics: { storageCredits: microOf(12) } }),
  ];
  const { movers, services } = explainChange(rows, [{ now: NOW, before: BEFORE }]);
  expect(movers.map(({ name, kind, delta }) => [name, kind, delta])).toEqual([
    ['analytics-prod · compute', 'changed', microOf(20)],
    ['analytics-prod · data transfer', 'new', microOf(15)],
    ['warehouse main · storage', 'new', microOf(12)],
  ]);
  expect(services).toEqual([
    { id: 's-1', name: 'analytics-prod' },
    { id: 'warehouse w-1', name: 'warehouse main' },
  ]);
});
