import type { Unusual } from '../costs/anomaly/unusual.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { allSeries } from '../costs/ledger/daily.ts';
import { METRIC_NAMES } from '../costs/ledger/grouping.ts';
import type { CostRow, DayValue, Metric } from '../costs/ledger/row.ts';

/** One series that is watched, and whose it is. */
export interface WatchedLine
  extends Pick<Unusual, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'name' | 'metric'> {
  readonly id: string;
  readonly values: readonly DayValue[];
}

type Whose = Pick<WatchedLine, 'entityId' | 'entityName' | 'kind' | 'serviceId'>;

/**
 * Every entity and every metric of it, as far as it could ever be told of: a line that never cost
 * `least` credits on a day cannot be that much above or below anything.
 */
export function watchedLines(
  rows: readonly CostRow[],
  span: Span,
  least: number,
): readonly WatchedLine[] {
  const whose = new Map<string, Whose & { day: Day }>();
  for (const { day, entityId, entityName, kind, serviceId } of rows) {
    const newest = whose.get(entityId);
    if (!newest || newest.day <= day) {
      whose.set(entityId, { day, entityId, entityName, kind, serviceId });
    }
  }
  const totals = allSeries(rows, 'entity', span).map((line) => ({
    ...line,
    of: line.key,
    metric: null,
  }));
  const metrics = allSeries(rows, 'entity-metric', span).map((line) => ({
    ...line,
    ...parted(line.key),
  }));
  return [...totals, ...metrics].flatMap(({ key, values, of, metric }) => {
    const owner = whose.get(of);
    if (!owner || !values.some(({ value }) => value >= least)) return [];
    return [{ ...named(owner, metric), id: key, values }];
  });
}

// No metric has a space in its name; an id from outside may have one.
function parted(key: string) {
  const at = key.lastIndexOf(' ');
  return { of: key.slice(0, at), metric: key.slice(at + 1) };
}

function named({ entityId, entityName, kind, serviceId }: Whose, metric: string | null) {
  const shown = kind === 'warehouse' ? `warehouse ${entityName}` : entityName;
  const what = metric === null ? null : metricName(metric);
  const name = what === null ? shown : `${shown} · ${what}`;
  return { entityId, entityName, kind, serviceId, metric: what, name };
}

function metricName(metric: string): string {
  // The one key beside the metrics is what the report does not break down.
  return METRIC_NAMES[metric as Metric] ?? 'not broken down';
}
