import type { Day } from '../base/time.ts';
import type { Direction } from '../maths/anomalies.ts';
import {
  type CostAnomaly,
  commonCause,
  isOver,
  isRelated,
  mergeRelated,
  type News,
} from '../maths/anomalies.ts';
import type { IncidentNews, LineJudgement } from './judge-line.ts';

/** A message about one anomaly. */
export interface AnomalyAnnouncement {
  readonly news: News;
  readonly day: Day;
  readonly anomaly: CostAnomaly;
}

/** A message about a day on which most lines moved the same way, probably for one reason. */
export interface CommonCauseAnnouncement {
  readonly day: Day;
  readonly direction: Direction;
  readonly all: readonly CostAnomaly[];
}

export interface AnomalyAnnouncements {
  readonly alone: readonly AnomalyAnnouncement[];
  readonly commonCauses: readonly CommonCauseAnnouncement[];
}

/** Identifies an incident by its line and its first day. */
export function incidentKey({ line, incident }: CostAnomaly): string {
  return `${line}|${incident.since}`;
}

/** The days on which most of the judged lines were unusual in one direction. */
export function commonCauseDays(judged: readonly LineJudgement[]): ReadonlyMap<Day, Direction> {
  const byDay = Map.groupBy(
    judged.flatMap(({ verdicts }) => verdicts),
    ({ day }) => day,
  );
  const days = [...byDay].flatMap(([day, seen]) => {
    const direction = commonCause(seen.map(({ verdict }) => verdict));
    return direction ? [[day, direction] as const] : [];
  });
  return new Map(days);
}

/**
 * The news that deserve a message. Of several related lines, the most specific one is announced,
 * once. Later news follow only for an anomaly that was announced alone. `all`: the current state
 * of every incident.
 */
export function selectAnnouncements(
  found: readonly IncidentNews[],
  all: readonly CostAnomaly[],
  commonDays: ReadonlyMap<Day, Direction>,
): AnomalyAnnouncements {
  const selected = new Set<string>();
  const alone: AnomalyAnnouncement[] = [];
  const common: { day: Day; anomaly: CostAnomaly }[] = [];
  for (const [key, news] of Map.groupBy(found, ({ anomaly }) => incidentKey(anomaly))) {
    const anomaly = all.find((one) => incidentKey(one) === key);
    const last = news.at(-1);
    if (!anomaly || !last) continue;
    const related = all.filter((one) => isRelated(one, anomaly));
    if (related.some((one) => selected.has(incidentKey(one)))) continue;
    if (related.some((one) => one.announced !== null)) {
      if (anomaly.announced === 'alone') alone.push({ news: last.news, day: last.day, anomaly });
      continue;
    }
    const leader = leaderOf(related);
    if (!leader) continue;
    selected.add(incidentKey(leader));
    const opened = news.find((one) => one.news === 'opened');
    const isCommon = opened && commonDays.get(opened.day) === anomaly.incident.direction;
    if (isCommon) common.push({ day: opened.day, anomaly: leader });
    else alone.push({ news: 'opened', day: last.day, anomaly: leader });
  }
  return { alone, commonCauses: commonCausesOf(common) };
}

/** The anomaly to announce for related lines, with the highest tier of all of them. */
function leaderOf(related: readonly CostAnomaly[]): CostAnomaly | null {
  const open = ({ incident }: CostAnomaly) => !isOver(incident) && incident.state !== 'muted';
  return mergeRelated(related.filter(open))[0] ?? null;
}

function commonCausesOf(
  common: readonly { day: Day; anomaly: CostAnomaly }[],
): readonly CommonCauseAnnouncement[] {
  const groups = Map.groupBy(common, ({ day, anomaly }) => `${day} ${anomaly.incident.direction}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { direction } = first.anomaly.incident;
    return [{ day: first.day, direction, all: group.map(({ anomaly }) => anomaly) }];
  });
}
