import type { JsonObject } from '../base/text.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import {
  type Change,
  type EffectKind,
  type Plan,
  TARGET_KINDS,
  TARGET_TRAITS,
  type Target,
  targetKey,
} from '../domain/change.ts';
import type { Service } from '../domain/targets.ts';
import { listChanges } from '../log/old/change-lists.ts';
import { lastSentChanges, type SentChange } from '../log/old/last-sent.ts';
import { isSettled, type RowSelector, rowFilter } from '../maths/days.ts';
import {
  type CostChange,
  changesScaling,
  isFixed,
  priceArea,
  type SizedDay,
  scaleEffect,
  scalingOf,
  startEffect,
  stopEffect,
  type UnitPrice,
  unitPrice,
} from '../maths/effect.ts';
import { seriesOf } from '../maths/lines.ts';
import type { CostRow, DayValue, Metric } from '../maths/rows.ts';
import { historyOf, levelOf, SETTLED_HISTORY_DAYS } from '../maths/statistics.ts';
import type { Db } from '../storage/old/database.ts';

/** The kind of cost effect of each change command, by its name. */
export type CommandEffects = ReadonlyMap<string, { readonly effect?: EffectKind }>;

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create' | 'schedule'>;

const COSTED_KINDS = TARGET_KINDS.filter((kind) => TARGET_TRAITS[kind].hasCosts);

/**
 * Returns the last two changes of each target that affected its costs, or may have, since the given
 * day; the last one first.
 */
export async function lastCostChanges(
  db: Db,
  first: Day,
  commands: CommandEffects,
): Promise<readonly SentChange[]> {
  const filter = { commands: estimatedCommands(commands), since: startOfDay(first) };
  const found = await Promise.all(
    COSTED_KINDS.map((kind) => lastSentChanges(db, { kind, ...filter })),
  );
  return found.flat();
}

/** When the last cost change of each target ran, by the id of the target. */
export function lastTimes(changes: readonly SentChange[]): ReadonlyMap<string, Date> {
  const latest = changes.toReversed().map(({ targetKey: key, at }) => {
    return [key.slice(key.indexOf(':') + 1), at] as const;
  });
  return new Map(latest);
}

/** Returns when the size of a target was last changed, since the given day; null if it was not. */
export async function lastResize(
  db: Db,
  first: Day,
  target: Target,
  commands: CommandEffects,
): Promise<Date | null> {
  const scales = [...commands.keys()].filter((name) => estimatedKind(commands, name) === 'scale');
  const filter = {
    states: SENT,
    commands: scales,
    targets: [targetKey(target)],
    endedSince: startOfDay(first),
  };
  let last: Change | undefined;
  for (;;) {
    const page = await listChanges(db, { ...filter, limit: PAGE, ...(last && { before: last }) });
    const resize = page.find(({ plan }) => changesScaling(plan.body));
    if (resize) return sentAt(resize);
    if (page.length < PAGE) return null;
    last = page.at(-1);
  }
}

const SENT = ['succeeded', 'unknown'] as const;
const PAGE = 20;

/** Returns the kind of cost effect of a command; null where it has none that can be estimated. */
export function estimatedKind(commands: CommandEffects, command: string): EstimatedKind | null {
  const effect = commands.get(command)?.effect ?? 'create';
  return effect === 'create' || effect === 'schedule' ? null : effect;
}

function estimatedCommands(commands: CommandEffects): readonly string[] {
  return [...commands.keys()].filter((name) => estimatedKind(commands, name) !== null);
}

function sentAt({ outcome, createdAt }: Change): Date {
  return outcome?.at ?? createdAt;
}

function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}

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
