import type { Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import type { DayValue } from '../ledger/row.ts';
import type { LockAge } from '../locking/lock-age.ts';
import { expectedDays, unfit } from './forecast.ts';
import { errorsOf } from './forecast-error.ts';
import { levelOf } from './level.ts';
import { HISTORY_DAYS, settledDays } from './series.ts';

/** The credits from the first day of a span through this day, with the bounds of about 80%. */
export interface SpendPoint {
  readonly day: Day;
  readonly total: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The forecast through each day of a span that contains `today`: each point is what `forecastSpan`
 * returns for the days up to it. Empty without a forecast. Source: docs/costs.md#commitments.
 */
export function spendPath(
  series: readonly DayValue[],
  span: Span,
  today: Day,
  lockAge: LockAge | null,
): readonly SpendPoint[] {
  const reported = series.filter(({ day, value }) => day <= today && Number.isFinite(value));
  const known = settledDays(reported, HISTORY_DAYS);
  if (unfit(known, today, lockAge)) return [];

  const error = errorsOf(known);
  let [sure, open, openDays] = [0, 0, 0];
  return expectedDays(reported, levelOf(known), span, today).map(({ day, credits, isOpen }) => {
    sure += isOpen ? 0 : credits;
    open += isOpen ? credits : 0;
    openDays += isOpen ? 1 : 0;
    const share = openDays === 0 ? 0 : error(openDays).share;
    const low = sure + open * Math.max(0, 1 - share);
    return { day, total: sure + open, low, high: sure + open * (1 + share) };
  });
}
