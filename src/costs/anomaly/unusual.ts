import type { Day } from '../calendar/day.ts';
import type { Range } from './anomaly.ts';
import type { Incident } from './incident.ts';

/** An incident with what people need to read it: whose it is, and what its last days looked like. */
export interface Unusual {
  /** The line of the report: an entity, or an entity and one metric. */
  readonly line: string;
  readonly entityId: string;
  readonly entityName: string;
  readonly kind: 'warehouse' | 'service' | 'pipe';
  readonly serviceId: string | null;
  /** `analytics-dev · compute` */
  readonly name: string;
  /** Null: all that the entity costs. */
  readonly metric: string | null;
  readonly incident: Incident;
  /** Its worst unusual day, with what would have been usual then; null where nothing was. */
  readonly peak: { readonly day: Day; readonly value: number; readonly range: Range | null };
  /**
   * Whether a message told of it, alone or with most other lines. One that was never told has no end
   * to tell either, and of a crowd the ends are not told one by one.
   */
  readonly told: 'alone' | 'crowd' | null;
}

/**
 * The same incident seen twice: an entity's total and one of its metrics go up or down together,
 * from about the same day. People hear of the metric, for it says more.
 */
export function isKin(one: Unusual, other: Unusual): boolean {
  return (
    one.entityId === other.entityId &&
    one.incident.direction === other.incident.direction &&
    one.incident.since <= lastDayOf(other) &&
    other.incident.since <= lastDayOf(one)
  );
}

export function lastDayOf({ incident: { days, since } }: Unusual): Day {
  return days.at(-1)?.day ?? since;
}

/** Each incident once, by its largest metric, with the gravest tier of all that are kin to it. */
export function once(all: readonly Unusual[]): readonly Unusual[] {
  const weight = ({ metric, incident }: Unusual) =>
    (metric === null ? 0 : 1e12) + Math.abs(incident.impact);
  const kept: Unusual[] = [];
  for (const one of all.toSorted((a, b) => weight(b) - weight(a))) {
    const at = kept.findIndex((other) => isKin(one, other));
    const leader = kept[at];
    if (!leader) kept.push(one);
    else if (one.incident.tier === 'alert') kept[at] = asAlert(leader);
  }
  return kept;
}

function asAlert(unusual: Unusual): Unusual {
  return { ...unusual, incident: { ...unusual.incident, tier: 'alert' } };
}
