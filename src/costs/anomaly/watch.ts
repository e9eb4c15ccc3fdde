import { type Day, daysBetween } from '../calendar/day.ts';
import type { DayValue } from '../ledger/row.ts';
import { type AnomalyTier, type AnomalyVerdict, judge } from './anomaly.ts';
import { commonCause } from './common-cause.ts';
import { followIncident, type Incident, isOver, type News, openIncident } from './incident.ts';

/** What is remembered of a line from one day to the next. */
export interface Watch {
  readonly incident: Incident | null;
  /** The first day of the baseline: the onset of the last new normal. */
  readonly baselineFrom: Day | null;
}

export const NEW_WATCH: Watch = { incident: null, baselineFrom: null };

export interface WatchedDay {
  readonly watch: Watch;
  readonly verdict: AnomalyVerdict;
  readonly news: News | null;
}

/**
 * Tests one day of a line and moves its incident on. While there is one, a day is held against
 * those before the onset; after a new normal, or one that a person expected, against those since.
 * Source: docs/costs.md#incidents.
 */
export function watchDay(
  { incident: last, baselineFrom }: Watch,
  series: readonly DayValue[],
  day: DayValue,
  minImpact: number,
): WatchedDay {
  const current = last && !isOver(last) ? last : null;
  const verdict = judge(baselineDays(series, baselineFrom, current), day, minImpact);
  const { incident, news } = current
    ? followIncident(current, verdict, day.day, day.final)
    : openIncident(verdict, day.day, day.final);
  const watch = { incident: incident ?? last, baselineFrom };
  return { watch: withNewBaseline(watch), verdict, news };
}

/** The baseline starts again where what is now normal, or was expected, began. */
export function withNewBaseline(watch: Watch): Watch {
  const { incident } = watch;
  const isNormal = incident?.state === 'new-normal' || incident?.state === 'expected';
  return isNormal ? { incident, baselineFrom: incident.since } : watch;
}

function baselineDays(
  series: readonly DayValue[],
  from: Day | null,
  incident: Incident | null,
): readonly DayValue[] {
  const until = incident?.since;
  return series.filter(({ day }) => (!from || day >= from) && (!until || day < until));
}

export interface WatchedSeries {
  readonly id: string;
  readonly series: readonly DayValue[];
}

/** What would have been posted on one day; a common cause stands for all of its lines. */
export interface AnomalyPost {
  readonly day: Day;
  readonly line: string | null;
  readonly news: News | 'common-cause';
  readonly tier: AnomalyTier;
}

/**
 * Replays these days as if each were judged once, final, in its turn: the evidence for or against
 * a setting in an organisation's own past. Openings of a day with a common cause are one posting.
 */
export function replay(
  lines: readonly WatchedSeries[],
  first: Day,
  last: Day,
  minImpact: number,
): readonly AnomalyPost[] {
  const watches = new Map<string, Watch>();
  const indexed = lines.map(({ id, series }) => ({ id, series, days: byDay(series) }));
  return daysBetween(first, last).flatMap((day) => {
    const watched = indexed.flatMap(({ id, series, days }) => {
      const value = days.get(day);
      if (!value) return [];
      const seen = watchDay(watches.get(id) ?? NEW_WATCH, series, value, minImpact);
      watches.set(id, seen.watch);
      return [{ id, ...seen }];
    });
    return postingsOf(day, watched);
  });
}

function byDay(series: readonly DayValue[]): ReadonlyMap<Day, DayValue> {
  return new Map(series.filter(({ final }) => final).map((value) => [value.day, value]));
}

function postingsOf(
  day: Day,
  watched: readonly (WatchedDay & { id: string })[],
): readonly AnomalyPost[] {
  const crowd = commonCause(watched.map(({ verdict }) => verdict));
  const told = watched.flatMap(({ id, news, watch: { incident } }) => {
    const isOfCrowd = news === 'opened' && crowd !== null && incident?.direction === crowd;
    if (news === null || !incident || isOfCrowd) return [];
    return [{ day, line: id, news, tier: incident.tier }];
  });
  const common: AnomalyPost = { day, line: null, news: 'common-cause', tier: 'alert' };
  return crowd === null ? told : [common, ...told];
}
