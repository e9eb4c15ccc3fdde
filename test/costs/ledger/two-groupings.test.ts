import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GROUPINGS, type Grouping, METRIC_NAMES } from '../../../src/costs/ledger/grouping.ts';
import { type CostRow, METRICS, microOf } from '../../../src/costs/ledger/row.ts';
import { sumBy } from '../../../src/costs/ledger/summary.ts';
import { sumByTwo, type TwoGroupings } from '../../../src/costs/ledger/two-groupings.ts';
import { pipeRow, randomRows, row, spans, warehouseRow } from '../rows.ts';

const NOVEMBER = { first: '2026-11-01', last: '2026-11-30' };

/** The amount of each pair again, by another way: one whole pass per row, with exact integers. */
function recomputed(rows: readonly CostRow[], [by, thenBy]: TwoGroupings): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const one of rows) {
    for (const [metric, amount] of amountsOf(one)) {
      const pair = [by, thenBy].map((grouping) => nameIn(one, grouping, metric)).join(' / ');
      sums.set(pair, (sums.get(pair) ?? 0n) + amount);
    }
  }
  return sums;
}

/** The metrics of a row, and what they leave of its total. */
function amountsOf({ metrics, total }: CostRow): [string, bigint][] {
  const named = METRICS.flatMap((metric): [string, bigint][] => {
    const amount = metrics[metric];
    return amount === undefined ? [] : [[METRIC_NAMES[metric], BigInt(amount)]];
  });
  const rest = BigInt(total) - named.reduce((sum, [, amount]) => sum + amount, 0n);
  const size = rest < 0n ? -rest : rest;
  const name = size <= 5_000n ? 'rounding' : 'not broken down';
  return rest === 0n && named.length > 0 ? named : [...named, [name, rest]];
}

function nameIn(one: CostRow, grouping: Grouping, metric: string): string {
  const date = new Date(`${one.day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  const label = (text: string | undefined) =>
    one.kind === 'warehouse' ? 'warehouses: storage + backup' : (text ?? 'not in signalbox.yaml');
  const entity = one.kind === 'service' ? one.entityId : `${one.kind} ${one.entityId}`;
  const names: Record<Grouping, string> = {
    service: one.serviceId ?? entity,
    entity,
    warehouse: one.warehouseId ?? 'no-warehouse',
    tag: label(one.labels?.tag),
    team: label(one.labels?.team),
    day: one.day,
    week: date.toISOString().slice(0, 10),
    month: one.day.slice(0, 7),
    metric,
  };
  return names[grouping];
}

/** The key of a line as `nameIn` has it. */
function keyOf(grouping: Grouping, { key, name }: { key: string; name: string }): string {
  return grouping === 'metric' ? name : key;
}

const pairsOfGroupings = fc
  .tuple(fc.constantFrom(...GROUPINGS), fc.constantFrom(...GROUPINGS))
  .filter(([by, thenBy]) => by !== thenBy);

test('the parts and subtotals of any two groupings are an independent sum, to the millionth', () => {
  fc.assert(
    fc.property(randomRows, spans, pairsOfGroupings, (rows, span, groupings) => {
      const own = rows.filter(({ day }) => day >= span.first && day <= span.last);
      const expected = recomputed(own, groupings);
      const groups = sumByTwo(rows, groupings, span);
      const found = groups.flatMap(({ line, parts }) =>
        parts.map((part): [string, bigint] => [
          `${keyOf(groupings[0], line)} / ${keyOf(groupings[1], part)}`,
          BigInt(part.total),
        ]),
      );
      const costs = [...expected].filter(([, amount]) => amount !== 0n);
      expect(new Map(found.filter(([, amount]) => amount !== 0n))).toEqual(new Map(costs));

      for (const { line, parts } of groups) {
        expect(parts.reduce((sum, { total }) => sum + total, 0)).toBe(line.total);
      }
      const total = own.reduce((sum, one) => sum + one.total, 0);
      expect(groups.reduce((sum, { line }) => sum + line.total, 0)).toBe(total);
    }),
    { numRuns: 200 },
  );
});

test('a subtotal is the line of the first grouping alone', () => {
  fc.assert(
    fc.property(randomRows, spans, pairsOfGroupings, (rows, span, groupings) => {
      const groups = sumByTwo(rows, groupings, span);
      expect(groups.map(({ line }) => line)).toEqual(sumBy(rows, groupings[0], span));
    }),
  );
});

test('the metrics of each service, with the rounding of its rows', () => {
  const rows = [
    row({ credits: 6, metrics: { computeCredits: microOf(5), storageCredits: microOf(1) } }),
    pipeRow({ credits: 2.003, metrics: { computeCredits: microOf(2) } }),
    warehouseRow({ credits: 1, metrics: { storageCredits: microOf(1) } }),
  ];
  const groups = sumByTwo(rows, ['service', 'metric'], NOVEMBER);
  const shown = groups.map(({ line, parts }) => [
    line.name,
    line.total,
    parts.map(({ name, total }) => `${name} ${total}`),
  ]);
  expect(shown).toEqual([
    ['analytics-prod', 8_003_000, ['compute 7000000', 'storage 1000000', 'rounding 3000']],
    ['warehouse main: storage + backup', 1_000_000, ['storage 1000000']],
  ]);
});

test('the shares of the parts are of the whole, and add up to the share of their subtotal', () => {
  const rows = [
    row({ credits: 60, metrics: { computeCredits: microOf(45), backupCredits: microOf(15) } }),
    row({ credits: 40, entityId: 's-2' }),
  ];
  const [group] = sumByTwo(rows, ['service', 'metric'], NOVEMBER);
  expect(group?.line.share).toBe(0.6);
  expect(group?.parts.map(({ share }) => share)).toEqual([0.45, 0.15]);
});
