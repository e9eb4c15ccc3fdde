/** The answer of `/cost anomalies`, and the buttons of an incident. */
import { formatDay } from '../base/calendar.ts';
import { addDays, type Day, dayNumber, dayOf } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  countWords,
  textAnswer,
  utcStamp,
} from '../domain/answer.ts';
import type { Position, UserId } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import type { IncidentClick, IncidentClickOutcome, IncidentService } from '../domain/incidents.ts';
import { enqueueReport, positionOf } from '../log/old/announcement.ts';
import { appendEvent } from '../log/old/append.ts';
import { markHandled } from '../log/old/inbox.ts';
import type { AuditKey } from '../log/old/key-ring.ts';
import {
  type CostAnomaly,
  expectIncident,
  isOver,
  isRelated,
  mergeRelated,
  muteIncident,
} from '../maths/anomalies.ts';
import { type DayPrice, moneyOf, type PriceList, priceNote, priceOn } from '../maths/money.ts';
import { creditsText, figure } from '../maths/numbers.ts';
import { microOf } from '../maths/rows.ts';
import type { Database, Tx } from '../storage/old/database.ts';
import { replaceMeta } from '../storage/old/meta.ts';
import {
  anomaliesSince,
  anomalyText,
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
import {
  isWatchLate,
  readWatch,
  redrawAnnouncements,
  WATCH_KEY,
  type WatchState,
  watchText,
} from './watch.ts';

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
