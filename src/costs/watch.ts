import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Span, spanOfBoth } from '../base/calendar.ts';
import { traced } from '../base/log.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import { enqueueReport } from '../log/old/announcement.ts';
import { type CostAnomaly, isOver, minImpactOf } from '../maths/anomalies.ts';
import { dayStates, lastSettledDay } from '../maths/days.ts';
import { seriesOf } from '../maths/lines.ts';
import type { CostReading } from '../maths/report.ts';
import type { CostRow } from '../maths/rows.ts';
import { HISTORY_DAYS } from '../maths/statistics.ts';
import type { Database, Tx } from '../storage/old/database.ts';
import { replaceMeta } from '../storage/old/meta.ts';
import {
  type BudgetUpdate,
  evaluateBudgets,
  type RoutedAnnouncements,
  type RoutingContext,
  recordBudgetNotices,
  redrawAnnouncements,
  routeAnnouncements,
} from './announcements.ts';
import { type Budget, budgetSpan, budgetStandings } from './budgets.ts';
import {
  type AnomalyAnnouncements,
  commonCauseDays,
  incidentKey,
  recentAnomalies,
  selectAnnouncements,
  storeAnomaly,
} from './incidents.ts';
import {
  dayToScan,
  firstDayToJudge,
  isScanDue,
  judgedThrough,
  judgeLine,
  type LineJudgement,
  readWatch,
  WATCH_KEY,
  type WatchSnapshot,
  type WatchState,
  watchedLines,
  watchText,
} from './watched.ts';

interface ScanInput {
  readonly rows: readonly CostRow[];
  /** All stored incidents, oldest first. */
  readonly known: readonly CostAnomaly[];
  readonly first: Day;
  readonly last: Day;
  /** The first scan announces nothing: its anomalies began before the watch did. */
  readonly quiet: boolean;
}

interface ScanResult {
  readonly lines: number;
  readonly changed: readonly CostAnomaly[];
  readonly announcements: AnomalyAnnouncements;
}

const LINES_PER_TURN = 5;
const NOTHING: AnomalyAnnouncements = { alone: [], commonCauses: [] };

/** The days from which rows are needed to judge these days. */
function scanSpan(first: Day, last: Day): Span {
  return { first: addDays(first, -HISTORY_DAYS), last };
}

/** Judges every line. Thousands of lines take seconds, so the scan yields between them. */
async function scanLines(input: ScanInput): Promise<ScanResult> {
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

export interface AnomalyContext extends RoutingContext {
  readonly database: Database;
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly budgets: readonly Budget[];
  readonly log: Logger;
}

const FIRST_SCAN_AFTER_MS = 60_000;
const SCAN_EVERY_MS = 15 * 60_000;

/**
 * Watches costs and budgets: scans after each new settled day, and once a day for days that are not
 * settled. Every replica scans. The replica that advances the shared state stores the results and
 * their messages. Returns 1 if this replica did, else 0.
 */
export function createAnomalyWatch(context: AnomalyContext): () => Promise<number> {
  // Limits how often the usage report is read. The stored state decides whether a scan is due.
  let next = context.now().getTime() + FIRST_SCAN_AFTER_MS;
  return async () => {
    const now = context.now();
    if (now.getTime() < next) return 0;
    next = now.getTime() + SCAN_EVERY_MS;
    return (await traced({ name: 'watch costs' }, () => watchOnce(context, now))) ? 1 : 0;
  };
}

async function watchOnce(context: AnomalyContext, now: Date): Promise<boolean> {
  const before = await readWatch(context.database.db);
  const today = dayOf(now);
  const [first, last] = [firstDayToJudge(before.state, today), addDays(today, -1)];
  const read = await context.costs(spanOfBoth(scanSpan(first, today), budgetSpan(today)));
  const { rows, gaps, lockAge } = read;
  if (gaps.length > 0) {
    // Missing figures would look like a drop, and old figures like no change.
    context.log.warn({ gaps }, 'costs were not judged because the usage report could not be read');
    return false;
  }
  const days = dayStates(rows, { first: addDays(first, -1), last });
  const lastSettled = lastSettledDay(days) ?? before.state?.lastSettled ?? null;
  if (lastSettled === null || !isScanDue(before.state, { lastSettled, now })) return false;

  const { db } = context.database;
  const known = await recentAnomalies(db, now);
  const quiet = before.state === null;
  const scan = await scanLines({ rows, known, first, last, quiet });
  const sources = { ...context, services: context.services(), today };
  const budgets = await evaluateBudgets(db, budgetStandings(sources, read), today);
  const through = judgedThrough(days, today, lockAge) ?? addDays(first, -1);
  const state = { through, lastSettled, ranOn: dayToScan(now), lines: scan.lines };
  const routed = await routeAnnouncements(context, scan.announcements, rows);
  return record(context, before, { state, scan, budgets, routed, now });
}

interface WatchOutcome {
  readonly state: Pick<WatchState, 'through' | 'lastSettled' | 'ranOn' | 'lines'>;
  readonly scan: ScanResult;
  readonly budgets: readonly BudgetUpdate[];
  readonly routed: RoutedAnnouncements;
  readonly now: Date;
}

/** Stores everything or nothing. A faster replica or a click in the meantime discards this scan. */
async function record(
  context: AnomalyContext,
  before: WatchSnapshot,
  outcome: WatchOutcome,
): Promise<boolean> {
  const { state, budgets, routed, now } = outcome;
  const version = (before.state?.version ?? 0) + 1;
  const value = watchText({ ...state, at: now.toISOString(), version });
  return context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, WATCH_KEY, before.text, value))) return false;
    await storeAnomalies(tx, context, outcome);
    for (const announcement of routed.all) await enqueueReport(tx, announcement, now);
    await recordBudgetNotices(tx, budgets, now);
    return true;
  });
}

async function storeAnomalies(
  tx: Tx,
  context: AnomalyContext,
  { scan, routed, now }: WatchOutcome,
): Promise<void> {
  const changed = [...scan.changed, ...routed.announced];
  const all = new Map(changed.map((one) => [incidentKey(one), one]));
  for (const anomaly of all.values()) {
    await storeAnomaly(tx, anomaly, now);
    // The buttons of an incident that is over have no effect, so the redraw removes them.
    if (isOver(anomaly.incident)) await redrawAnnouncements(tx, anomaly, context);
  }
}
