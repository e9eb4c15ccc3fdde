import type { JsonObject } from '../base/text.ts';
import { type Day, dayOf } from '../base/time.ts';
import type { Service } from '../domain/targets.ts';
import { isSettled } from '../maths/days.ts';
import {
  isFixed,
  priceArea,
  type SizedDay,
  scalingOf,
  type UnitPrice,
  unitPrice,
} from '../maths/effect.ts';
import { seriesOf } from '../maths/lines.ts';
import type { CostRow } from '../maths/rows.ts';

export interface PriceContext {
  readonly services: readonly Service[];
  /** When the last cost change of each service ran, by service id. */
  readonly ranAt: ReadonlyMap<string, Date>;
}

/** Returns the price of a GB-hour, from all services in the same price area. */
export function priceNear(
  fields: JsonObject | undefined,
  rows: readonly CostRow[],
  { services, ranAt }: PriceContext,
  span: { first: Day; last: Day },
): UnitPrice {
  const area = priceArea(fields);
  const near = services.filter(
    ({ lastSeen }) => area !== null && priceArea(lastSeen?.fields) === area,
  );
  return unitPrice(near.flatMap((service) => sizedDays(service, rows, ranAt, span)));
}

/**
 * The days on which the size of a service is known: those after the last reply, unless a change ran
 * since without a reply.
 */
function sizedDays(
  { id, lastSeen }: Service,
  rows: readonly CostRow[],
  ranAt: PriceContext['ranAt'],
  span: { first: Day; last: Day },
): readonly SizedDay[] {
  const scaling = scalingOf(lastSeen?.fields);
  const ran = ranAt.get(id);
  if (!lastSeen || !scaling || !isFixed(scaling) || (ran && ran > lastSeen.seenAt)) return [];

  const since = dayOf(lastSeen.seenAt);
  const compute = seriesOf(rows, { entities: [id], metric: 'computeCredits' }, span);
  return compute
    .filter(({ day }) => day > since)
    .map((one) => ({ value: one.value, settled: isSettled(one), changed: false, scaling }));
}
