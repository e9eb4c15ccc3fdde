import { addDays, type Day } from '../calendar/day.ts';
import { median, quantile } from '../forecast/robust.ts';
import { historyOf } from '../forecast/series.ts';
import { profileOf, withoutWeekdays } from '../forecast/weekday.ts';
import type { DayValue } from '../ledger/row.ts';

/** Credits per day in the last 7 settled days, and in the 28 days before. */
interface LevelRise {
  readonly now: number;
  readonly before: number;
}

const RECENT = 7;
const EARLIER = 28;
const LEAST_RISE = 1.2;
const LEAST_ABOVE = 6;

/**
 * A slow rise without any single unusual day; checked once a week. Adjusted for weekdays, the median
 * of the last 7 settled days up to `last` is at least 20% and minImpact above that of the 28 days
 * before, and at least 6 of the 7 days are above the upper quartile of those. Null: no such rise, or
 * fewer than 35 settled days. Source: docs/costs.md#slow-rises.
 */
export function findSlowRise(
  series: readonly DayValue[],
  last: Day,
  minImpact: number,
): LevelRise | null {
  const history = historyOf(series, addDays(last, 1));
  if (history.length < RECENT + EARLIER) return null;

  const profile = profileOf(history);
  const evened = withoutWeekdays(history, profile);
  const recent = evened.slice(-RECENT);
  const earlier = evened.slice(-RECENT - EARLIER, -RECENT);
  const [now, before] = [median(recent), median(earlier)];
  if (now < LEAST_RISE * before || now - before < minImpact) return null;

  const quartile = quantile(earlier, 0.75);
  return recent.filter((value) => value > quartile).length >= LEAST_ABOVE ? { now, before } : null;
}
