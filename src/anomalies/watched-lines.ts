import type { Span } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { CostAnomaly } from '../maths/anomalies.ts';
import { allSeries, METRIC_NAMES } from '../maths/lines.ts';
import { type CostRow, type DayValue, entityKey, type Metric } from '../maths/rows.ts';

/** A daily series of costs that is watched, with the names of its entity. */
export interface WatchedLine
  extends Pick<CostAnomaly, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'name' | 'metric'> {
  readonly id: string;
  readonly values: readonly DayValue[];
}

type Entity = Pick<WatchedLine, 'entityId' | 'entityName' | 'kind' | 'serviceId'>;

/**
 * The total of every entity and each of its metrics. A line that never reached `least` credits on
 * one day is left out, because it cannot deviate by that much.
 */
export function watchedLines(
  rows: readonly CostRow[],
  span: Span,
  least: number,
): readonly WatchedLine[] {
  const entities = new Map<string, Entity & { day: Day }>();
  const kinds = new Map<string, Set<string>>();
  for (const row of rows) {
    const { day, entityId, entityName, kind, serviceId } = row;
    const newest = entities.get(entityKey(row));
    if (!newest) kinds.set(entityId, (kinds.get(entityId) ?? new Set()).add(kind));
    if (!newest || newest.day <= day) {
      entities.set(entityKey(row), { day, entityId, entityName, kind, serviceId });
    }
  }
  // Stored incidents have the plain id. Only an entity that shares its id needs its kind as well.
  const idOf = (key: string, owner: Entity) => {
    const isShared = kinds.get(owner.entityId)?.size !== 1;
    return isShared ? key : owner.entityId + key.slice(entityKey(owner).length);
  };
  const totals = allSeries(rows, 'entity', span).map((line) => ({
    ...line,
    of: line.key,
    metric: null,
  }));
  const metrics = allSeries(rows, 'entity-metric', span).map((line) => ({
    ...line,
    ...splitKey(line.key),
  }));
  return [...totals, ...metrics].flatMap(({ key, values, of, metric }) => {
    const owner = entities.get(of);
    if (!owner || !values.some(({ value }) => value >= least)) return [];
    return [{ ...named(owner, metric), id: idOf(key, owner), values }];
  });
}

// The name of a metric has no space, but an id of the API may have one.
function splitKey(key: string) {
  const at = key.lastIndexOf(' ');
  return { of: key.slice(0, at), metric: key.slice(at + 1) };
}

function named({ entityId, entityName, kind, serviceId }: Entity, metric: string | null) {
  const shown = kind === 'warehouse' ? `warehouse ${entityName}` : entityName;
  const what = metric === null ? null : metricName(metric);
  const name = what === null ? shown : `${shown} · ${what}`;
  return { entityId, entityName, kind, serviceId, metric: what, name };
}

function metricName(metric: string): string {
  // The only other key is the part that the report does not break down.
  return METRIC_NAMES[metric as Metric] ?? 'not broken down';
}
