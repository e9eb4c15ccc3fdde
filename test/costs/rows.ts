import fc from 'fast-check';
import { addDays, type Day } from '../../src/costs/calendar/day.ts';
import { type CostRow, METRICS, type Metric, microOf } from '../../src/costs/ledger/row.ts';

export const TODAY = '2026-11-20';

type Over = Omit<Partial<CostRow>, 'total'> & { readonly credits?: number };

/** A service's row of a final day, a hundred credits of compute unless told otherwise. */
export function row({ credits = 100, ...over }: Over = {}): CostRow {
  const entityId = over.entityId ?? 's-1';
  const total = microOf(credits);
  return {
    day: '2026-11-17',
    entityId,
    entityName: 'analytics-prod',
    kind: 'service',
    serviceId: entityId,
    warehouseId: 'w-1',
    metrics: { computeCredits: total },
    total,
    locked: true,
    ...over,
  };
}

export function warehouseRow(over: Over = {}): CostRow {
  const own = { entityId: 'w-1', entityName: 'main', serviceId: null, warehouseId: 'w-1' };
  return row({ ...own, kind: 'warehouse', ...over });
}

export function pipeRow(over: Over = {}): CostRow {
  const own = { entityId: 'p-1', entityName: 'orders', serviceId: 's-1', kind: 'pipe' } as const;
  return row({ ...own, ...over });
}

/** A row of the same entity for each day from the first on, with so many credits. */
export function daily(first: Day, credits: readonly number[], over: Over = {}): CostRow[] {
  return credits.map((each, index) => row({ ...over, day: addDays(first, index), credits: each }));
}

export const days = fc.integer({ min: 0, max: 80 }).map((count) => addDays('2026-09-15', count));

export const spans = fc.tuple(days, fc.nat(60)).map(([first, more]) => ({
  first,
  last: addDays(first, more),
}));

// Some are alike, so that lines tie.
const micro = fc.oneof(
  fc.integer({ min: -5_000_000, max: 900_000_000 }),
  fc.constantFrom(0, 1_000_000),
);

const metrics = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...METRICS), micro), { selector: ([name]) => name })
  // fromEntries forgets which keys it was given.
  .map((entries) => Object.fromEntries(entries) as Partial<Record<Metric, number>>);

/** Rows of some entities of two warehouses, one per entity and day, in any order. */
export const randomRows = fc.uniqueArray(
  fc
    .record({
      day: days,
      number: fc.integer({ min: 0, max: 9 }),
      named: fc.constantFrom('old', 'new'),
      metrics,
      total: micro,
      locked: fc.boolean(),
    })
    .map(({ number, named, ...rest }): CostRow => ({ ...entity(number, named), ...rest })),
  { selector: ({ day, entityId }) => `${day} ${entityId}`, maxLength: 120 },
);

function entity(number: number, named: string) {
  const entityId = `e-${number}`;
  const warehouseId = number % 4 === 0 ? null : `e-${number < 5 ? 9 : 8}`;
  const entityName = `${named}-${number}`;
  if (number > 7)
    return { entityId, entityName, kind: 'warehouse', serviceId: null, warehouseId } as const;
  const kind = number > 4 ? 'pipe' : 'service';
  const serviceId = number === 7 ? null : kind === 'pipe' ? `e-${number - 5}` : entityId;
  return { entityId, entityName, kind, serviceId, warehouseId } as const;
}
