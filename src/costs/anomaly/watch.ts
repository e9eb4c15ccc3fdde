import type { Day } from '../../base/time.ts';
import {
  type AnomalyVerdict,
  followIncident,
  type Incident,
  isOver,
  judge,
  type News,
  openIncident,
} from '../../maths/anomalies.ts';
import { isSettled } from '../../maths/days.ts';
import type { DayValue } from '../../maths/rows.ts';
import type { SettledDay } from '../../maths/statistics.ts';

/** The state of a watched line after its last judged day. */
interface Watch {
  readonly incident: Incident | null;
  /** The first day of the baseline: that of the last new normal or expected incident. */
  readonly baselineFrom: Day | null;
}

interface WatchedDay {
  readonly watch: Watch;
  readonly verdict: AnomalyVerdict;
  readonly news: News | null;
}

/**
 * Judges one day of a line and updates its incident. `days`: the settled days of the line, in order.
 * During an incident, the baseline is the days before it. After a new normal or an expected incident,
 * the baseline is the days since its start.
 * Source: docs/costs.md#incidents.
 */
export function watchDay(
  { incident: last, baselineFrom }: Watch,
  days: readonly SettledDay[],
  day: DayValue,
  minImpact: number,
): WatchedDay {
  const current = last && !isOver(last) ? last : null;
  const verdict = judge(baselineDays(days, baselineFrom, current), day, minImpact);
  const { incident, news } = current
    ? followIncident(current, verdict, day.day, isSettled(day))
    : openIncident(verdict, day.day, isSettled(day));
  const watch = { incident: incident ?? last, baselineFrom };
  return { watch: withNewBaseline(watch), verdict, news };
}

/** A new normal or an expected incident starts a new baseline. */
export function withNewBaseline(watch: Watch): Watch {
  const { incident } = watch;
  const isNormal = incident?.state === 'new-normal' || incident?.state === 'expected';
  return isNormal ? { incident, baselineFrom: incident.since } : watch;
}

function baselineDays(
  days: readonly SettledDay[],
  from: Day | null,
  incident: Incident | null,
): readonly SettledDay[] {
  const until = incident?.since;
  if (!from && !until) return days;
  return days.filter(({ day }) => (!from || day >= from) && (!until || day < until));
}
