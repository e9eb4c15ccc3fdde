import type { CostRow } from './row.ts';

interface Named {
  readonly entityName: string | null;
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly serviceId: string | null;
  readonly dataWarehouseId: string | null;
}

type Entity = Pick<CostRow, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'warehouseId'>;

/** Whose row it is. Kinds are told by some servers only; elsewhere the ids tell them. */
export function entityOf(told: Named, entityId: string): Entity {
  const kind = kindOf(told);
  const entityName = told.entityName || entityId;
  const { dataWarehouseId, serviceId } = told;
  if (kind === 'warehouse') {
    return {
      entityId,
      entityName,
      kind,
      serviceId: null,
      warehouseId: dataWarehouseId ?? entityId,
    };
  }
  const service = kind === 'service' ? (serviceId ?? entityId) : serviceId;
  return { entityId, entityName, kind, serviceId: service, warehouseId: dataWarehouseId };
}

function kindOf({ entityType, serviceId, entityId }: Named): CostRow['kind'] {
  const type = entityType?.toLowerCase() ?? '';
  if (type.includes('warehouse')) return 'warehouse';
  if (type.includes('pipe')) return 'pipe';
  if (type === 'service') return 'service';
  if (serviceId === null) return 'warehouse';
  return entityId === serviceId ? 'service' : 'pipe';
}
