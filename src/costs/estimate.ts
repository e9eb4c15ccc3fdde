import type { Logger } from 'pino';
import type { Span } from '../base/calendar.ts';
import { TimeoutError, withTimeout } from '../base/errors.ts';
import type { JsonObject } from '../base/text.ts';
import { addDays, DAY_MS, type Day, dayOf } from '../base/time.ts';
import { readWeeklyPlan, stoppedHours, type WeeklyPlan } from '../base/weekly-times.ts';
import { countWords, utcStamp } from '../domain/answer.ts';
import {
  type Change,
  type CostEffect,
  type CostSummary,
  type EffectKind,
  type EstimateCost,
  type Plan,
  type Target,
  type Timing,
  targetKey,
} from '../domain/change.ts';
import { timesOf } from '../domain/schedules.ts';
import type { Service } from '../domain/targets.ts';
import { spanText } from '../domain/timing.ts';
import { type Log, lastSent, listChanges } from '../log/index.ts';
import { type RowSelector, rowFilter } from '../maths/days.ts';
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
import { type Money, moneyOver, type PriceList } from '../maths/money.ts';
import { figure, signedCredits, signedFigure } from '../maths/numbers.ts';
import { type CostReading, lostRows } from '../maths/report.ts';
import { type CostRow, type DayValue, microOf } from '../maths/rows.ts';
import { HISTORY_DAYS, historyOf, levelOf } from '../maths/statistics.ts';

export interface EstimatorContext {
  readonly events: Log;
  readonly organization: string;
  readonly commands: CommandEffects;
  readonly services: () => readonly Service[];
  readonly costs: (span: Span) => Promise<CostReading>;
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
    if (effect === 'create') return withoutFigures('unknown: depends on the load');
    const never = effect === 'schedule' ? neverText(weeklyPlanIn(plan)) : null;
    if (never !== null) return withoutFigures(never);
    // After the timeout the work continues, and the next estimate uses what it has read.
    const estimated = await withTimeout(TIMEOUT_MS, estimateNow(context, effect, plan)).catch(
      (error: unknown) => {
        if (error instanceof TimeoutError) return null;
        context.log.warn({ err: error }, 'the cost of a change could not be estimated');
        return null;
      },
    );
    if (estimated) return estimated;
    return withoutFigures(effectText(effect, NO_REPORT, plan, context));
  };
}

function withoutFigures(text: string): CostEffect {
  return { text, perDay: null, share: null };
}

function weeklyPlanIn({ body }: Plan): WeeklyPlan {
  return readWeeklyPlan(timesOf({ fields: body }));
}

/** Why a week with this schedule saves no fixed amount; null if it does. */
function neverText({ stop, start }: WeeklyPlan): string | null {
  if (stop.length === 0) return 'not available: the schedule has no stop';
  return start.length === 0 ? 'not available: without a start, the service stays stopped' : null;
}

type EstimatedEffect = EstimatedKind | 'schedule';

const NO_REPORT: CostEstimate = { known: false, why: 'report-silent' };
const UNREADABLE: CostEstimate = { known: false, why: 'report-unreadable' };

async function estimateNow(
  context: EstimatorContext,
  effect: EstimatedEffect,
  plan: Plan,
): Promise<CostEffect> {
  const kind = effect === 'schedule' ? 'stop' : effect;
  const today = dayOf(context.now());
  const span = historySpan(today);
  const [read, ranAt, sizedAt] = await Promise.all([
    context.costs(span),
    lastTimes(context, span.first),
    kind === 'scale' ? lastResize(context, span.first, plan.target) : null,
  ]);
  const { rows, gaps } = read;
  const estimated = estimate(kind, plan, {
    rows,
    today,
    services: context.services(),
    ranAt,
    sizedAt,
  });
  // A row that could not be read would count as no cost, and a month as too few days.
  const isSilent = !estimated.known && gaps.length > 0;
  const isLost = lostRows(read.problems, span) > 0;
  const shown = isLost ? UNREADABLE : isSilent ? NO_REPORT : estimated;
  const text = effectText(effect, shown, plan, context);
  const pricing = { prices: context.prices, today };
  if (effect === 'schedule') {
    const summary = weeklySummary(shown, stoppedIn(plan, context.now()), pricing);
    const whole = shown.known ? `${text}${ageText(read)}` : text;
    return { ...withoutFigures(whole), ...(summary && { summary }) };
  }
  const summary = estimateSummary(effect, shown, pricing);
  return { ...costEffect(text, shown, ageText(read)), ...(summary && { summary }) };
}

function effectText(
  effect: EstimatedEffect,
  estimated: CostEstimate,
  plan: Plan,
  { prices, now }: Pick<EstimatorContext, 'prices' | 'now'>,
): string {
  const pricing = { prices, today: dayOf(now()) };
  if (effect !== 'schedule') return estimateText(effect, estimated, plan.timing, pricing);
  return weeklySavingText(estimated, stoppedIn(plan, now()), pricing);
}

function stoppedIn(plan: Plan, now: Date): number {
  return stoppedHours(weeklyPlanIn(plan), now);
}

function costEffect(text: string, estimated: CostEstimate, age: string): CostEffect {
  if (!estimated.known) return withoutFigures(text);
  const { effect, share } = estimated;
  return { text: `${text}${age}`, perDay: effect.perDay.about, share };
}

/** For each month that was not read now: the time of the stored copy, or that it is missing. */
function ageText({ gaps }: CostReading): string {
  if (gaps.length === 0) return '';
  const parts = gaps.map(({ month, from }) =>
    from ? `${month} as of ${utcStamp(from)}` : `without ${month}`,
  );
  return `; the usage report could not be read (${parts.join(', ')})`;
}

/** The kind of cost effect of each change command, by its name. */
type CommandEffects = ReadonlyMap<string, { readonly effect?: EffectKind }>;

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create' | 'schedule'>;

/** When the last cost change of each target ran, since the given day, by the id of the target. */
export async function lastTimes(
  { events, organization, commands }: SentContext,
  first: Day,
): Promise<ReadonlyMap<string, Date>> {
  const filter = { commands: estimatedCommands(commands), since: startOfDay(first) };
  const start = targetKey({ organization, plan: { target: { kind: 'service', id: '' } } });
  const times = [...(await lastSent(events, filter))].flatMap(([key, at]) =>
    key.startsWith(start) ? [[decodeURIComponent(key.slice(start.length)), at] as const] : [],
  );
  return new Map(times);
}

type SentContext = Pick<EstimatorContext, 'events' | 'organization' | 'commands'>;

/** The changes of a target that affected its costs, or may have; the last one first, two at most. */
export async function lastCostChanges(
  { events, organization, commands }: SentContext,
  target: Target,
): Promise<readonly Change[]> {
  const targets = [targetKey({ organization, plan: { target } })];
  const filter = { states: SENT, commands: estimatedCommands(commands), targets };
  return listChanges(events, { ...filter, sent: true, limit: 2 });
}

/** Returns when the size of a target was last changed, since the given day; null if it was not. */
export async function lastResize(
  { events, organization, commands }: SentContext,
  first: Day,
  target: Target,
): Promise<Date | null> {
  const scales = [...commands.keys()].filter((name) => estimatedKind(commands, name) === 'scale');
  const targets = [targetKey({ organization, plan: { target } })];
  const filter = { states: SENT, commands: scales, targets, sent: true, limit: MOST } as const;
  const resize = (await listChanges(events, filter)).find(({ plan }) => changesScaling(plan.body));
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

type CostEstimate =
  | {
      readonly known: true;
      readonly effect: CostChange & { known: true };
      /** The change relative to the current cost: −1 is all of it. Null where that cost is 0. */
      readonly share: number | null;
    }
  | { readonly known: false; readonly why: UnknownReason };

type UnknownReason =
  | (CostChange & { known: false })['why']
  | 'no-costs-yet'
  | 'only-the-timeout'
  | 'scaled-recently'
  | 'report-silent'
  | 'report-unreadable';

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
    const isCut = effect.why === 'too-few-days' && compute.length < whole.length;
    return isCut ? { known: false, why: 'scaled-recently' } : effect;
  }
  const level = levelOf(historyOf(compute, today)).value;
  const share = kind === 'start' || level <= 0 ? null : effect.perDay.about / level;
  return { known: true, effect, share };
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
    .map((one) => ({ value: one.value, final: one.final, changed: false, scaling }));
}

const UNKNOWN: Readonly<Record<UnknownReason, string>> = {
  'too-few-days': 'needs 7 days with known costs',
  'size-not-known': 'Signalbox learns the size from the first change of this service',
  'price-not-known': 'needs 3 final days at a fixed size without idling',
  'no-costs-yet': 'the usage report has no costs of this service yet',
  'only-the-timeout': 'depends on how often the service is idle',
  'scaled-recently': 'needs 7 known days since the last change of its size',
  'report-silent': 'the usage report could not be read',
  'report-unreadable': 'rows of the usage report could not be read',
};

const BASES: Readonly<Record<EffectBasis, (days: string) => string>> = {
  'past-days': (days) => `from ${days}`,
  'fixed-size': (days) => `from ${days} and both sizes`,
  'unit-price': (days) => `from ${days} and the size limits; autoscaling decides`,
};

/** The prices with which an estimate is shown, and the UTC day of their use. */
export interface EstimatePrices {
  readonly prices: PriceList | null;
  readonly today: Day;
}

/** `−18.0 credits (−€6.30) per day (−9.0 on quiet days, −26.0 on busy days), from 14 days; storage continues` */
export function estimateText(
  kind: EstimatedKind,
  estimated: CostEstimate,
  timing: Timing | undefined,
  pricing: EstimatePrices,
): string {
  if (!estimated.known) return `unknown: ${UNKNOWN[estimated.why]}`;
  const { perDay, basis, days } = estimated.effect;
  const clauses = [
    `${perDayText(perDay, pricing)}${betweenText(estimated.effect)}, ${BASES[basis](countWords(days, 'day'))}`,
    ...untilRevert(perDay, timing, pricing),
    ...(kind === 'start' ? ['no change if it already runs'] : []),
    ...(kind === 'stop' ? ['storage continues'] : []),
  ];
  return clauses.join('; ');
}

const WEEK_HOURS = 7 * 24;

/** `−41.0 credits (−€14.35) per week, from 14 days; stopped 60 of 168 h; storage continues` */
function weeklySavingText(estimated: CostEstimate, hours: number, pricing: EstimatePrices): string {
  if (!estimated.known) return `not available: ${UNKNOWN[estimated.why]}`;
  const { days } = estimated.effect;
  return [
    `${perWeekText(estimated.effect, hours, pricing)}, from ${countWords(days, 'day')}`,
    `stopped ${+hours.toFixed(1)} of ${WEEK_HOURS} h`,
    'storage continues',
  ].join('; ');
}

/** The saving in few words; undefined where it is unknown. */
function weeklySummary(
  estimated: CostEstimate,
  hours: number,
  pricing: EstimatePrices,
): CostSummary | undefined {
  if (!estimated.known) return undefined;
  const perWeek = perWeekText(estimated.effect, hours, pricing);
  return { perDay: perWeek, withRange: `${perWeek} · storage continues` };
}

/** What a stop saves in the stopped hours of a week: `−41.0 credits (−€14.35) per week`. */
function perWeekText(
  { perDay }: CostChange & { known: true },
  hours: number,
  pricing: EstimatePrices,
): string {
  const about = (perDay.about * hours) / 24;
  return `${signedCredits(microOf(about), moneyPerDay(about, pricing))} per week`;
}

/** The estimate in few words; undefined where it is unknown. */
function estimateSummary(
  kind: EstimatedKind,
  estimated: CostEstimate,
  pricing: EstimatePrices,
): CostSummary | undefined {
  if (!estimated.known) return undefined;
  const { effect } = estimated;
  const perDay = perDayText(effect.perDay, pricing);
  const rest = kind === 'stop' ? ' · storage continues' : '';
  return { perDay, withRange: `${perDay}${betweenText(effect)}${rest}` };
}

type PerDay = (CostChange & { known: true })['perDay'];

/** `−18.0 credits (−€6.30) per day` */
function perDayText({ about }: PerDay, pricing: EstimatePrices): string {
  return `${signedCredits(microOf(about), moneyPerDay(about, pricing))} per day`;
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

/** At the current price; null without one. */
function moneyPerDay(credits: number, { prices, today }: EstimatePrices): Money | null {
  return moneyOver(microOf(credits), [today], prices);
}

function untilRevert(
  { about }: PerDay,
  timing: Timing | undefined,
  pricing: EstimatePrices,
): readonly string[] {
  if (!timing?.revert) return [];
  const { afterMs } = timing.revert;
  const total = (about * afterMs) / DAY_MS;
  const text = signedFigure(microOf(total), moneyPerDay(total, pricing));
  return [`${text} in the ${spanText(afterMs)} until the revert`];
}

export function amount(credits: number): string {
  return figure(microOf(credits));
}

function signed(credits: number): string {
  return signedFigure(microOf(credits));
}
