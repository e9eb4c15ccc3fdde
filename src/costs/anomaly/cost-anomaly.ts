import type { Day } from '../../base/time.ts';
import { entityKey } from '../ledger/row.ts';
import type { Range } from './anomaly.ts';
import type { Incident } from './incident.ts';

/** An incident of one line of costs, with the names and the worst day that a message shows. */
export interface CostAnomaly {
  /** The line of the usage report: an entity, or an entity and one metric. */
  readonly line: string;
  readonly entityId: string;
  readonly entityName: string;
  readonly kind: 'warehouse' | 'service' | 'pipe';
  readonly serviceId: string | null;
  /** `analytics-dev · compute` */
  readonly name: string;
  /** Null: the total of the entity. */
  readonly metric: string | null;
  readonly incident: Incident;
  /** Its worst unusual day and the usual range of that day; null where there was no usual cost. */
  readonly peak: { readonly day: Day; readonly value: number; readonly range: Range | null };
  /**
   * Whether a message announced it, alone or with most other lines (a common cause). The end is
   * announced only for an anomaly that was announced alone.
   */
  readonly announced: 'alone' | 'crowd' | null;
}

/**
 * Whether two anomalies are one event: the total of an entity and one of its metrics rise or fall
 * together from about the same day. Only the metric is announced, because it says more.
 */
export function isRelated(one: CostAnomaly, other: CostAnomaly): boolean {
  return (
    entityKey(one) === entityKey(other) &&
    one.incident.direction === other.incident.direction &&
    one.incident.since <= lastDayOf(other) &&
    other.incident.since <= lastDayOf(one)
  );
}

export function lastDayOf({ incident: { days, since } }: CostAnomaly): Day {
  return days.at(-1)?.day ?? since;
}

/** Each event once, as its largest metric, with the highest tier of all related anomalies. */
export function mergeRelated(all: readonly CostAnomaly[]): readonly CostAnomaly[] {
  const weight = ({ metric, incident }: CostAnomaly) =>
    (metric === null ? 0 : 1e12) + Math.abs(incident.impact);
  const kept: CostAnomaly[] = [];
  for (const one of all.toSorted((a, b) => weight(b) - weight(a))) {
    const at = kept.findIndex((other) => isRelated(one, other));
    const leader = kept[at];
    if (!leader) kept.push(one);
    else if (one.incident.tier === 'alert') kept[at] = asAlert(leader);
  }
  return kept;
}

function asAlert(anomaly: CostAnomaly): CostAnomaly {
  return { ...anomaly, incident: { ...anomaly.incident, tier: 'alert' } };
}
