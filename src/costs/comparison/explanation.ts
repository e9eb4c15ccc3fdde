import type { Span } from '../../base/calendar.ts';
import { partsOf } from '../ledger/grouping.ts';
import type { CostRow, Micro } from '../ledger/row.ts';
import { sumBy } from '../ledger/summary.ts';
import { type Money, moneyOf, moneySum } from '../money/money.ts';
import type { DayPair } from './day-pairs.ts';
import { type ComparedLine, changesBetween, largest, type Mover, rowsOn } from './movers.ts';

interface ServiceMetric extends ComparedLine {
  /** Of a pipe or a warehouse without a service: its own. */
  readonly service: { readonly id: string; readonly name: string };
}

/** Millionths of a credit; the money is null without a price for each of its days. */
interface Amount {
  readonly micro: Micro;
  readonly money: Money | null;
}

/** How one total became another: `before + Σ movers + others = now`, exact to the millionth. */
export interface Explanation {
  readonly before: Amount;
  readonly now: Amount;
  readonly movers: readonly Mover[];
  /** The sum of the other lines that changed, and their number. */
  readonly others: Amount & { readonly lines: number };
  /** The services of the movers, the largest one first. */
  readonly services: readonly ServiceMetric['service'][];
}

/**
 * How the costs on the paired days changed, by service and metric. Pipes count to their service.
 * What the metrics of a row do not explain is a line as well, so that all lines add up to the total
 * of the rows. `top`: the number of movers; null: until they explain 80%, at most five.
 * Source: docs/costs.md#reasons.
 */
export function explainChange(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  top: number | null,
): Explanation {
  const [now, before] = [sideOf(rows, pairs, 'now'), sideOf(rows, pairs, 'before')];
  const moved = changesBetween(now.lines, before.lines).filter(({ delta }) => delta !== 0);
  const movers = largest(moved, { minimum: 0, top });
  const rest = moved.filter((one) => !movers.includes(one));
  const services = new Map([...before.lines, ...now.lines].map((line) => [line.key, line.service]));
  const ofMovers = movers.flatMap(({ key }) => services.get(key) ?? []);
  return {
    before: before.total,
    now: now.total,
    movers,
    others: {
      micro: rest.reduce((sum, { delta }) => sum + delta, 0),
      money: moneySum(rest.map(({ money }) => money)),
      lines: rest.length,
    },
    services: [...new Map(ofMovers.map((one) => [one.id, one])).values()],
  };
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
