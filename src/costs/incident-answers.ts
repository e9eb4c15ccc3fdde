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
import type { UserId } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import type { IncidentClick, IncidentClickOutcome, IncidentService } from '../domain/incidents.ts';
import { evolveIncident, evolvePost, type NewEvent } from '../domain/log-events.ts';
import { append, type Log } from '../log/index.ts';
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
import type { Store, StoreTx } from '../storage/index.ts';
import { type Announcement, announced } from './announcements.ts';
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
  advanceWatch,
  announcementName,
  isWatchLate,
  readWatch,
  redrawAnnouncements,
  Superseded,
  type WatchState,
} from './watch.ts';

const LISTED_DAYS = 30;
const BUTTONS_MAX = 5;

/** The answer of `/cost anomalies`: the incidents of the last 30 days, open ones first. */
export async function listAnomalies(context: {
  readonly store: Store;
  readonly events: Log;
  readonly prices: PriceList | null;
  readonly now: () => Date;
}): Promise<Answer> {
  const { prices } = context;
  const now = context.now();
  const { state } = await readWatch(context.store);
  if (!state) {
    const text = 'Nothing was scanned yet. The first scan runs one minute after the start.';
    return textAnswer('Unusual costs', text);
  }
  const since = addDays(dayOf(now), -LISTED_DAYS);
  const all = await anomaliesSince(context, addDays(since, -LISTED_DAYS));
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
  readonly store: Store;
  readonly events: Log;
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
  if (!authorized.ok) return authorized;
  // A scan may replace the shared state in between. Then the press is applied to the new state.
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return { ok: true, answer: await settle(context, press) };
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
    }
  }
  throw new Error(`The state of the watch changed ${TRIES} times while a press was stored`);
}

async function settle(context: IncidentContext, press: IncidentClick): Promise<Answer> {
  const now = context.now();
  const today = dayOf(now);
  const seen = await readWatch(context.store);
  const all = await recentAnomalies(context, now);
  const anomaly = all.find((one) => incidentId(one) === press.id);
  if (!anomaly || !seen.state) return REMOVED;
  const text = resultText(anomaly, press, today);
  // The same press again, after a crash before its answer.
  const { state: before } = await context.events.load(`incident/${press.id}`, evolveIncident);
  if (before?.press === press.key) return textAnswer(anomaly.name, text);
  if (isOver(anomaly.incident)) {
    return { title: `${anomaly.name}: ${incidentStateText(anomaly)}`, parts: [] };
  }

  const decided = all.filter((one) => isRelated(one, anomaly) && !isOver(one.incident));
  const changed = decided.map((one) => changedBy(one, press.verb, today));
  const state = { ...seen.state, version: seen.state.version + 1 };
  await append(context.events, async (locked) => {
    const drawn = await redrawAnnouncements(locked, changed, context.prices, locked.at);
    const opened = announcementName(anomaly, { news: 'opened', day: today });
    const { state: above } = await locked.load(opened, evolvePost);
    const note: Announcement[] = above?.at
      ? [
          {
            name: announcementName(anomaly, { news: press.verb, day: today }),
            channel: above.at.channel,
            thread: opened,
            answer: textAnswer(anomaly.name, text),
          },
        ]
      : [];
    // A reply in the thread, so that every reader of the channel sees the decision.
    const noted = await announced(locked, note, locked.at);
    const cache = async (tx: StoreTx) => {
      await advanceWatch(tx, seen, state);
      for (const one of changed) await storeAnomaly(tx, one, now);
    };
    const events = [
      ...decided.map((one) => decision(one, press, today)),
      ...drawn.events,
      ...noted.events,
    ];
    return { events, jobs: [...drawn.jobs, ...noted.jobs], cache, result: null };
  });
  context.wake();
  return textAnswer(anomaly.name, text);
}

function decision(
  anomaly: CostAnomaly,
  { verb, by, key: press }: IncidentClick,
  today: Day,
): NewEvent {
  const { line, name, incident } = anomaly;
  const facts = { by, press, line, name, since: incident.since };
  const event =
    verb === 'expected'
      ? ({ type: 'expected', ...facts } as const)
      : ({ type: 'muted', ...facts, until: muteUntil(today) } as const);
  return { stream: `incident/${incidentId(anomaly)}`, event };
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

const SHOWN_DAYS = 20;

async function detailsOf(context: IncidentContext, id: string): Promise<Answer> {
  const all = await recentAnomalies(context, context.now());
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
