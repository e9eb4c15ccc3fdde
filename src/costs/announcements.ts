import { z } from 'zod';
import { formatDay, monthOf } from '../base/calendar.ts';
import { addDays, type Day, dayNumber, dayOf } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  countWords,
  type IncidentClick,
  type IncidentClickOutcome,
  type IncidentService,
  textAnswer,
  utcStamp,
} from '../domain/answer.ts';
import type { Position, UserId } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import type { Service } from '../domain/targets.ts';
import {
  type Announcement,
  enqueueRedraw,
  enqueueReport,
  positionOf,
  postedKeysUnder,
} from '../log/old/announcement.ts';
import { appendEvent } from '../log/old/append.ts';
import { markHandled } from '../log/old/inbox.ts';
import type { AuditKey } from '../log/old/key-ring.ts';
import {
  type CostAnomaly,
  expectIncident,
  type Incident,
  isOver,
  isRelated,
  lastDayOf,
  mergeRelated,
  muteIncident,
} from '../maths/anomalies.ts';
import { selectRows } from '../maths/days.ts';
import { type DayPrice, moneyOf, type PriceList, priceNote, priceOn } from '../maths/money.ts';
import { creditsText, figure } from '../maths/numbers.ts';
import { type CostRow, entityKey, microOf } from '../maths/rows.ts';
import type { Database, Db, Tx } from '../storage/old/database.ts';
import { permitBudgetNotice } from '../storage/old/incidents.ts';
import { readMeta, replaceMeta, writeMeta } from '../storage/old/meta.ts';
import { alsoUnderOldKey, withOldKey } from '../storage/old/portable.ts';
import { budgetAnswer } from './budget-answer.ts';
import {
  type Budget,
  type BudgetMemory,
  type BudgetNews,
  type BudgetStanding,
  evaluateBudget,
  noticeMark,
} from './budgets.ts';
import type { DigestOptionsConfig } from './digest-options.ts';
import {
  type AnomalyAnnouncement,
  type AnomalyAnnouncements,
  anomaliesSince,
  anomalyMessage,
  anomalyText,
  commonCauseMessage,
  impactText,
  incidentButtons,
  incidentId,
  incidentStateText,
  muteUntil,
  peakText,
  recentAnomalies,
  storeAnomaly,
  usualRangeText,
} from './incidents.ts';
import { costScope } from './question-scope.ts';
import { isWatchLate, readWatch, WATCH_KEY, type WatchState, watchText } from './watched.ts';

const LISTED_DAYS = 30;
const BUTTONS_MAX = 5;

/** The answer of `/cost anomalies`: the incidents of the last 30 days, open ones first. */
export async function listAnomalies(context: {
  readonly database: Database;
  readonly prices: PriceList | null;
  readonly now: () => Date;
}): Promise<Answer> {
  const { prices } = context;
  const now = context.now();
  const { state } = await readWatch(context.database.db);
  if (!state) {
    const text = 'Nothing was scanned yet. The first scan runs one minute after the start.';
    return textAnswer('Unusual costs', text);
  }
  const since = addDays(dayOf(now), -LISTED_DAYS);
  const all = await anomaliesSince(context.database.db, addDays(since, -LISTED_DAYS));
  const shown = mergeRelated(all.filter((one) => isListed(one, since))).toSorted(byImportance);
  const open = shown.filter(({ incident }) => !isOver(incident));
  const parts: readonly AnswerPart[] = [
    ...open.slice(0, BUTTONS_MAX).flatMap((one) => openParts(one, prices)),
    ...(shown.length > 0 ? [tableOf(shown, prices), detailsMenu(shown)] : []),
    { kind: 'note', text: [lastScanText(state, now), ...noteOf(prices)].join(' ') },
  ];
  return { title: titleOf(open.length, state), parts };
}

function noteOf(prices: PriceList | null): readonly string[] {
  return prices ? [`${priceNote(prices)}.`] : [];
}

function isListed({ incident: { since, days } }: CostAnomaly, from: Day): boolean {
  return since >= from || (days.at(-1)?.day ?? since) >= from;
}

function byImportance(a: CostAnomaly, b: CostAnomaly): number {
  const over = Number(isOver(a.incident)) - Number(isOver(b.incident));
  return over || Math.abs(b.incident.impact) - Math.abs(a.incident.impact);
}

function titleOf(open: number, { lines }: WatchState): string {
  if (open === 0) return `Nothing unusual in ${countWords(lines, 'line')}`;
  return `${countWords(open, 'unusual line')} of ${lines}`;
}

function openParts(anomaly: CostAnomaly, prices: PriceList | null): readonly AnswerPart[] {
  const text = `${anomaly.name}: ${anomalyText(anomaly, prices)}`;
  return [{ kind: 'text', text }, incidentButtons(anomaly)];
}

function tableOf(shown: readonly CostAnomaly[], prices: PriceList | null): AnswerPart {
  return {
    kind: 'table',
    columns: ['Line', 'State', 'Worst day (UTC)', 'Credits', 'Usual', 'Total'],
    rows: shown.map((one) => [
      one.name,
      incidentStateText(one),
      { value: dayNumber(one.peak.day), text: formatDay(one.peak.day), isName: true },
      { value: one.peak.value, text: peakText(one.peak, prices, creditsText) },
      usualRangeText(one.peak, prices),
      { value: one.incident.impact, text: impactText(one, prices) },
    ]),
  };
}

function detailsMenu(shown: readonly CostAnomaly[]): AnswerPart {
  const choices = shown.map((one) => ({
    label: `${one.name}, ${formatDay(one.peak.day)}`,
    value: incidentId(one),
  }));
  return { kind: 'choices', id: 'incident.details', label: 'Show details…', choices };
}

/** The age of the last scan: "nothing unusual" is only meaningful together with it. */
function lastScanText(state: WatchState, now: Date): string {
  const late = isWatchLate(state, now) ? ' Since then, the usage report could not be read.' : '';
  const settled = formatDay(state.lastSettled);
  return `Last scan ${utcStamp(new Date(state.at))}, settled through ${settled}.${late} Days are UTC.`;
}

const WITH_BUTTONS: readonly AnomalyAnnouncement['news'][] = ['opened', 'raised', 'doubled'];

/** The key under which a message about an anomaly is posted once. */
function announcementKey(
  anomaly: CostAnomaly,
  { news, day }: Omit<AnomalyAnnouncement, 'anomaly'>,
): string {
  const key = `incident ${incidentId(anomaly)}`;
  return news === 'opened' ? key : `${key} ${news} ${day}`;
}

/** Redraws every posted message with buttons about this anomaly from its current state. */
export async function redrawAnnouncements(
  tx: Tx,
  anomaly: CostAnomaly,
  { now, prices }: { readonly now: () => Date; readonly prices: PriceList | null },
): Promise<void> {
  const day = lastDayOf(anomaly);
  for (const key of await postedKeysUnder(tx, announcementKey(anomaly, { news: 'opened', day }))) {
    const news = WITH_BUTTONS.find((each) => each === (key.split(' ')[2] ?? 'opened'));
    if (!news) continue;
    const answer = anomalyMessage({ news, day, anomaly }, prices);
    await enqueueRedraw(tx, { key, answer }, now());
  }
}

const REMOVED: Answer = { title: 'This incident no longer exists', parts: [] };
const TRIES = 5;

interface IncidentContext {
  readonly database: Database;
  readonly auditKey: AuditKey;
  readonly prices: PriceList | null;
  readonly now: () => Date;
  readonly wake: () => void;
  /** Whether a user may list the anomalies, and so see and settle each of them; asked without caches. */
  readonly authorize: (
    by: UserId,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly denial: Denial }>;
}

export function createIncidentService(context: IncidentContext): IncidentService {
  return {
    press: (press) => pressIncident(context, press),
    details: (request) => showIncident(context, request),
  };
}

async function showIncident(
  context: IncidentContext,
  { id, by }: Pick<IncidentClick, 'id' | 'by'>,
): Promise<IncidentClickOutcome> {
  const authorized = await context.authorize(by);
  return authorized.ok ? { ok: true, answer: await detailsOf(context, id) } : authorized;
}

async function pressIncident(
  context: IncidentContext,
  press: IncidentClick,
): Promise<IncidentClickOutcome> {
  const authorized = await context.authorize(press.by);
  if (!authorized.ok) {
    await handled(context, press);
    return authorized;
  }
  // A scan may replace the shared state in between. Then the click is applied to the new state.
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await settle(context, press);
    if (answer) return { ok: true, answer };
  }
  throw new Error(`The state of the watch changed ${TRIES} times while a click was stored`);
}

async function handled({ database, now }: IncidentContext, { key }: IncidentClick): Promise<void> {
  await database.transaction((tx) => markHandled(tx, key, now()));
}

async function settle(context: IncidentContext, press: IncidentClick): Promise<Answer | null> {
  const now = context.now();
  const today = dayOf(now);
  const { db } = context.database;
  const seen = await readWatch(db);
  const all = await recentAnomalies(db, now);
  const anomaly = all.find((one) => incidentId(one) === press.id);
  if (!anomaly || !seen.state || isOver(anomaly.incident)) {
    await handled(context, press);
    if (!anomaly) return REMOVED;
    return { title: `${anomaly.name}: ${incidentStateText(anomaly)}`, parts: [] };
  }

  const changed = all
    .filter((one) => isRelated(one, anomaly) && !isOver(one.incident))
    .map((one) => changedBy(one, press.verb, today));
  const state = { ...seen.state, version: seen.state.version + 1 };
  const text = resultText(anomaly, press, today);
  const above = await positionOf(context, `incident ${press.id}`);
  const stored = await context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, WATCH_KEY, seen.text, watchText(state)))) return false;
    for (const one of changed) {
      await storeAnomaly(tx, one, now);
      await redrawAnnouncements(tx, one, context);
    }
    await enqueueNote(tx, context, { anomaly, press, above, text });
    const body = {
      by: press.by,
      line: anomaly.line,
      name: anomaly.name,
      since: anomaly.incident.since,
    };
    await appendEvent(tx, context.auditKey, { kind: `incident-${press.verb}`, at: now, body });
    await markHandled(tx, press.key, now);
    return true;
  });
  if (!stored) return null;
  context.wake();
  return textAnswer(anomaly.name, text);
}

function changedBy(one: CostAnomaly, verb: IncidentClick['verb'], today: Day): CostAnomaly {
  const { incident } = one;
  const changed =
    verb === 'expected' ? expectIncident(incident) : muteIncident(incident, muteUntil(today));
  return { ...one, incident: changed };
}

function resultText({ incident }: CostAnomaly, { verb }: IncidentClick, today: Day): string {
  return verb === 'expected'
    ? `Noted as expected. The usual range is learned again from ${formatDay(incident.since)} on.`
    : `Muted until ${formatDay(muteUntil(today))} (UTC). Signalbox still tracks the incident.`;
}

/** A reply in the thread of the announcement, so that every reader of the channel sees the decision. */
async function enqueueNote(tx: Tx, context: IncidentContext, note: Note): Promise<void> {
  const { anomaly, press, above, text } = note;
  if (!above) return;
  const now = context.now();
  const id = incidentId(anomaly);
  const answer = textAnswer(anomaly.name, text);
  const key = `incident ${id} ${press.verb} ${dayOf(now)}`;
  const report = { key, channel: above.channel, thread: `incident ${id}`, answer };
  await enqueueReport(tx, report, now);
}

interface Note {
  readonly anomaly: CostAnomaly;
  readonly press: IncidentClick;
  /** The position of the announcement; null if none was posted. */
  readonly above: Position | null;
  readonly text: string;
}

const SHOWN_DAYS = 20;

async function detailsOf(context: IncidentContext, id: string): Promise<Answer> {
  const all = await recentAnomalies(context.database.db, context.now());
  const anomaly = all.find((one) => incidentId(one) === id);
  if (!anomaly) return REMOVED;
  const days = anomaly.incident.days.slice(-SHOWN_DAYS);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: anomalyText(anomaly, context.prices) },
    {
      kind: 'table',
      columns: ['Day (UTC)', 'Deviation', 'Unusual', 'Settled'],
      rows: days.map(({ day, excess, unusual, settled }) => [
        day,
        { value: excess, text: deviationText(excess, priceOn(context.prices, day)) },
        unusual ? 'yes' : 'no',
        settled ? 'yes' : 'no',
      ]),
    },
    {
      kind: 'offers',
      offers: [{ label: 'Costs of the last 30 days', line: 'cost 30d by day' }],
    },
    incidentButtons(anomaly),
  ];
  return { title: anomaly.name, parts };
}

function deviationText(credits: number, price: DayPrice | undefined): string {
  return figure(microOf(credits), moneyOf([[price, microOf(credits)]]));
}

/** A channel that gets a digest, and with it the announcements of what the digest covers. */
interface AnomalyChannel {
  readonly channel: string;
  readonly options: DigestOptionsConfig;
  readonly paused: boolean;
}

export interface RoutingContext {
  readonly channels: () => Promise<readonly AnomalyChannel[]>;
  readonly prices: PriceList | null;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

export interface RoutedAnnouncements {
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
    const key = announcementKey(anomaly, one);
    const thread = isEnd ? announcementKey(anomaly, { news: 'opened', day }) : null;
    const announcement = { key, channel, thread, answer: anomalyMessage(one, context.prices) };
    return [{ announcement, announced: [{ ...anomaly, announced: 'alone' as const }] }];
  });
  const common = commonCauses.flatMap((cause) => {
    const byChannel = Map.groupBy(cause.all, (one) => channelOf(one, true) ?? '');
    byChannel.delete('');
    return [...byChannel].map(([channel, all]) => {
      // Release 1.0 stored keys of this form.
      const key = `crowd ${cause.day} ${cause.direction} ${channel}`;
      const answer = commonCauseMessage({ ...cause, all }, context.prices);
      const announced = all.map((one) => ({ ...one, announced: 'crowd' as const }));
      return { announcement: { key, channel, thread: null, answer }, announced };
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
  { sensitivity, increasesOnly }: DigestOptionsConfig,
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

const StoredForecast = z.object({
  lastRun: z.string().nullable(),
  over: z.number(),
  under: z.number(),
  announced: z
    .object({ kind: z.enum(['likely-over', 'almost-certainly-over']), total: z.number() })
    .nullable(),
});
const StoredMemory = withOldKey(
  'announced',
  z.object({
    month: z.string(),
    amount: z.number(),
    announced: z.number().nullable(),
    forecast: withOldKey('announced', StoredForecast),
  }),
);

/** The state of a budget, its news, and the memory to store. */
export interface BudgetUpdate {
  readonly standing: BudgetStanding;
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
  readonly today: Day;
}

export async function evaluateBudgets(
  db: Db,
  standings: readonly BudgetStanding[],
  today: Day,
): Promise<readonly BudgetUpdate[]> {
  const all: BudgetUpdate[] = [];
  for (const standing of standings) {
    const text = await readMeta(db, keyOf(standing.budget));
    const remembered = text === null ? null : StoredMemory.parse(JSON.parse(text));
    all.push({ standing, today, ...evaluateBudget(standing, remembered, today) });
  }
  return all;
}

/** Stores each update, and one message per budget with the notices not sent in this month. */
export async function recordBudgetNotices(
  tx: Tx,
  all: readonly BudgetUpdate[],
  now: Date,
): Promise<void> {
  for (const { standing, memory, news, today } of all) {
    const { budget } = standing;
    const forecast = alsoUnderOldKey('announced', memory.forecast);
    const stored = { ...alsoUnderOldKey('announced', memory), forecast };
    await writeMeta(tx, keyOf(budget), JSON.stringify(stored));
    const month = monthOf(today);
    const first: BudgetNews[] = [];
    for (const one of news) {
      const mark = noticeMark(one, standing);
      if (await permitBudgetNotice(tx, { budget: budget.name, month, mark, at: now }))
        first.push(one);
    }
    if (first.length === 0) continue;
    const key = `budget ${budget.name} ${now.toISOString()}`;
    const answer = budgetAnswer(standing, first);
    await enqueueReport(tx, { key, channel: budget.notify, thread: null, answer }, now);
  }
}

function keyOf({ name }: Budget): string {
  return `budget ${name}`;
}
