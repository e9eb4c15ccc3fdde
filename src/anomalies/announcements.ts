import type { Direction } from '../costs/anomaly/anomaly.ts';
import { commonCause } from '../costs/anomaly/common-cause.ts';
import { isOver, type News } from '../costs/anomaly/incident.ts';
import { isKin, once, type Unusual } from '../costs/anomaly/unusual.ts';
import type { Day } from '../costs/calendar/day.ts';
import type { AnomalyFindings, Judged } from './anomaly-watch.ts';

/** What a message is to say of one incident. */
export interface OneTelling {
  readonly news: News;
  readonly day: Day;
  readonly unusual: Unusual;
}

/** Most lines moved the same way on one day: a holiday, a price or the data is behind that. */
export interface CrowdTelling {
  readonly day: Day;
  readonly direction: Direction;
  readonly all: readonly Unusual[];
}

export interface Tellings {
  readonly ones: readonly OneTelling[];
  readonly crowds: readonly CrowdTelling[];
}

/** One key for one incident: its line, and the day on which it began. */
export function keyOf({ line, incident }: Unusual): string {
  return `${line}|${incident.since}`;
}

/** The days on which most of the lines judged were unusual in one direction. */
export function crowdDays(judged: readonly Judged[]): ReadonlyMap<Day, Direction> {
  const byDay = Map.groupBy(
    judged.flatMap(({ verdicts }) => verdicts),
    ({ day }) => day,
  );
  const crowds = [...byDay].flatMap(([day, seen]) => {
    const direction = commonCause(seen.map(({ verdict }) => verdict));
    return direction ? [[day, direction] as const] : [];
  });
  return new Map(crowds);
}

/**
 * Which of the news may be worth a message: what was not told yet, once, by the line that says
 * most; then what becomes of those that were told. Whether a channel wants to hear of a notice, it
 * says itself. `all`: every incident as it is now.
 */
export function tellingsOf(
  found: readonly AnomalyFindings[],
  all: readonly Unusual[],
  crowds: ReadonlyMap<Day, Direction>,
): Tellings {
  const justTold = new Set<string>();
  const ones: OneTelling[] = [];
  const crowded: { day: Day; unusual: Unusual }[] = [];
  for (const [key, news] of Map.groupBy(found, ({ unusual }) => keyOf(unusual))) {
    const unusual = all.find((one) => keyOf(one) === key);
    const last = news.at(-1);
    if (!unusual || !last) continue;
    const kin = all.filter((one) => isKin(one, unusual));
    if (kin.some((one) => justTold.has(keyOf(one)))) continue;
    if (kin.some((one) => one.told !== null)) {
      if (unusual.told === 'alone') ones.push({ news: last.news, day: last.day, unusual });
      continue;
    }
    const opened = news.find((one) => one.news === 'opened');
    const isCrowd = opened && crowds.get(opened.day) === unusual.incident.direction;
    const leader = leaderOf(kin);
    if (!leader) continue;
    justTold.add(keyOf(leader));
    if (isCrowd) crowded.push({ day: opened.day, unusual: leader });
    else ones.push({ news: 'opened', day: last.day, unusual: leader });
  }
  return { ones, crowds: crowdsOf(crowded) };
}

/** Of those that go on and may be spoken of the one to tell, as grave as the gravest of them. */
function leaderOf(kin: readonly Unusual[]): Unusual | null {
  const [leader] = once(
    kin.filter(({ incident }) => !isOver(incident) && incident.state !== 'muted'),
  );
  return leader ?? null;
}

function crowdsOf(crowded: readonly { day: Day; unusual: Unusual }[]): readonly CrowdTelling[] {
  const groups = Map.groupBy(crowded, ({ day, unusual }) => `${day} ${unusual.incident.direction}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { direction } = first.unusual.incident;
    return [{ day: first.day, direction, all: group.map(({ unusual }) => unusual) }];
  });
}
