import { type Day, daysBetween } from '../calendar/day.ts';
import { type SettledDay, settledDays } from '../forecast/series.ts';
import type { DayValue } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';
import { type AnomalyTier, type AnomalyVerdict, judge } from './anomaly.ts';
import { commonCause } from './common-cause.ts';
import { followIncident, type Incident, isOver, type News, openIncident } from './incident.ts';

/** The state of a watched line after its last judged day. */
interface Watch {
  readonly incident: Incident | null;
  /** The first day of the baseline: that of the last new normal or expected incident. */
  readonly baselineFrom: Day | null;
}

export const NEW_WATCH: Watch = { incident: null, baselineFrom: null };

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

export interface WatchedSeries {
  readonly id: string;
  readonly series: readonly DayValue[];
}

/** A message that would have been posted; a common cause is one message for all of its lines. */
export interface AnomalyPost {
  readonly day: Day;
  readonly line: string | null;
  readonly news: News | 'common-cause';
  readonly tier: AnomalyTier;
}

/**
 * Judges past settled days in order, each once, and returns the messages that would have been
 * posted. The incidents that open on a day with a common cause are one message.
 */
export function replay(
  lines: readonly WatchedSeries[],
  first: Day,
  last: Day,
  minImpact: number,
): readonly AnomalyPost[] {
  const watches = new Map<string, Watch>();
  const indexed = lines.map(({ id, series }) => ({
    id,
    days: settledDays(series),
    values: byDay(series),
  }));
  return daysBetween(first, last).flatMap((day) => {
    const watched = indexed.flatMap(({ id, days, values }) => {
      const value = values.get(day);
      if (!value) return [];
      const seen = watchDay(watches.get(id) ?? NEW_WATCH, days, value, minImpact);
      watches.set(id, seen.watch);
      return [{ id, ...seen }];
    });
    return postingsOf(day, watched);
  });
}

function byDay(series: readonly DayValue[]): ReadonlyMap<Day, DayValue> {
  return new Map(series.filter(isSettled).map((value) => [value.day, value]));
}

function postingsOf(
  day: Day,
  watched: readonly (WatchedDay & { id: string })[],
): readonly AnomalyPost[] {
  const direction = commonCause(watched.map(({ verdict }) => verdict));
  const posts = watched.flatMap(({ id, news, watch: { incident } }) => {
    const isCommon = news === 'opened' && direction !== null && incident?.direction === direction;
    if (news === null || !incident || isCommon) return [];
    return [{ day, line: id, news, tier: incident.tier }];
  });
  const common: AnomalyPost = { day, line: null, news: 'common-cause', tier: 'alert' };
  return direction === null ? posts : [common, ...posts];
}
