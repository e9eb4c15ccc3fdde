import { addDays, type Day, dayOf } from '../base/time.ts';
import type { Plan } from '../domain/change.ts';
import { type RowSelector, rowFilter } from '../maths/days.ts';
import {
  type CostChange,
  changesScaling,
  scaleEffect,
  scalingOf,
  startEffect,
  stopEffect,
} from '../maths/effect.ts';
import { seriesOf } from '../maths/lines.ts';
import type { CostRow, DayValue, Metric } from '../maths/rows.ts';
import { historyOf, levelOf, SETTLED_HISTORY_DAYS } from '../maths/statistics.ts';
import type { EstimatedKind } from './executed-changes.ts';
import { type PriceContext, priceNear } from './price-near.ts';

/** The input of an estimate. `rows` covers `historySpan`. */
export interface EstimateInput extends PriceContext {
  readonly rows: readonly CostRow[];
  readonly today: Day;
  /** When the size of the service was last changed. */
  readonly sizedAt: Date | null;
}

export type CostEstimate =
  | {
      readonly known: true;
      readonly effect: CostChange & { known: true };
      /** The change relative to the current cost: −1 is all of it. Null where that cost is 0. */
      readonly share: number | null;
      /** The cost that continues after a stop. Null where it is unknown, or for other commands. */
      readonly storage: StorageCost | null;
    }
  | { readonly known: false; readonly why: UnknownReason };

/** Storage cost of a warehouse, in credits per day. */
export interface StorageCost {
  readonly storageCredits: number;
  readonly backupCredits: number;
}

export type UnknownReason =
  | (CostChange & { known: false })['why']
  | 'no-costs-yet'
  | 'only-the-timeout'
  | 'scaled-recently'
  | 'report-silent';

/** The days that an estimate needs, before the given day. */
export function historySpan(today: Day): { first: Day; last: Day } {
  return { first: addDays(today, -SETTLED_HISTORY_DAYS), last: addDays(today, -1) };
}

/** The compute per day that a change affects: a stop also stops pipes, a scale does not. */
export function computeOf(
  kind: EstimatedKind,
  service: string,
  rows: readonly CostRow[],
  span: { first: Day; last: Day },
): readonly DayValue[] {
  const selector: RowSelector =
    kind === 'scale' ? { entities: [service] } : { services: [service] };
  return seriesOf(rows, { ...selector, metric: 'computeCredits' }, span);
}

export function estimate(kind: EstimatedKind, plan: Plan, basis: EstimateInput): CostEstimate {
  const { rows, today } = basis;
  const service = plan.target.id;
  if (kind === 'scale' && !changesScaling(plan.body))
    return { known: false, why: 'only-the-timeout' };
  if (kind !== 'start' && !rows.some(rowFilter({ services: [service] }))) {
    return { known: false, why: 'no-costs-yet' };
  }
  const whole = computeOf(kind, service, rows, historySpan(today));
  const compute = kind === 'scale' ? daysAtSize(whole, basis.sizedAt) : whole;
  const effect = effectOn(kind, compute, plan, basis);
  if (!effect.known) {
    const isCut = effect.why === 'too-few-settled-days' && compute.length < whole.length;
    return isCut ? { known: false, why: 'scaled-recently' } : effect;
  }
  const level = levelOf(historyOf(compute, today)).value;
  const share = kind === 'start' || level <= 0 ? null : effect.perDay.about / level;
  const storage = kind === 'stop' ? storageOf(service, rows, today) : null;
  return { known: true, effect, share, storage };
}

// Only days at the current size can be compared with another size.
function daysAtSize(compute: readonly DayValue[], sizedAt: Date | null): readonly DayValue[] {
  return sizedAt ? compute.filter(({ day }) => day > dayOf(sizedAt)) : compute;
}

function effectOn(
  kind: EstimatedKind,
  compute: readonly DayValue[],
  plan: Plan,
  basis: EstimateInput,
): CostChange {
  const { rows, today } = basis;
  if (kind === 'stop') return stopEffect(compute, today);

  const { target, before, body } = plan;
  const price = priceNear(before?.fields, rows, basis, historySpan(today));
  // A change that ran after the last reply may have changed the size.
  const ranAt = basis.ranAt.get(target.id);
  const seen = before && !(ranAt && ranAt > before.seenAt) ? before.fields : undefined;
  const scaling = scalingOf(seen);
  if (kind === 'start') return startEffect(compute, scaling, price, today);
  const after = scalingOf({ ...seen, ...body });
  return scaleEffect(compute, { before: scaling, after }, price, today);
}

function storageOf(service: string, rows: readonly CostRow[], today: Day): StorageCost | null {
  const warehouse = rows.findLast(({ serviceId }) => serviceId === service)?.warehouseId;
  const own = rows.filter(
    ({ kind, warehouseId }) => kind === 'warehouse' && warehouseId === warehouse,
  );
  const levelIn = (metric: Metric) => {
    const days = historyOf(seriesOf(own, { metric }, historySpan(today)), today);
    return days.length > 0 ? levelOf(days).value : null;
  };
  const storageCredits = warehouse ? levelIn('storageCredits') : null;
  if (storageCredits === null) return null;
  return { storageCredits, backupCredits: levelIn('backupCredits') ?? 0 };
}
