import type { CostRow, Metric } from './row.ts';

interface Named {
  readonly entityName: string | null;
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly serviceId: string | null;
  readonly dataWarehouseId: string | null;
  readonly metrics: Readonly<Record<string, number | null>> | null;
}

type Entity = Pick<CostRow, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'warehouseId'>;

/** The entity of a row. Without a known type, the ids and metrics of the row show its kind. */
export function entityOf(row: Named, entityId: string): Entity {
  const kind = kindOf(row);
  const entityName = nameOf(row.entityName ?? '') || nameOf(entityId);
  const { dataWarehouseId, serviceId } = row;
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

function kindOf(row: Named): CostRow['kind'] {
  const type = row.entityType?.toLowerCase() ?? '';
  if (type.includes('warehouse')) return 'warehouse';
  if (type.includes('pipe')) return 'pipe';
  if (type === 'service') return 'service';
  return kindShownBy(row);
}

/**
 * A service may have the id of its warehouse, and a row without a service is usually of a warehouse.
 * In both cases the metrics decide.
 */
function kindShownBy({ entityId, serviceId, dataWarehouseId, metrics }: Named): CostRow['kind'] {
  const bills = (names: readonly Metric[]) => names.some((name) => (metrics?.[name] ?? 0) !== 0);
  const isOfWarehouse = bills(['storageCredits', 'backupCredits']);
  if (entityId === serviceId) {
    return entityId === dataWarehouseId && isOfWarehouse ? 'warehouse' : 'service';
  }
  if (entityId === dataWarehouseId) return 'warehouse';
  if (serviceId !== null || bills(['dataTransferCredits', 'initialLoadCredits'])) return 'pipe';
  return bills(['computeCredits']) && !isOfWarehouse ? 'service' : 'warehouse';
}

const NAME_MAX = 100;

/** The name as one visible line: a name may contain line breaks or change the text direction. */
function nameOf(name: string): string {
  if (name.length <= NAME_MAX && /^[!-~](?:[ -~]*[!-~])?$/.test(name)) return name;
  const seen = name.replace(/[\s\u2028\u2029]+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
  const letters = [...seen.trim()];
  if (letters.length <= NAME_MAX) return letters.join('');
  return `${letters.slice(0, NAME_MAX - 1).join('')}…`;
}
