/** Which rows a selection of services, tags, warehouses or teams stands for. */
import { countWords } from '../domain/answer.ts';
import type { CostSelector } from '../domain/policy.ts';
import type { Service } from '../domain/targets.ts';
import { type RowSelector, selectRows } from '../maths/days.ts';
import type { CostRow } from '../maths/rows.ts';

export interface CostScope {
  readonly selector: RowSelector;
  /** As text for the title; null for all costs. */
  readonly label: string | null;
  /** The services with costs and unknown tags and team, which the configuration does not list. */
  readonly untagged: number;
}

/**
 * Translates a selection to the ids of the report. A tag or a team selects services, and the storage
 * of the warehouses of which it selects all services. The tags and the team of a service that the configuration does not
 * list are unknown, so that it is not included either, and is counted. A selection that matches
 * nothing selects no rows. Source: docs/costs.md#scopes.
 */
export function costScope(
  selection: CostSelector | null,
  services: readonly Service[],
  rows: readonly CostRow[],
): CostScope {
  if (selection === null) return { selector: {}, label: null, untagged: 0 };
  const { services: named, tags, warehouses, teams } = selection;
  const byTag = tags && services.filter((one) => tags.some((tag) => one.tags?.includes(tag)));
  const byTeam = teams && services.filter(({ team }) => teams.includes(team ?? ''));
  const ids = [named, byTag, byTeam].flatMap((list) => (list ? [list.map(({ id }) => id)] : []));
  const [first, ...others] = ids;
  const both = first?.filter((id) => others.every((list) => list.includes(id)));
  const within = warehouses ? { warehouses: warehouseIds(warehouses, services, rows) } : {};
  return {
    selector: {
      ...(both ? { services: both, ...storageOf(both, selection, rows) } : {}),
      ...within,
    },
    label: labelOf(selection),
    untagged: (tags || teams) && !named ? countUntagged(services, selectRows(rows, within)) : 0,
  };
}

/** The warehouses whose services all have the tag or the team; none for services by name. */
function storageOf(
  ids: readonly string[],
  { services: named }: CostSelector,
  rows: readonly CostRow[],
): Pick<RowSelector, 'storage'> {
  if (named) return {};
  const selected = new Set(ids);
  const ofServices = rows.filter(({ kind }) => kind === 'service');
  const byWarehouse = Map.groupBy(ofServices, ({ warehouseId }) => warehouseId);
  const storage = [...byWarehouse].flatMap(([id, own]) =>
    id !== null && own.every(({ serviceId }) => selected.has(serviceId ?? '')) ? [id] : [],
  );
  return storage.length > 0 ? { storage } : {};
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
    const isNamed =
      names.includes(warehouseId ?? '') || (kind === 'warehouse' && names.includes(entityName));
    const isWithin = serviceId !== null && within.has(serviceId);
    return warehouseId !== null && (isNamed || isWithin) ? [warehouseId] : [];
  });
  return [...new Set(ids)];
}

function countUntagged(services: readonly Service[], rows: readonly CostRow[]): number {
  const tagged = new Set(services.flatMap(({ id, tags }) => (tags === null ? [] : [id])));
  const billed = new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
  return billed.difference(tagged).size;
}

/** `analytics-prod, staging` · `tag prod` · `warehouse main` · `team search` */
export function labelOf({
  organizations,
  services,
  tags,
  warehouses,
  teams,
}: CostSelector): string {
  const named = (word: string, names: readonly string[] | null) =>
    names ? [`${word}${names.length > 1 ? 's' : ''} ${names.join(', ')}`] : [];
  return [
    ...(organizations ? [organizations.map(({ name }) => name).join(', ')] : []),
    ...(services ? [services.map(({ name }) => name).join(', ')] : []),
    ...named('tag', tags),
    ...named('warehouse', warehouses),
    ...named('team', teams),
  ].join(' · ');
}

/** What the figures of a scope leave out. */
export function scopeNotes({
  selector,
  untagged,
}: Pick<CostScope, 'selector' | 'untagged'>): readonly string[] {
  const storage =
    selector.services && !selector.storage
      ? ['storage and backups are billed to warehouses and not included']
      : [];
  const leftOut =
    untagged === 0 ? [] : [`${countWords(untagged, 'service')} left out: not in signalbox.yaml`];
  return [...storage, ...leftOut];
}
