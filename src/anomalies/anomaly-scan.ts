import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Span } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import type { CostAnomaly } from '../maths/anomalies.ts';
import { isOver, minImpactOf } from '../maths/anomalies.ts';
import { seriesOf } from '../maths/lines.ts';
import type { CostRow } from '../maths/rows.ts';
import { HISTORY_DAYS } from '../maths/statistics.ts';
import {
  type AnomalyAnnouncements,
  commonCauseDays,
  incidentKey,
  selectAnnouncements,
} from './announcements.ts';
import { judgeLine, type LineJudgement } from './judge-line.ts';
import { watchedLines } from './watched-lines.ts';

interface ScanInput {
  readonly rows: readonly CostRow[];
  /** All stored incidents, oldest first. */
  readonly known: readonly CostAnomaly[];
  readonly first: Day;
  readonly last: Day;
  /** The first scan announces nothing: its anomalies began before the watch did. */
  readonly quiet: boolean;
}

export interface ScanResult {
  readonly lines: number;
  readonly changed: readonly CostAnomaly[];
  readonly announcements: AnomalyAnnouncements;
}

const LINES_PER_TURN = 5;
const NOTHING: AnomalyAnnouncements = { alone: [], commonCauses: [] };

/** The days from which rows are needed to judge these days. */
export function scanSpan(first: Day, last: Day): Span {
  return { first: addDays(first, -HISTORY_DAYS), last };
}

/** Judges every line. Thousands of lines take seconds, so the scan yields between them. */
export async function scanLines(input: ScanInput): Promise<ScanResult> {
  const { rows, known, first, last, quiet } = input;
  const span = scanSpan(first, last);
  const minImpact = minImpactOf(seriesOf(rows, {}, span));
  const lines = watchedLines(rows, span, minImpact);
  const byLine = Map.groupBy(known, ({ line }) => line);
  const judged: LineJudgement[] = [];
  for (const [index, line] of lines.entries()) {
    judged.push(judgeLine(line, byLine.get(line.id) ?? [], { first, last, minImpact }));
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await yieldToOthers();
  }
  const changed = judged.flatMap((one) => one.changed);
  const announcements = quiet ? NOTHING : announcementsFor(judged, known, changed);
  return { lines: lines.length, changed, announcements };
}

function announcementsFor(
  judged: readonly LineJudgement[],
  known: readonly CostAnomaly[],
  changed: readonly CostAnomaly[],
): AnomalyAnnouncements {
  const current = new Map([...known, ...changed].map((one) => [incidentKey(one), one]));
  const found = judged.flatMap((one) => one.found);
  const withNews = new Set(found.map(({ anomaly }) => incidentKey(anomaly)));
  const all = [...current].filter(([key, one]) => withNews.has(key) || !isOver(one.incident));
  return selectAnnouncements(
    found,
    all.map(([, one]) => one),
    commonCauseDays(judged),
  );
}
