import type { Day } from '../base/time.ts';
import { watchDay } from '../costs/anomaly/watch.ts';
import {
  type AnomalyVerdict,
  type CostAnomaly,
  type Incident,
  isOver,
  lastDayOf,
  muteIncident,
  type News,
  usualRange,
} from '../maths/anomalies.ts';
import type { DayValue } from '../maths/rows.ts';
import { type SettledDay, settledDays } from '../maths/statistics.ts';
import type { WatchedLine } from './watched-lines.ts';

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
  return newest !== undefined && isOver(newest.incident) && day <= lastDayOf(newest);
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
