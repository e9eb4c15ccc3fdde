/** Judges the days of each line of costs, and follows its incidents. */
import type { Span } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import {
  type AnomalyVerdict,
  type CostAnomaly,
  followIncident,
  type Incident,
  isOver,
  judge,
  lastDayOf,
  muteIncident,
  type News,
  openIncident,
  usualRange,
} from '../maths/anomalies.ts';
import { isSettled } from '../maths/days.ts';
import { allSeries, METRIC_NAMES } from '../maths/lines.ts';
import { type CostRow, type DayValue, entityKey, type Metric } from '../maths/rows.ts';
import { type SettledDay, settledDays } from '../maths/statistics.ts';

/** A daily series of costs that is watched, with the names of its entity. */
export interface WatchedLine
  extends Pick<CostAnomaly, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'name' | 'metric'> {
  readonly id: string;
  readonly values: readonly DayValue[];
}

type Entity = Pick<WatchedLine, 'entityId' | 'entityName' | 'kind' | 'serviceId'>;

/**
 * The total of every entity and each of its metrics. A line that never reached `least` credits on
 * one day is left out, because it cannot deviate by that much.
 */
export function watchedLines(
  rows: readonly CostRow[],
  span: Span,
  least: number,
): readonly WatchedLine[] {
  const entities = new Map<string, Entity & { day: Day }>();
  const kinds = new Map<string, Set<string>>();
  for (const row of rows) {
    const { day, entityId, entityName, kind, serviceId } = row;
    const newest = entities.get(entityKey(row));
    if (!newest) kinds.set(entityId, (kinds.get(entityId) ?? new Set()).add(kind));
    if (!newest || newest.day <= day) {
      entities.set(entityKey(row), { day, entityId, entityName, kind, serviceId });
    }
  }
  // Stored incidents have the plain id. Only an entity that shares its id needs its kind as well.
  const idOf = (key: string, owner: Entity) => {
    const isShared = kinds.get(owner.entityId)?.size !== 1;
    return isShared ? key : owner.entityId + key.slice(entityKey(owner).length);
  };
  const totals = allSeries(rows, 'entity', span).map((line) => ({
    ...line,
    of: line.key,
    metric: null,
  }));
  const metrics = allSeries(rows, 'entity-metric', span).map((line) => ({
    ...line,
    ...splitKey(line.key),
  }));
  return [...totals, ...metrics].flatMap(({ key, values, of, metric }) => {
    const owner = entities.get(of);
    if (!owner || !values.some(({ value }) => value >= least)) return [];
    return [{ ...named(owner, metric), id: idOf(key, owner), values }];
  });
}

// The name of a metric has no space, but an id of the API may have one.
function splitKey(key: string) {
  const at = key.lastIndexOf(' ');
  return { of: key.slice(0, at), metric: key.slice(at + 1) };
}

function named({ entityId, entityName, kind, serviceId }: Entity, metric: string | null) {
  const shown = kind === 'warehouse' ? `warehouse ${entityName}` : entityName;
  const what = metric === null ? null : metricName(metric);
  const name = what === null ? shown : `${shown} · ${what}`;
  return { entityId, entityName, kind, serviceId, metric: what, name };
}

function metricName(metric: string): string {
  // The only other key is the part that the report does not break down.
  return METRIC_NAMES[metric as Metric] ?? 'not broken down';
}

interface JudgedDays {
  /** The days to judge, both ends included. Earlier days are history. */
  readonly first: Day;
  readonly last: Day;
  /** Credits: a smaller deviation is not an anomaly. */
  readonly minImpact: number;
}

/** News about an incident of a line, from one day. */
export interface IncidentNews {
  readonly day: Day;
  readonly news: News;
  readonly anomaly: CostAnomaly;
}

export interface LineJudgement {
  /** Anomalies that are new or changed. */
  readonly changed: readonly CostAnomaly[];
  readonly found: readonly IncidentNews[];
  readonly verdicts: readonly { readonly day: Day; readonly verdict: AnomalyVerdict }[];
}

/**
 * Judges the days of one line in order. `known`: its anomalies so far, oldest first. A day that an
 * incident counted is not judged again once that incident is over.
 */
export function judgeLine(
  line: WatchedLine,
  known: readonly CostAnomaly[],
  { first, last, minImpact }: JudgedDays,
): LineJudgement {
  const settled = { ...line, days: settledDays(line.values) };
  let all = known;
  const found: IncidentNews[] = [];
  const verdicts: LineJudgement['verdicts'][number][] = [];
  for (const value of line.values) {
    const { day } = value;
    if (day < first || day > last || isCounted(all, day)) continue;
    const judged = judgeDay(settled, all, value, minImpact);
    verdicts.push({ day, verdict: judged.verdict });
    all = judged.all;
    const anomaly = all.at(-1);
    if (judged.news && anomaly) found.push({ day, news: judged.news, anomaly });
  }
  return { changed: all.filter((one) => !known.includes(one)), found, verdicts };
}

function isCounted(all: readonly CostAnomaly[], day: Day): boolean {
  const newest = all.at(-1);
  return newest !== undefined && isOver(newest.incident) && day <= lastDayOf(newest.incident);
}

interface SettledLine extends WatchedLine {
  /** The settled days of `values`, in order. */
  readonly days: readonly SettledDay[];
}

interface DayJudgement {
  readonly all: readonly CostAnomaly[];
  readonly verdict: AnomalyVerdict;
  readonly news: News | null;
}

function judgeDay(
  line: SettledLine,
  all: readonly CostAnomaly[],
  value: DayValue,
  minImpact: number,
): DayJudgement {
  const newest = all.at(-1) ?? null;
  const before = newest?.incident ?? null;
  const baselineFrom = baselineOf(all);
  const watched = watchDay({ incident: before, baselineFrom }, line.days, value, minImpact);
  const { verdict, news } = watched;
  const { incident } = watched.watch;
  if (!incident || incident === before) return { all, verdict, news: null };

  const followed = newest && !isOver(newest.incident) ? newest : null;
  const until = followed ? null : mutedUntil(before, value.day);
  const current = until ? muteIncident(incident, until) : incident;
  const updated = followed
    ? { ...followed, ...namesOf(line), incident: current }
    : newAnomaly(line, current);
  const anomaly = withPeak(updated, line, baselineFrom, minImpact);
  const others = followed ? all.slice(0, -1) : all;
  return { all: [...others, anomaly], verdict, news: until ? null : news };
}

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

/** The first day of the last new normal or expected incident: a new baseline starts there. */
function baselineOf(all: readonly CostAnomaly[]): Day | null {
  const restarts = all.filter(({ incident: { state } }) =>
    ['new-normal', 'expected'].includes(state),
  );
  return restarts.at(-1)?.incident.since ?? null;
}

/** A mute lasts until its day, even if one incident ends and another begins before it. */
function mutedUntil(before: Incident | null, day: Day): Day | null {
  const until = before?.mutedUntil ?? null;
  return until !== null && day <= until ? until : null;
}

function namesOf({ entityId, entityName, kind, serviceId, name, metric }: WatchedLine) {
  return { entityId, entityName, kind, serviceId, name, metric };
}

function newAnomaly(line: WatchedLine, incident: Incident): CostAnomaly {
  const peak = { day: incident.since, value: 0, range: null };
  return { ...namesOf(line), line: line.id, incident, peak, announced: null };
}

/** With the day of the largest deviation, at its current value: it may have changed until final. */
function withPeak(
  anomaly: CostAnomaly,
  { values, days: settled }: SettledLine,
  baselineFrom: Day | null,
  minImpact: number,
): CostAnomaly {
  const { days, since } = anomaly.incident;
  const [worst] = days
    .filter((day) => day.unusual)
    .toSorted((a, b) => Math.abs(b.excess) - Math.abs(a.excess));
  const value = worst && values.find(({ day }) => day === worst.day);
  if (!value) return anomaly;
  const isHistory = ({ day }: DayValue) =>
    day < since && (baselineFrom === null || day >= baselineFrom);
  const range = usualRange(settled.filter(isHistory), value.day, minImpact);
  return { ...anomaly, peak: { day: value.day, value: value.value, range } };
}
