import type { Logger } from 'pino';
import type { Span } from '../base/calendar.ts';
import { TimeoutError, withTimeout } from '../base/errors.ts';
import { dayOf } from '../base/time.ts';
import { readWeeklyPlan, stoppedHours, type WeeklyPlan } from '../base/weekly-times.ts';
import { utcStamp } from '../domain/answer.ts';
import type { CostEffect, EstimateCost, Plan } from '../domain/change.ts';
import { timesOf } from '../domain/schedules.ts';
import type { Service } from '../domain/targets.ts';
import type { PriceList } from '../maths/money.ts';
import type { CostReading } from '../maths/report.ts';
import type { Database } from '../storage/engine/database.ts';
import {
  CREATION_TEXT,
  estimateSummary,
  estimateText,
  weeklySavingText,
  weeklySummary,
} from './effect-text.ts';
import { type CostEstimate, estimate, historySpan } from './estimate.ts';
import {
  type CommandEffects,
  type EstimatedKind,
  lastCostChanges,
  lastResize,
  lastTimes,
} from './executed-changes.ts';

/** The requester waits for the preview: after this long the cost is shown as unknown. */
const TIMEOUT_MS = 2_000;

const NO_REPORT: CostEstimate = { known: false, why: 'report-silent' };

interface EstimatorContext {
  readonly database: Database;
  readonly commands: CommandEffects;
  readonly services: () => readonly Service[];
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly prices: PriceList | null;
  readonly log: Logger;
  readonly now: () => Date;
}

/** Returns the function that estimates the cost effect of a plan; see docs/costs.md. */
export function createCostEstimator(context: EstimatorContext): EstimateCost {
  return async ({ effect }, plan) => {
    if (effect === undefined) return undefined;
    if (effect === 'create') return withoutFigures(CREATION_TEXT);
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

function stoppedIn(plan: Plan, now: Date): number {
  return stoppedHours(weeklyPlanIn(plan), now);
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

async function estimateNow(
  context: EstimatorContext,
  effect: EstimatedEffect,
  plan: Plan,
): Promise<CostEffect> {
  const kind = effect === 'schedule' ? 'stop' : effect;
  const today = dayOf(context.now());
  const span = historySpan(today);
  const { db } = context.database;
  const [read, changes, sizedAt] = await Promise.all([
    context.costs(span),
    lastCostChanges(db, span.first, context.commands),
    kind === 'scale' ? lastResize(db, span.first, plan.target, context.commands) : null,
  ]);
  const { rows, gaps } = read;
  const ranAt = lastTimes(changes);
  const estimated = estimate(kind, plan, {
    rows,
    today,
    services: context.services(),
    ranAt,
    sizedAt,
  });
  // With a month missing, too few days is a property of the report and not of the service.
  const shown = !estimated.known && gaps.length > 0 ? NO_REPORT : estimated;
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
  return `; the usage report did not answer (${parts.join(', ')})`;
}
