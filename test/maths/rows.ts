import fc from 'fast-check';
import { type Span, within } from '../../src/base/calendar.ts';
import { addDays, type Day } from '../../src/base/time.ts';
import {
  type CostRow,
  type DayValue,
  METRICS,
  type Metric,
  type Micro,
  microOf,
} from '../../src/maths/rows.ts';

export const TODAY = '2026-11-20';

type Over = Omit<Partial<CostRow>, 'total'> & { readonly credits?: number };

/** A row of a service on a final day, by default with 100 credits of compute. */
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

/** What the rows of the span cost together, in millionths. */
export function totalOf(rows: readonly CostRow[], span: Span): Micro {
  return within(rows, span).reduce((sum, { total }) => sum + total, 0);
}

/** A row of the same entity for each day from the first on, with these credits. */
export function daily(first: Day, credits: readonly number[], over: Over = {}): CostRow[] {
  return credits.map((each, index) => row({ ...over, day: addDays(first, index), credits: each }));
}

/** Final days with these values, from the first on. */
export function finalDays(values: readonly number[], first: Day): readonly DayValue[] {
  return values.map((value, index) => ({ day: addDays(first, index), value, final: true }));
}

/** Numbers from 0 to 1, the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const days = fc.integer({ min: 0, max: 80 }).map((count) => addDays('2026-09-15', count));

export const spans = fc.tuple(days, fc.nat(60)).map(([first, more]) => ({
  first,
  last: addDays(first, more),
}));

// Some values are equal, so that lines tie.
const micro = fc.oneof(
  fc.integer({ min: -5_000_000, max: 900_000_000 }),
  fc.constantFrom(0, 1_000_000),
);

const metrics = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...METRICS), micro), { selector: ([name]) => name })
  // fromEntries loses the type of the keys.
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
    .map(
      ({ number, named, ...rest }): CostRow => ({
        ...entity(number, named),
        // A third of the services is unknown to the configuration.
        ...(number % 3 === 0
          ? {}
          : { labels: { tag: `tag-${number % 2}`, team: `team-${number}` } }),
        ...rest,
      }),
    ),
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
