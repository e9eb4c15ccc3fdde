import { addDays, dayOf } from '../base/time.ts';
import type { Change } from '../domain/change.ts';
import { effectOfChange } from '../maths/anomalies.ts';
import { bracketed, changeText } from '../maths/numbers.ts';
import { HISTORY_DAYS } from '../maths/statistics.ts';
import { missingText } from './budgets.ts';
import {
  amount,
  computeOf,
  type EstimatorContext,
  estimatedKind,
  lastCostChanges,
} from './estimate.ts';

/** The days after a change that are measured. */
const AFTER_DAYS = 7;
const LEAST_AFTER_DAYS = 3;

/** `costs` reads the stored usage report. */
type MeasureContext = Pick<
  EstimatorContext,
  'events' | 'organization' | 'commands' | 'now' | 'costs'
>;

/**
 * Returns the function that measures the cost effect of a change, from its third whole day on: as one
 * sentence, null while there is none. Source: docs/costs.md#measured-effect.
 */
export function createEffectMeasurement(
  context: MeasureContext,
): (change: Change) => Promise<string | null> {
  return async ({ id, state, command, plan, outcome }) => {
    const kind = estimatedKind(context.commands, command);
    // The run of a schedule lasts some hours, so it has no effect on whole days.
    if (state !== 'succeeded' || !outcome || !kind || plan.timing?.schedule) return null;
    const changedOn = dayOf(outcome.at);
    const today = dayOf(context.now());
    const first = addDays(changedOn, -HISTORY_DAYS);
    const [last, before] = await lastCostChanges(context, plan.target);
    if (last?.id !== id) return null;

    const end = addDays(changedOn, AFTER_DAYS);
    const yesterday = addDays(today, -1);
    const span = { first, last: end < yesterday ? end : yesterday };
    const read = await context.costs(span, plan.target.organization?.id);
    if (read.gaps.length > 0 || missingText(read, span) !== null) return null;
    const { rows } = read;
    const heldFrom = before?.outcome ? dayOf(before.outcome.at) : null;
    const series = computeOf(kind, plan.target.id, rows, span);
    const values = series.filter(({ day }) => heldFrom === null || day > heldFrom);
    const measured = effectOfChange({ day: changedOn }, { values });
    if (!measured || measured.days < LEAST_AFTER_DAYS) return null;
    const { usual, perDay, days } = measured;
    const share = usual > 0 ? changeText(perDay / usual) : null;
    const now = `${days} days later: compute ${amount(usual)} → ${amount(usual + perDay)} per day`;
    return `${now}${bracketed(share)}${usual > 0 ? estimateNote(plan.cost?.share ?? null) : ''}.`;
  };
}

/** What the preview expected. */
function estimateNote(share: number | null): string {
  return share === null ? '' : `; estimate ${changeText(share)}`;
}
