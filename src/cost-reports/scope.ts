import type { RowSelector } from '../costs/ledger/ledger.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import type { Service } from '../directory/directory.ts';
import type { Selector as Selection } from '../policy/policy-types.ts';

export interface CostScope {
  readonly selector: RowSelector;
  /** As text for the title; null for all costs. */
  readonly label: string | null;
}

/**
 * Translates a selection of the configuration to the ids of the report. A tag selects services, so
 * the storage of warehouses is not included. A selection that matches nothing selects no rows.
 */
export function costScope(
  selection: Selection | null,
  services: readonly Service[],
  rows: readonly CostRow[],
): CostScope {
  if (selection === null) return { selector: {}, label: null };
  const { services: named, tags, warehouses } = selection;
  const byTag = tags && services.filter((one) => tags.some((tag) => one.tags?.includes(tag)));
  const ids = [named, byTag].flatMap((list) => (list ? [list.map(({ id }) => id)] : []));
  const [first, ...others] = ids;
  const both = first?.filter((id) => others.every((list) => list.includes(id)));
  return {
    selector: {
      ...(both ? { services: both } : {}),
      ...(warehouses ? { warehouses: warehouseIds(warehouses, services, rows) } : {}),
    },
    label: labelOf(selection),
  };
}

/** The ids of warehouses, from their own rows or from the rows of services in them. */
function warehouseIds(
  names: readonly string[],
  services: readonly Service[],
  rows: readonly CostRow[],
): readonly string[] {
  const within = new Set(
    services.flatMap(({ id, warehouse }) => (names.includes(warehouse ?? '') ? [id] : [])),
  );
  const ids = rows.flatMap(({ kind, entityName, serviceId, warehouseId }) => {
    const isNamed = kind === 'warehouse' && names.includes(entityName);
    const isWithin = serviceId !== null && within.has(serviceId);
    return warehouseId !== null && (isNamed || isWithin) ? [warehouseId] : [];
  });
  return [...new Set(ids)];
}

/** `analytics-prod, staging` · `tag prod` · `warehouse main` */
export function labelOf({ services, tags, warehouses }: Selection): string {
  const words = [
    ...(services ? [services.map(({ name }) => name).join(', ')] : []),
    ...(tags ? [`${tags.length > 1 ? 'tags' : 'tag'} ${tags.join(', ')}`] : []),
    ...(warehouses
      ? [`${warehouses.length > 1 ? 'warehouses' : 'warehouse'} ${warehouses.join(', ')}`]
      : []),
  ];
  return words.join(' · ');
}
