import { setImmediate as breathe } from 'node:timers/promises';
import { minImpactOf } from '../costs/anomaly/anomaly.ts';
import { isOver } from '../costs/anomaly/incident.ts';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { HISTORY_DAYS } from '../costs/forecast/series.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import { crowdDays, keyOf, type Tellings, tellingsOf } from './announcements.ts';
import { type Judged, judgeLine } from './anomaly-watch.ts';
import { type SlowRises, slowRises } from './slow-rises.ts';
import { watchedLines } from './watched-lines.ts';

export interface Look {
  readonly rows: readonly CostRow[];
  /** All incidents that are remembered, the oldest first. */
  readonly known: readonly Unusual[];
  readonly first: Day;
  readonly last: Day;
  /** At the very first look nothing is told: what was before it watched is no news. */
  readonly quiet: boolean;
  /** Whether slow rises are looked for as well. */
  readonly weekly: boolean;
}

export interface Looked {
  readonly lines: number;
  readonly changed: readonly Unusual[];
  readonly tellings: Tellings;
  readonly rises: SlowRises | null;
}

const AT_ONCE = 5;
const NOTHING: Tellings = { ones: [], crowds: [] };

/** The history that the first of the days is held against. */
export function lookSpan(first: Day, last: Day): Span {
  return { first: addDays(first, -HISTORY_DAYS), last };
}

/** Judges every line; thousands of them take seconds, in which others get their turns. */
export async function lookAt(look: Look): Promise<Looked> {
  const { rows, known, first, last, quiet, weekly } = look;
  const span = lookSpan(first, last);
  const minImpact = minImpactOf(seriesOf(rows, {}, span));
  const lines = watchedLines(rows, span, minImpact);
  const ofLine = Map.groupBy(known, ({ line }) => line);
  const judged: Judged[] = [];
  for (const [index, line] of lines.entries()) {
    judged.push(judgeLine(line, ofLine.get(line.id) ?? [], { first, last, minImpact }));
    if (index % AT_ONCE === AT_ONCE - 1) await breathe();
  }
  const changed = judged.flatMap((one) => one.changed);
  const tellings = quiet ? NOTHING : tellingsFor(judged, known, changed);
  const rises = weekly ? slowRises(lines, [...known, ...changed], { last, minImpact }) : null;
  return { lines: lines.length, changed, tellings, rises };
}

function tellingsFor(
  judged: readonly Judged[],
  known: readonly Unusual[],
  changed: readonly Unusual[],
): Tellings {
  const now = new Map(known.map((one) => [keyOf(one), one]));
  for (const one of changed) now.set(keyOf(one), one);
  const found = judged.flatMap((one) => one.found);
  const isNews = new Set(found.map(({ unusual }) => keyOf(unusual)));
  const all = [...now].filter(([key, one]) => isNews.has(key) || !isOver(one.incident));
  return tellingsOf(
    found,
    all.map(([, one]) => one),
    crowdDays(judged),
  );
}
