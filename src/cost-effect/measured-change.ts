import type { Span } from '../base/calendar.ts';
import { addDays, dayOf } from '../base/time.ts';
import { type Change, targetKey } from '../domain/change.ts';
import type { PriceList } from '../maths/money.ts';
import type { CostReading } from '../maths/report.ts';
import { HISTORY_DAYS } from '../maths/statistics.ts';
import type { Database } from '../storage/engine/database.ts';
import { measuredText } from './effect-text.ts';
import { computeOf } from './estimate.ts';
import type { CommandEffects } from './executed-changes.ts';
import { estimatedKind, lastCostChanges } from './executed-changes.ts';
import { measureAfter } from './measured-after.ts';

/** The longer first: the shorter one is shown until the days of the longer one are settled. */
const AFTER_DAYS = [7, 3] as const;

interface MeasureContext {
  readonly database: Database;
  readonly commands: CommandEffects;
  readonly prices: PriceList | null;
  readonly now: () => Date;
  /** Reads the stored usage report. */
  readonly costs: (span: Span) => Promise<CostReading>;
}

/** Returns the measured cost effect of a change as a sentence; null while there is none. */
type MeasureEffect = (change: Change) => Promise<string | null>;

/** Returns the function that measures the cost effect of a change. Source: docs/costs.md#measured-effect. */
export function createEffectMeasurement(context: MeasureContext): MeasureEffect {
  return async ({ id, state, command, plan, outcome }) => {
    const kind = estimatedKind(context.commands, command);
    // The run of a schedule lasts some hours, so it has no effect on whole days.
    if (state !== 'succeeded' || !outcome || !kind || plan.timing?.schedule) return null;
    const changedOn = dayOf(outcome.at);
    const today = dayOf(context.now());
    const first = addDays(changedOn, -HISTORY_DAYS);
    const ofAll = await lastCostChanges(context.database.db, first, context.commands);
    const [last, before] = ofAll.filter((one) => one.targetKey === targetKey(plan.target));
    if (last?.id !== id) return null;

    const end = addDays(changedOn, Math.max(...AFTER_DAYS));
    const yesterday = addDays(today, -1);
    const span = { first, last: end < yesterday ? end : yesterday };
    const { rows, gaps } = await context.costs(span);
    if (gaps.length > 0) return null;
    const series = computeOf(kind, plan.target.id, rows, span);
    const heldFrom = before ? dayOf(before.at) : null;
    const [measured] = AFTER_DAYS.flatMap(
      (days) => measureAfter(series, changedOn, days, heldFrom) ?? [],
    );
    const { perDay = null, share = null } = plan.cost ?? {};
    const pricing = { prices: context.prices, today };
    return measured ? measuredText(measured, { perDay, share }, pricing) : null;
  };
}
