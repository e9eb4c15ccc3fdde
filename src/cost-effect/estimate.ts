import type { Plan } from '../changes/change.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import {
  type CostChange,
  scaleEffect,
  startEffect,
  stopEffect,
} from '../costs/effect/change-effect.ts';
import { levelOf } from '../costs/forecast/level.ts';
import { HISTORY_DAYS, historyOf } from '../costs/forecast/series.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import { picker, type RowSelector } from '../costs/ledger/ledger.ts';
import type { CostRow, DayValue, Metric } from '../costs/ledger/row.ts';
import { movesBounds, scalingOf } from '../intent/effect.ts';
import type { EstimatedKind, LastMoved } from './estimated.ts';
import { type PriceContext, priceNear } from './price-near.ts';

/** What an estimate rests on; the rows are those of `historySpan`. */
export interface Basis extends PriceContext {
  readonly rows: readonly CostRow[];
  readonly today: Day;
  readonly sizedAt: LastMoved['sizedAt'];
}

export type CostEstimate =
  | {
      readonly known: true;
      readonly effect: CostChange & { known: true };
      /** Beside what it costs until now: −1 is all of it; null where it costs nothing. */
      readonly share: number | null;
      /** Null where it is not known, or has nothing to do with it. */
      readonly storage: GoingOn | null;
    }
  | { readonly known: false; readonly why: NotEstimated };

/** What the warehouse of a stopped service still costs, credits a day. */
export interface GoingOn {
  readonly storageCredits: number;
  readonly backupCredits: number;
}

export type NotEstimated =
  | (CostChange & { known: false })['why']
  | 'no-costs-yet'
  | 'only-the-timeout'
  | 'scaled-lately'
  | 'report-silent';

/** A day may take a week to become final, and is of no use before. */
const SETTLING_DAYS = 7;

export function historySpan(today: Day): { first: Day; last: Day } {
  return { first: addDays(today, -HISTORY_DAYS - SETTLING_DAYS), last: addDays(today, -1) };
}

/** What is run with a service stops with it; its own size moves its own compute alone. */
export function computeOf(
  kind: EstimatedKind,
  service: string,
  rows: readonly CostRow[],
  span: { first: Day; last: Day },
): readonly DayValue[] {
  const whose: RowSelector = kind === 'scale' ? { entities: [service] } : { services: [service] };
  return seriesOf(rows, { ...whose, metric: 'computeCredits' }, span);
}

export function estimate(kind: EstimatedKind, plan: Plan, basis: Basis): CostEstimate {
  const { rows, today } = basis;
  const service = plan.target.id;
  if (kind === 'scale' && !movesBounds(plan.body)) return { known: false, why: 'only-the-timeout' };
  if (kind !== 'start' && !rows.some(picker({ services: [service] }))) {
    return { known: false, why: 'no-costs-yet' };
  }
  const whole = computeOf(kind, service, rows, historySpan(today));
  const compute = kind === 'scale' ? ofThisSize(whole, basis.sizedAt.get(service)) : whole;
  const effect = effectOn(kind, compute, plan, basis);
  if (!effect.known) {
    const isCut = effect.why === 'too-few-final-days' && compute.length < whole.length;
    return isCut ? { known: false, why: 'scaled-lately' } : effect;
  }
  const level = levelOf(historyOf(compute, today)).value;
  const share = kind === 'start' || level <= 0 ? null : effect.perDay.about / level;
  const storage = kind === 'stop' ? storageOf(service, rows, today) : null;
  return { known: true, effect, share, storage };
}

// What it cost at another size says nothing of how the next one compares with this one.
function ofThisSize(compute: readonly DayValue[], sizedAt: Date | undefined): readonly DayValue[] {
  return sizedAt ? compute.filter(({ day }) => day > dayOf(sizedAt)) : compute;
}

function effectOn(
  kind: EstimatedKind,
  compute: readonly DayValue[],
  plan: Plan,
  basis: Basis,
): CostChange {
  const { rows, today } = basis;
  if (kind === 'stop') return stopEffect(compute, today);

  const { target, before, body } = plan;
  const price = priceNear(before?.fields, rows, basis, historySpan(today));
  // A change that ran after the last reply may have moved the bounds without anybody seeing them.
  const ranAt = basis.ranAt.get(target.id);
  const seen = before && !(ranAt && ranAt > before.seenAt) ? before.fields : undefined;
  const scaling = scalingOf(seen);
  if (kind === 'start') return startEffect(compute, scaling, price, today);
  const after = scalingOf({ ...seen, ...body });
  return scaleEffect(compute, { before: scaling, after }, price, today);
}

function storageOf(service: string, rows: readonly CostRow[], today: Day): GoingOn | null {
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
