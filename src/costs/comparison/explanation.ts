import type { Span } from '../../base/calendar.ts';
import { partsOf } from '../ledger/grouping.ts';
import type { CostRow } from '../ledger/row.ts';
import { sumBy } from '../ledger/summary.ts';
import { moneyOf } from '../money/money.ts';
import type { DayPair } from './day-pairs.ts';
import { type ComparedLine, changesBetween, rowsOn } from './movers.ts';
import { type Amount, type Waterfall, waterfallOf } from './waterfall.ts';

/** A line of the waterfall. */
interface ServiceMetric extends ComparedLine {
  /** Of a pipe or a warehouse without a service: its own. */
  readonly service: { readonly id: string; readonly name: string };
}

export interface Explanation {
  readonly waterfall: Waterfall;
  /** The services of the steps, the largest step first. */
  readonly services: readonly ServiceMetric['service'][];
}

/**
 * How the costs on the paired days changed, by service and metric. Pipes count to their service.
 * What the metrics of a row do not explain is a line as well, so that all lines add up to the total
 * of the rows. Source: docs/costs.md#waterfall.
 */
export function explainChange(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  top: number | null,
): Explanation {
  const [now, before] = [sideOf(rows, pairs, 'now'), sideOf(rows, pairs, 'before')];
  const totals = { start: before.total, end: now.total };
  const waterfall = waterfallOf(changesBetween(now.lines, before.lines), totals, top);
  const services = new Map([...before.lines, ...now.lines].map((line) => [line.key, line.service]));
  const ofSteps = waterfall.steps.flatMap(({ key }) => services.get(key) ?? []);
  return { waterfall, services: [...new Map(ofSteps.map((one) => [one.id, one])).values()] };
}

function sideOf(rows: readonly CostRow[], pairs: readonly DayPair[], side: keyof DayPair) {
  const own = rowsOn(rows, pairs, side);
  return { lines: linesOf(own.rows, own.span), total: totalOf(own.rows) };
}

function totalOf(rows: readonly CostRow[]): Amount {
  const micro = rows.reduce((sum, { total }) => sum + total, 0);
  return { micro, money: moneyOf(rows.map(({ price, total }) => [price, total])) };
}

/** `analytics-prod · compute`; the metric follows, so a warehouse needs no list of its metrics. */
function linesOf(rows: readonly CostRow[], span: Span): readonly ServiceMetric[] {
  const servicesOf = partsOf('service');
  const groups = Map.groupBy(rows, (row) => servicesOf(row)[0]?.key);
  return sumBy(rows, 'service', span).flatMap(({ key: id, name: fullName }) => {
    const service = { id, name: fullName.replace(/: storage \+ backup$/, '') };
    return sumBy(groups.get(id) ?? [], 'metric', span).map(({ key, name, total, money }) => ({
      key: `${id} ${key}`,
      name: `${service.name} · ${name}`,
      service,
      total,
      money,
    }));
  });
}
