import { type AnomalyVerdict, usualRange } from '../costs/anomaly/anomaly.ts';
import { type Incident, isOver, muteIncident, type News } from '../costs/anomaly/incident.ts';
import { lastDayOf, type Unusual } from '../costs/anomaly/unusual.ts';
import { watchDay } from '../costs/anomaly/watch.ts';
import type { Day } from '../costs/calendar/day.ts';
import type { DayValue } from '../costs/ledger/row.ts';
import type { WatchedLine } from './watched-lines.ts';

export interface Watching {
  /** The days to be judged, both ends included; what lies before them is the past. */
  readonly first: Day;
  readonly last: Day;
  /** Credits below which nobody is told. */
  readonly minImpact: number;
}

/** What a day of a line brought up. */
export interface AnomalyFindings {
  readonly day: Day;
  readonly news: News;
  readonly unusual: Unusual;
}

export interface Judged {
  /** Incidents that are new or other than they were. */
  readonly changed: readonly Unusual[];
  readonly found: readonly AnomalyFindings[];
  readonly verdicts: readonly { readonly day: Day; readonly verdict: AnomalyVerdict }[];
}

/**
 * Judges the days of one line in their order. `known`: its incidents so far, the oldest first. A
 * day that an incident which is over has counted is not judged again: it had its say.
 */
export function judgeLine(
  line: WatchedLine,
  known: readonly Unusual[],
  watching: Watching,
): Judged {
  let all = known;
  const found: AnomalyFindings[] = [];
  const verdicts: Judged['verdicts'][number][] = [];
  for (const value of line.values) {
    if (value.day < watching.first || value.day > watching.last || isCounted(all, value)) continue;
    const seen = judgeDay(line, all, value, watching.minImpact);
    verdicts.push({ day: value.day, verdict: seen.verdict });
    all = seen.all;
    const newest = all.at(-1);
    if (seen.news && newest) found.push({ day: value.day, news: seen.news, unusual: newest });
  }
  return { changed: all.filter((one) => !known.includes(one)), found, verdicts };
}

function isCounted(all: readonly Unusual[], { day }: DayValue): boolean {
  const newest = all.at(-1);
  return newest !== undefined && isOver(newest.incident) && day <= lastDayOf(newest);
}

function judgeDay(
  line: WatchedLine,
  all: readonly Unusual[],
  value: DayValue,
  minImpact: number,
): {
  readonly all: readonly Unusual[];
  readonly verdict: AnomalyVerdict;
  readonly news: News | null;
} {
  const newest = all.at(-1) ?? null;
  const before = newest?.incident ?? null;
  const baselineFrom = baselineOf(all);
  const seen = watchDay({ incident: before, baselineFrom }, line.values, value, minImpact);
  const { verdict, news } = seen;
  const { incident } = seen.watch;
  if (!incident || incident === before) return { all, verdict, news: null };

  const followed = newest && !isOver(newest.incident) ? newest : null;
  const until = followed ? null : mutedUntil(before, value.day);
  const kept = until ? muteIncident(incident, until) : incident;
  const grown = followed ? { ...followed, ...named(line), incident: kept } : fresh(line, kept);
  const unusual = withPeak(grown, line.values, baselineFrom, minImpact);
  const others = followed ? all.slice(0, -1) : all;
  return { all: [...others, unusual], verdict, news: until ? null : news };
}

/** Where the last new normal, or what a person expected, began. */
function baselineOf(all: readonly Unusual[]): Day | null {
  const restarts = all.filter(({ incident: { state } }) =>
    ['new-normal', 'expected'].includes(state),
  );
  return restarts.at(-1)?.incident.since ?? null;
}

/** Silence lasts as long as was asked for, even where one incident ends and another begins. */
function mutedUntil(before: Incident | null, day: Day): Day | null {
  const until = before?.mutedUntil ?? null;
  return until !== null && day <= until ? until : null;
}

function named({ entityId, entityName, kind, serviceId, name, metric }: WatchedLine) {
  return { entityId, entityName, kind, serviceId, name, metric };
}

function fresh(line: WatchedLine, incident: Incident): Unusual {
  const peak = { day: incident.since, value: 0, range: null };
  return { ...named(line), line: line.id, incident, peak, told: null };
}

/** The day that lies farthest off, as it reads today: a day that was not final may have moved. */
function withPeak(
  unusual: Unusual,
  values: readonly DayValue[],
  from: Day | null,
  minImpact: number,
): Unusual {
  const { days, since } = unusual.incident;
  const [worst] = days
    .filter((day) => day.unusual)
    .toSorted((a, b) => Math.abs(b.excess) - Math.abs(a.excess));
  const value = worst && values.find(({ day }) => day === worst.day);
  if (!value) return unusual;
  const past = values.filter(({ day }) => day < since && (from === null || day >= from));
  const range = usualRange(past, value.day, minImpact);
  return { ...unusual, peak: { day: value.day, value: value.value, range } };
}
