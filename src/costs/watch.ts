import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Span, spanOfBoth } from '../base/calendar.ts';
import { traced } from '../base/log.ts';
import { addDays, type Day, dayNumber, dayOf, HOUR_MS } from '../base/time.ts';
import { evolvePost, type NewEvent } from '../domain/log-events.ts';
import type { Service } from '../domain/targets.ts';
import { append, type Log, type Subjects } from '../log/index.ts';
import {
  type CostAnomaly,
  type Incident,
  isOver,
  lastDayOf,
  minImpactOf,
} from '../maths/anomalies.ts';
import {
  type DayState,
  dayStates,
  type LockAge,
  lastSettledDay,
  longestWait,
  selectRows,
} from '../maths/days.ts';
import { seriesOf } from '../maths/lines.ts';
import type { PriceList } from '../maths/money.ts';
import type { CostReading } from '../maths/report.ts';
import { type CostRow, entityKey } from '../maths/rows.ts';
import { HISTORY_DAYS } from '../maths/statistics.ts';
import { type Job, reading, type Store, type StoreTx } from '../storage/index.ts';
import { type Announcement, type AnnouncementName, announced, updated } from './announcements.ts';
import {
  type BudgetUpdate,
  budgetMessages,
  evaluateBudgets,
  storeBudgets,
} from './budget-notices.ts';
import { type Budget, budgetSpan, budgetStandings } from './budgets.ts';
import type { DigestOptions } from './config.ts';
import {
  type AnomalyAnnouncement,
  type AnomalyAnnouncements,
  anomalyMessage,
  commonCauseDays,
  commonCauseMessage,
  incidentId,
  incidentKey,
  recentAnomalies,
  selectAnnouncements,
  storeAnomaly,
} from './incidents.ts';
import { judgeLine, type LineJudgement, watchedLines } from './judge-lines.ts';
import { costScope } from './scope.ts';
import { readState, writeState } from './store.ts';
import { loadSubscriptions, type SubscriptionSources } from './subscriptions.ts';

export interface AnomalyContext extends SubscriptionSources, Omit<RoutingContext, 'channels'> {
  readonly store: Store;
  readonly events: Log;
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
  const { store, events } = context;
  const before = await readWatch(store);
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

  const known = await recentAnomalies(context, now);
  const quiet = before.state === null;
  const scan = await scanLines({ rows, known, first, last, quiet });
  const sources = { ...context, services: context.services(), today };
  const budgets = await reading(store, (reader) =>
    evaluateBudgets(reader, budgetStandings(sources, read), today),
  );
  const through = judgedThrough(days, today, lockAge) ?? addDays(first, -1);
  const state = { through, lastSettled, ranOn: dayToScan(now), lines: scan.lines };
  const channels = async () => (await loadSubscriptions(events, context)).all;
  const routed = await routeAnnouncements({ ...context, channels }, scan.announcements, rows);
  return record(context, before, { state, scan, budgets, routed, now });
}

const WATCH_KEY = 'cost-watch';

const Stored = z.object({
  /** Every day up to this one is judged and is not judged again. */
  through: z.string(),
  /** The last day that was final or settled. */
  lastSettled: z.string(),
  /** The UTC day of the last scan. */
  ranOn: z.string(),
  at: z.iso.datetime(),
  /** The number of watched lines. */
  lines: z.number(),
  /** A press increments it too, so that a scan never overwrites what a person decided. */
  version: z.number(),
});

/** The progress of the watch: one value for all replicas, replaced with an optimistic lock. */
export type WatchState = Readonly<z.infer<typeof Stored>>;

interface WatchSnapshot {
  readonly text: string | null;
  readonly state: WatchState | null;
}

export async function readWatch(store: Store): Promise<WatchSnapshot> {
  const text = await reading(store, (reader) => readState(reader, WATCH_KEY));
  return { text, state: text === null ? null : Stored.parse(JSON.parse(text)) };
}

/** Another process, or a press, has advanced the watch: nothing is stored. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** Stores the next state of the watch. Throws `Superseded` if the state is not the seen one any more. */
export async function advanceWatch(
  tx: StoreTx,
  seen: WatchSnapshot,
  state: WatchState,
): Promise<void> {
  if ((await readState(tx, WATCH_KEY)) !== seen.text) throw new Superseded();
  await writeState(tx, WATCH_KEY, JSON.stringify(state));
}

const LATE_MS = 36 * HOUR_MS;

/** Whether the last scan is so old that "nothing unusual" must not be claimed. */
export function isWatchLate({ at }: WatchState, now: Date): boolean {
  return now.getTime() - Date.parse(at) > LATE_MS;
}

const SETTLE_MS = 6 * HOUR_MS;
const FIRST_DAYS = 30;

/** The UTC day of the scan that is due: figures of the previous day are scanned from 06:00 on. */
function dayToScan(now: Date): Day {
  return dayOf(new Date(now.getTime() - SETTLE_MS));
}

/** The first day to judge: the day after the judged ones, or 30 days ago in the first scan. */
function firstDayToJudge(state: WatchState | null, today: Day): Day {
  return state ? addDays(state.through, 1) : addDays(today, -FIRST_DAYS);
}

/** A scan is due for each new settled day, and once a day for days that are not settled. */
export function isScanDue(
  state: WatchState | null,
  { lastSettled, now }: { readonly lastSettled: Day; readonly now: Date },
): boolean {
  return state === null || lastSettled > state.lastSettled || dayToScan(now) > state.ranOn;
}

/**
 * The last day up to which all days are final: a settled day is judged again when it moves. A day
 * that is open for longer than days usually are is ignored. Source: docs/costs.md#lock-age.
 */
export function judgedThrough(
  states: readonly DayState[],
  today: Day,
  lockAge: LockAge | null,
): Day | null {
  const wait = longestWait(lockAge);
  const open = states.find(
    ({ day, state }) => state !== 'final' && dayNumber(today) - dayNumber(day) <= wait,
  );
  const before = states.filter(({ day }) => !open || day < open.day);
  return before.at(-1)?.day ?? null;
}

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

/** A channel that gets a digest, and with it the announcements of what the digest covers. */
interface AnomalyChannel {
  readonly channel: string;
  readonly options: DigestOptions;
  readonly paused: boolean;
}

interface RoutingContext {
  readonly channels: () => Promise<readonly AnomalyChannel[]>;
  readonly prices: PriceList | null;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

interface RoutedAnnouncements {
  readonly all: readonly Announcement[];
  /** The announced anomalies, marked as announced. */
  readonly announced: readonly CostAnomaly[];
}

/**
 * Sends each announcement to the first channel whose digest covers the line and accepts the
 * anomaly. An anomaly that no digest covers is not announced.
 */
export async function routeAnnouncements(
  context: RoutingContext,
  { alone, commonCauses }: AnomalyAnnouncements,
  rows: readonly CostRow[],
): Promise<RoutedAnnouncements> {
  const routes = alone.length + commonCauses.length > 0 ? await routesOf(context, rows) : [];
  const channelOf = (anomaly: CostAnomaly, isCommon = false) =>
    routes.find(
      ({ entities, options }) =>
        entities.has(entityKey(anomaly)) && accepts(options, anomaly.incident, isCommon),
    )?.channel ?? null;
  const single = alone.flatMap((one) => {
    const { anomaly, news, day } = one;
    const channel = channelOf(anomaly);
    if (channel === null) return [];
    const isEnd = news === 'resolved' || news === 'new-normal';
    const name = announcementName(anomaly, one);
    const thread = isEnd ? announcementName(anomaly, { news: 'opened', day }) : null;
    const announcement = { name, channel, thread, answer: anomalyMessage(one, context.prices) };
    return [{ announcement, announced: [{ ...anomaly, announced: 'alone' as const }] }];
  });
  const common = commonCauses.flatMap((cause) => {
    const byChannel = Map.groupBy(cause.all, (one) => channelOf(one, true) ?? '');
    byChannel.delete('');
    return [...byChannel].map(([channel, all]) => {
      const name = `post/common-${cause.day}-${cause.direction}/${channel}` as const;
      const answer = commonCauseMessage({ ...cause, all }, context.prices);
      const announced = all.map((one) => ({ ...one, announced: 'crowd' as const }));
      return { announcement: { name, channel, thread: null, answer }, announced };
    });
  });
  const routed: readonly RoutedAnnouncement[] = [...single, ...common];
  return {
    all: routed.map(({ announcement }) => announcement),
    announced: routed.flatMap(({ announced }) => announced),
  };
}

interface RoutedAnnouncement {
  readonly announcement: Announcement;
  readonly announced: readonly CostAnomaly[];
}

/** Alerts are accepted; notices only by a sensitive digest; a common cause of any tier. */
function accepts(
  { sensitivity, increasesOnly }: DigestOptions,
  { tier, direction }: Incident,
  isCommonCause: boolean,
): boolean {
  if (direction === 'down' && increasesOnly) return false;
  return isCommonCause || tier === 'alert' || sensitivity === 'high';
}

async function routesOf(context: RoutingContext, rows: readonly CostRow[]) {
  const now = context.now();
  const active = (await context.channels()).filter(
    ({ paused, options: { mutedUntil, sections } }) =>
      !paused && !(mutedUntil !== null && now < mutedUntil) && sections.includes('unusual'),
  );
  const services = context.services();
  return active.map(({ channel, options }) => {
    const { selector } = costScope(options.on, services, rows);
    const entities = new Set(selectRows(rows, selector).map(entityKey));
    return { channel, options, entities };
  });
}

interface WatchOutcome {
  readonly state: Pick<WatchState, 'through' | 'lastSettled' | 'ranOn' | 'lines'>;
  readonly scan: ScanResult;
  readonly budgets: readonly BudgetUpdate[];
  readonly routed: RoutedAnnouncements;
  readonly now: Date;
}

/** Stores everything or nothing. A faster replica or a press in the meantime discards this scan. */
async function record(
  context: AnomalyContext,
  before: WatchSnapshot,
  outcome: WatchOutcome,
): Promise<boolean> {
  const { state, scan, budgets, routed, now } = outcome;
  const version = (before.state?.version ?? 0) + 1;
  const next = { ...state, at: now.toISOString(), version };
  const changed = [...scan.changed, ...routed.announced];
  const anomalies = [...new Map(changed.map((one) => [incidentKey(one), one])).values()];
  try {
    await append(context.events, async (locked) => {
      const notices = budgetMessages(budgets);
      const posts = await announced(locked, [...routed.all, ...notices], locked.at);
      // The buttons of an incident that is over have no effect, so the redraw removes them.
      const over = anomalies.filter(({ incident }) => isOver(incident));
      const drawn = await redrawAnnouncements(locked, over, context.prices, locked.at);
      const cache = async (tx: StoreTx) => {
        await advanceWatch(tx, before, next);
        for (const anomaly of anomalies) await storeAnomaly(tx, anomaly, now);
        await storeBudgets(tx, budgets, now);
      };
      const events = [...posts.events, ...drawn.events];
      return { events, jobs: [...posts.jobs, ...drawn.jobs], cache, result: null };
    });
    return true;
  } catch (error) {
    if (error instanceof Superseded) return false;
    throw error;
  }
}

const WITH_BUTTONS: readonly AnomalyAnnouncement['news'][] = ['opened', 'raised', 'doubled'];

/** What to append so that every message with buttons about these anomalies shows their current state. */
export async function redrawAnnouncements(
  subjects: Subjects,
  anomalies: readonly CostAnomaly[],
  prices: PriceList | null,
  at: number,
) {
  const events: NewEvent[] = [];
  const jobs: Job[] = [];
  for (const anomaly of anomalies) {
    const day = lastDayOf(anomaly.incident);
    const posts = await subjects.loadAll(announcementsOf(anomaly), evolvePost);
    for (const [stream, { state }] of posts) {
      const [kind = ''] = stream.slice(announcementsOf(anomaly).length + 1).split('-');
      const news = WITH_BUTTONS.find((each) => each === kind);
      if (!news || !state || state.state === 'missed') continue;
      const answer = anomalyMessage({ news, day, anomaly }, prices);
      const drawn = updated(stream as AnnouncementName, answer, at);
      events.push(...drawn.events);
      jobs.push(...drawn.jobs);
    }
  }
  return { events, jobs };
}

/** The messages about one anomaly are under this name. */
function announcementsOf(anomaly: CostAnomaly) {
  return `post/incident-${incidentId(anomaly)}` as const;
}

/** The name under which a message about an anomaly is posted once. */
export function announcementName(
  anomaly: CostAnomaly,
  { news, day }: { readonly news: string; readonly day: Day },
): AnnouncementName {
  const name = `${announcementsOf(anomaly)}/${news}`;
  return (news === 'opened' ? name : `${name}-${day}`) as AnnouncementName;
}
