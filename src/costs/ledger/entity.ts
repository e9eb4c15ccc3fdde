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
  const entityName = nameOf(told.entityName ?? '') || nameOf(entityId);
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

const NAME_MAX = 100;

/** One line of what can be seen: a name from outside may break lines or turn their direction. */
function nameOf(told: string): string {
  if (told.length <= NAME_MAX && /^[!-~](?:[ -~]*[!-~])?$/.test(told)) return told;
  const seen = told.replace(/[\s\u2028\u2029]+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
  const letters = [...seen.trim()];
  if (letters.length <= NAME_MAX) return letters.join('');
  return `${letters.slice(0, NAME_MAX - 1).join('')}…`;
}
