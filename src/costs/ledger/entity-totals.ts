import type { CostRow } from './row.ts';

/**
 * One row per entity and price, with the sum of its rows and without metrics; its day is the first
 * one of that price. A renamed entity has its latest name.
 */
export function entityTotals(rows: readonly CostRow[]): readonly CostRow[] {
  const groups = Map.groupBy(rows, ({ kind, entityId, price }) =>
    JSON.stringify([kind, entityId, price ?? null]),
  );
  return [...groups.values()].flatMap((own) => {
    const sorted = own.toSorted((a, b) => (a.day < b.day ? -1 : 1));
    const [first, last] = [sorted.at(0), sorted.at(-1)];
    if (!first || !last) return [];
    const { entityId, entityName, kind, serviceId, warehouseId } = last;
    const total = own.reduce((sum, row) => sum + row.total, 0);
    const priced = first.price ? { price: first.price } : {};
    const entity = { entityId, entityName, kind, serviceId, warehouseId };
    return [{ ...entity, day: first.day, metrics: {}, total, locked: false, ...priced }];
  });
}
