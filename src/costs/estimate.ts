import type { Logger } from 'pino';
import type { Span } from '../base/calendar.ts';
import { TimeoutError, withTimeout } from '../base/errors.ts';
import type { JsonObject } from '../base/text.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { readWeeklyPlan, stoppedHours, type WeeklyPlan } from '../base/weekly-times.ts';
import { countWords } from '../domain/answer.ts';
import {
  type Change,
  type CostEffect,
  type CostSummary,
  type EffectKind,
  type EstimateCost,
  type Plan,
  type Target,
  targetKey,
} from '../domain/change.ts';
import { timesOf } from '../domain/schedules.ts';
import type { Service } from '../domain/targets.ts';
import { type Log, lastSent, listChanges } from '../log/index.ts';
import { type RowSelector, selectRows } from '../maths/days.ts';
import {
  type CostChange,
  changesScaling,
  type EffectBasis,
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
import { moneyOver, type PriceList } from '../maths/money.ts';
import { figure, signedCredits, signedFigure } from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import { type CostRow, type DayValue, microOf } from '../maths/rows.ts';
import { HISTORY_DAYS, historyOf, levelOf } from '../maths/statistics.ts';
import { missingText } from './budgets.ts';

export interface EstimatorContext {
  readonly events: Log;
  readonly organization: string;
  readonly commands: CommandEffects;
  readonly services: () => readonly Service[];
  /** `organizationId`: of this one only. */
  readonly costs: (span: Span, organizationId?: string) => Promise<CostReading>;
  readonly prices: PriceList | null;
  readonly log: Logger;
  readonly now: () => Date;
}

/** The requester waits for the preview: after this long the cost is shown as unknown. */
const TIMEOUT_MS = 2_000;

/** Returns the function that estimates the cost effect of a plan. Source: docs/costs.md#estimated-effect. */
export function createCostEstimator(context: EstimatorContext): EstimateCost {
  return async ({ effect }, plan) => {
    if (effect === undefined) return undefined;
    const never = neverText(effect, plan);
    if (never !== null) return withoutFigures(never);
    // After the timeout the work continues, and the next estimate uses what it has read.
    const estimated = await withTimeout(TIMEOUT_MS, estimateNow(context, effect, plan)).catch(
      (error: unknown) => {
        if (!(error instanceof TimeoutError))
          context.log.warn({ err: error }, 'the cost of a change could not be estimated');
        return null;
      },
    );
    return estimated ?? withoutFigures(UNREAD);
  };
}

function withoutFigures(why: string): CostEffect {
  return { text: `not available: ${why}`, perDay: null, share: null };
}

function weeklyPlanIn({ body }: Plan): WeeklyPlan {
  return readWeeklyPlan(timesOf({ fields: body }));
}

/** Why a change has no estimate, whatever the report says. */
function neverText(effect: EffectKind, plan: Plan): string | null {
  if (effect === 'create') return 'depends on the load';
  if (effect !== 'schedule') return null;
  const { stop, start } = weeklyPlanIn(plan);
  if (stop.length === 0) return 'the schedule has no stop';
  return start.length === 0 ? 'without a start, the service stays stopped' : null;
}

async function estimateNow(
  context: EstimatorContext,
  effect: EffectKind,
  plan: Plan,
): Promise<CostEffect> {
  const kind = effect === 'start' || effect === 'scale' ? effect : 'stop';
  const today = dayOf(context.now());
  const span = historySpan(today);
  const [read, ranAt, sizedAt] = await Promise.all([
    context.costs(span, plan.target.organization?.id),
    lastTimes(context, span.first),
    kind === 'scale' ? lastResize(context, span.first, plan.target) : null,
  ]);
  // A row that could not be read would count as no cost, and a month as too few days.
  if (read.gaps.length > 0 || missingText(read, span) !== null) return withoutFigures(UNREAD);
  const basis = { rows: read.rows, today, services: context.services(), ranAt, sizedAt };
  const estimated = estimate(kind, plan, basis);
  if (!estimated.known) return withoutFigures(estimated.why);
  const hours = effect === 'schedule' ? stoppedHours(weeklyPlanIn(plan), context.now()) : null;
  const described = estimateText(kind, estimated.effect, { prices: context.prices, today, hours });
  if (hours !== null) return { ...described, perDay: null, share: null };
  return { ...described, perDay: estimated.effect.perDay.about, share: estimated.share };
}

/** The kind of cost effect of each change command, by its name. */
type CommandEffects = ReadonlyMap<string, { readonly effect?: EffectKind }>;

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create' | 'schedule'>;

/** When the last cost change of each target ran, since the given day, by the id of the target. */
export async function lastTimes(
  { events, commands }: Pick<SentContext, 'events' | 'commands'>,
  first: Day,
): Promise<ReadonlyMap<string, Date>> {
  const filter = { commands: estimatedCommands(commands), since: startOfDay(first) };
  const times = [...(await lastSent(events, filter))].flatMap(([key, at]) => {
    const [, kind, id = ''] = key.split('/');
    return kind === 'service' ? [[decodeURIComponent(id), at] as const] : [];
  });
  return new Map(times);
}

type SentContext = Pick<EstimatorContext, 'events' | 'organization' | 'commands'>;

/** The changes of a target that affected its costs, or may have; the last one first, two by default. */
export async function lastCostChanges(
  { events, organization, commands }: SentContext,
  target: Target,
  limit = 2,
): Promise<readonly Change[]> {
  const targets = [targetKey({ organization, plan: { target } })];
  const filter = { states: SENT, commands: estimatedCommands(commands), targets };
  return listChanges(events, { ...filter, sent: true, limit });
}

/** Returns when the size of a target was last changed, since the given day; null if it was not. */
export async function lastResize(
  context: SentContext,
  first: Day,
  target: Target,
): Promise<Date | null> {
  // Only a scale has such fields.
  const resize = (await lastCostChanges(context, target, MOST)).find(({ plan }) =>
    changesScaling(plan.body),
  );
  return resize && sentAt(resize) >= startOfDay(first) ? sentAt(resize) : null;
}

const SENT = ['succeeded', 'unknown'] as const;
/** More than two a day in the ten weeks of an estimate. */
const MOST = 200;

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

/** The input of an estimate. `rows` covers `historySpan`. */
export interface EstimateInput extends PriceContext {
  readonly rows: readonly CostRow[];
  readonly today: Day;
  /** When the size of the service was last changed. */
  readonly sizedAt: Date | null;
}

/** The days that an estimate needs, before the given day. */
export function historySpan(today: Day): Span {
  return { first: addDays(today, -HISTORY_DAYS - 14), last: addDays(today, -1) };
}

interface PriceContext {
  readonly services: readonly Service[];
  /** When the last cost change of each service ran, by service id. */
  readonly ranAt: ReadonlyMap<string, Date>;
}

/** The effect of a plan on the compute of its service, or why it is unknown. */
export function estimate(kind: EstimatedKind, plan: Plan, basis: EstimateInput) {
  const { rows, today } = basis;
  const service = plan.target.id;
  const notKnown = (why: string) => ({ known: false, why }) as const;
  if (kind === 'scale' && !changesScaling(plan.body))
    return notKnown('depends on how often the service is idle');
  if (kind !== 'start' && selectRows(rows, { services: [service] }).length === 0)
    return notKnown('the usage report has no costs of this service yet');
  // Only days at the current size can be compared with another size.
  const sizedOn = kind === 'scale' && basis.sizedAt ? dayOf(basis.sizedAt) : '';
  const compute = computeOf(kind, service, rows, historySpan(today)).filter(
    ({ day }) => day > sizedOn,
  );
  const effect = effectOn(kind, compute, plan, basis);
  if (!effect.known) return notKnown(UNKNOWN[effect.why]);
  // The change relative to the current cost: −1 is all of it. Null where that cost is 0.
  const level = levelOf(historyOf(compute, today)).value;
  const share = kind === 'start' || level <= 0 ? null : effect.perDay.about / level;
  return { known: true, effect, share } as const;
}

/** The compute per day that a change affects: a stop also stops pipes, a scale does not. */
export function computeOf(
  kind: EstimatedKind,
  service: string,
  rows: readonly CostRow[],
  span: Span,
): readonly DayValue[] {
  const selector: RowSelector =
    kind === 'scale' ? { entities: [service] } : { services: [service] };
  return seriesOf(rows, { ...selector, metric: 'computeCredits' }, span);
}

function effectOn(
  kind: EstimatedKind,
  compute: readonly DayValue[],
  plan: Plan,
  basis: EstimateInput,
): CostChange {
  const { rows, today } = basis;
  if (kind === 'stop') return stopEffect(compute, today);
  if (kind === 'start') return startEffect(compute, today);

  const { target, before, body } = plan;
  const price = priceNear(before?.fields, rows, basis, historySpan(today));
  // A change that ran after the last reply may have changed the size.
  const ranAt = basis.ranAt.get(target.id);
  const seen = before && !(ranAt && ranAt > before.seenAt) ? before.fields : undefined;
  const scaling = scalingOf(seen);
  const after = scalingOf({ ...seen, ...body });
  return scaleEffect(compute, { before: scaling, after }, price, today);
}

/** Returns the price of a GB-hour, from all services in the same price area. */
function priceNear(
  fields: JsonObject | undefined,
  rows: readonly CostRow[],
  { services, ranAt }: PriceContext,
  span: Span,
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
  span: Span,
): readonly SizedDay[] {
  const scaling = scalingOf(lastSeen?.fields);
  const ran = ranAt.get(id);
  if (!lastSeen || !scaling || !isFixed(scaling) || (ran && ran > lastSeen.seenAt)) return [];

  const since = dayOf(lastSeen.seenAt);
  const compute = seriesOf(rows, { entities: [id], metric: 'computeCredits' }, span);
  return compute
    .filter(({ day }) => day > since)
    .map((one) => ({ value: one.value, final: one.final, scaling }));
}

const UNREAD = 'the usage report could not be read';

const UNKNOWN: Readonly<Record<(CostChange & { known: false })['why'], string>> = {
  'too-few-days': 'needs 7 days with known costs at one size',
  'size-not-known': 'Signalbox learns the size from the first change of this service',
  'price-not-known': 'needs 3 final days at a fixed size without idling',
};

const BASES: Readonly<Record<EffectBasis, (days: string) => string>> = {
  'past-days': (days) => `from ${days}`,
  'fixed-size': (days) => `from ${days} and both sizes`,
  'unit-price': (days) => `from ${days} and the size limits; autoscaling decides`,
};

interface EstimateWords {
  readonly prices: PriceList | null;
  readonly today: Day;
  /** In which a schedule stops the service per week; null for one change. */
  readonly hours: number | null;
}

const WEEK_HOURS = 7 * 24;

/** `−18.0 credits (−€6.30) per day (−9.0 on quiet days, −26.0 on busy days), from 14 days; storage continues` */
export function estimateText(
  kind: EstimatedKind,
  effect: CostChange & { known: true },
  { prices, today, hours }: EstimateWords,
): { readonly text: string; readonly summary: CostSummary } {
  const { basis, days, perDay } = effect;
  const about = hours === null ? perDay.about : (perDay.about * hours) / 24;
  const unit = hours === null ? 'day' : 'week';
  // At the current price.
  const money = moneyOver(microOf(about), [today], prices);
  const amount = `${signedCredits(microOf(about), money)} per ${unit}`;
  const range = `${amount}${hours === null ? betweenText(effect) : ''}`;
  const rest = kind === 'stop' ? ['storage continues'] : [];
  const stopped = hours === null ? [] : [`stopped ${+hours.toFixed(1)} of ${WEEK_HOURS} h`];
  const from = BASES[basis](countWords(days, 'day'));
  return {
    text: [`${range}, ${from}`, ...stopped, ...rest].join('; '),
    summary: { perDay: amount, withRange: [range, ...rest].join(' · ') },
  };
}

const NOTABLE = 0.25;

/**
 * ` (−9.0 on quiet days, −26.0 on busy days)`: the days differ so much that their mean alone would mislead.
 * Of size limits, ` (−4.5 to +10.8)`.
 */
function betweenText({
  perDay: { about, low, high },
  basis,
}: CostChange & { known: true }): string {
  if (basis === 'unit-price')
    return signed(low) === signed(high) ? '' : ` (${signed(low)} to ${signed(high)})`;
  const [quiet = 0, busy = 0] = [low, high].toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const isAlike =
    Math.max(Math.abs(busy - about), Math.abs(quiet - about)) <= NOTABLE * Math.abs(about);
  return isAlike ? '' : ` (${signed(quiet)} on quiet days, ${signed(busy)} on busy days)`;
}

export function amount(credits: number): string {
  return figure(microOf(credits));
}

function signed(credits: number): string {
  return signedFigure(microOf(credits));
}
