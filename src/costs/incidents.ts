/** Incidents: which of them deserve a message, their stored form and their texts. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { formatDay } from '../base/calendar.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { evolveIncident, type LoggedIncident } from '../domain/log-events.ts';
import type { Subjects } from '../log/index.ts';
import {
  type CostAnomaly,
  commonCause,
  type Direction,
  expectIncident,
  type IncidentState,
  isOver,
  isRelated,
  lastDayOf,
  mergeRelated,
  muteIncident,
  type News,
} from '../maths/anomalies.ts';
import { moneyOf, type PriceList, priceOn } from '../maths/money.ts';
import {
  changeText,
  creditsText,
  figure,
  figureRange,
  signedCredits,
  signedFigure,
} from '../maths/numbers.ts';
import { microOf } from '../maths/rows.ts';
import { reading, type Store, type StoreTx } from '../storage/index.ts';
import type { IncidentNews, LineJudgement } from './judge-lines.ts';
import { incidentsSince, saveIncident } from './store.ts';

/** A message about one anomaly. */
export interface AnomalyAnnouncement {
  readonly news: News;
  readonly day: Day;
  readonly anomaly: CostAnomaly;
}

/** A message about a day on which most lines moved the same way, probably for one reason. */
interface CommonCauseAnnouncement {
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

const REMEMBERED_DAYS = 120;

interface Sources {
  readonly store: Store;
  readonly events: Subjects;
}

/** The anomalies that began in the last 120 UTC days, oldest first. */
export function recentAnomalies(sources: Sources, now: Date): Promise<readonly CostAnomaly[]> {
  return anomaliesSince(sources, addDays(dayOf(now), -REMEMBERED_DAYS));
}

/** Anomalies that began on that UTC day or later, oldest first, with what people decided about them. */
export async function anomaliesSince(
  { store, events }: Sources,
  day: string,
): Promise<readonly CostAnomaly[]> {
  const stored = await reading(store, (reader) => incidentsSince(reader, day));
  const decisions = await events.loadAll('incident', evolveIncident);
  return stored
    .map(({ line, facts }) => ({ line, ...StoredAnomaly.parse(facts) }))
    .map((one) => {
      const decision = decisions.get(`incident/${incidentId(one)}`);
      return decision?.isPruned ? one : withDecision(one, decision?.state ?? null);
    })
    .reverse();
}

/** The log alone says what people decided: the stored row may lack it, or have what nobody decided. */
function withDecision(anomaly: CostAnomaly, decision: LoggedIncident | null): CostAnomaly {
  const { incident } = anomaly;
  if (decision?.verb === 'expected') return { ...anomaly, incident: expectIncident(incident) };
  const until = decision?.until ?? null;
  if (incident.state === 'expected' || (incident.state === 'muted' && until === null)) {
    return { ...anomaly, incident: { ...incident, state: 'ongoing', mutedUntil: until } };
  }
  const isMuted = until !== null && !isOver(incident) && lastDayOf(incident) <= until;
  if (isMuted) return { ...anomaly, incident: muteIncident(incident, until) };
  return { ...anomaly, incident: { ...incident, mutedUntil: until } };
}

const StoredDay = z.string();
const Incident = z.object({
  state: z.enum(['open', 'ongoing', 'muted', 'resolved', 'new-normal', 'expected']),
  direction: z.enum(['up', 'down']),
  tier: z.enum(['notice', 'alert']),
  since: StoredDay,
  days: z.array(
    z.object({
      day: StoredDay,
      settled: z.boolean(),
      unusual: z.boolean(),
      excess: z.number(),
    }),
  ),
  impact: z.number(),
  reportedImpact: z.number(),
  mutedUntil: StoredDay.nullable(),
});
const StoredAnomaly = z.object({
  entityId: z.string(),
  entityName: z.string(),
  kind: z.enum(['warehouse', 'service', 'pipe']),
  serviceId: z.string().nullable(),
  name: z.string(),
  metric: z.string().nullable(),
  incident: Incident,
  peak: z.object({
    day: StoredDay,
    value: z.number(),
    range: z.object({ expected: z.number(), low: z.number(), high: z.number() }).nullable(),
  }),
  announced: z.enum(['alone', 'crowd']).nullable(),
});

/** The value of the buttons: a hash, so that a click names no line of costs. */
export function incidentId({ line, incident }: Pick<CostAnomaly, 'line' | 'incident'>): string {
  const name = JSON.stringify([line, incident.since]);
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

export async function storeAnomaly(tx: StoreTx, anomaly: CostAnomaly, now: Date): Promise<void> {
  const { line, ...facts } = anomaly;
  const { since: onset, state } = anomaly.incident;
  await saveIncident(tx, { line, onset, state, facts: StoredAnomaly.parse(facts), updatedAt: now });
}

const MUTE_DAYS = 7;
const NAMED_MAX = 10;

const STATES: Readonly<Record<IncidentState, string>> = {
  open: 'open since',
  ongoing: 'ongoing since',
  muted: 'muted since',
  resolved: 'over, began',
  'new-normal': 'the new normal since',
  expected: 'expected since',
};

/** `analytics-dev · compute 61.2 on Thu 12 Nov, usual 9.8–15.3; +49.0 in total, open since …` */
export function anomalyLine(anomaly: CostAnomaly, prices: PriceList | null): string {
  const { name, peak } = anomaly;
  const usual = peak.range ? 'usual' : 'usually';
  const range = usualRangeText(peak, prices);
  const worst = `${peakText(peak, prices, figure)} on ${formatDay(peak.day)}, ${usual} ${range}`;
  return `${name} ${worst}; ${impactText(anomaly, prices)} in total, ${incidentStateText(anomaly)}`;
}

/** `analytics-dev · compute ×4.9 on Thu 12 Nov, +49.0 credits since Tue 10 Nov` */
export function anomalySummary(anomaly: CostAnomaly, prices: PriceList | null): string {
  const { name, peak, incident } = anomaly;
  const expected = peak.range?.expected ?? 0;
  const isKnown = microOf(expected) > 0;
  const change = isKnown ? changeText(peak.value / expected - 1) : 'new or rare cost';
  const since = incident.since === peak.day ? '' : ` since ${formatDay(incident.since)}`;
  const total = impactText(anomaly, prices, signedCredits);
  return `${name} ${change} on ${formatDay(peak.day)}, ${total}${since}`;
}

/** `muted until Tue 1 Dec since Mon 23 Nov` */
export function incidentStateText({ incident: { state, since, mutedUntil } }: CostAnomaly): string {
  const until =
    state === 'muted' && mutedUntil ? `muted until ${formatDay(mutedUntil)} since` : null;
  return `${until ?? STATES[state]} ${formatDay(since)}`;
}

/** `9.8–15.3`, in credits, or `9.8–15.3 (€3.43–€5.36)` */
export function usualRangeText({ range, day }: Peak, prices: PriceList | null): string {
  return range ? figureRange(range.low, range.high, priceOn(prices, day)) : 'almost nothing';
}

type Peak = CostAnomaly['peak'];

/** The credits of the worst day, in the given form. */
export function peakText(
  { value, day }: Peak,
  prices: PriceList | null,
  form: typeof figure,
): string {
  return form(microOf(value), moneyOf([[priceOn(prices, day), microOf(value)]]));
}

/** `+49.0`, the total deviation, with the money of each of its days. */
export function impactText(
  { incident }: CostAnomaly,
  prices: PriceList | null,
  form = signedFigure,
): string {
  const unusual = incident.days.filter((each) => each.unusual);
  const money = unusual.map(({ day, excess }) => [priceOn(prices, day), microOf(excess)] as const);
  return form(microOf(incident.impact), moneyOf(money));
}

/** The worst day, the usual range, the total impact, and whether the day can still change. */
export function anomalyText(anomaly: CostAnomaly, prices: PriceList | null): string {
  const { incident, peak } = anomaly;
  const isOpen = incident.days.some(({ day, settled }) => day === peak.day && !settled);
  const credits = `${peakText(peak, prices, creditsText)}${isOpen ? ' so far' : ''}`;
  const usual = usualRangeText(peak, prices);
  const day = `${credits} on ${formatDay(peak.day)} (UTC), usually ${usual}`;
  const note = isOpen ? ' That day is not final yet.' : '';
  const total = `${impactText(anomaly, prices, signedCredits)} in total`;
  return `${day}. ${total}, ${incidentStateText(anomaly)}.${note}`;
}

/** Buttons that carry only the id of the incident. An incident that is over has only *Details*. */
export function incidentButtons(anomaly: CostAnomaly): AnswerPart {
  const value = incidentId(anomaly);
  const details = { id: 'incident.details', label: 'Details', value };
  const all = [
    { id: 'incident.expected', label: 'Expected', value },
    { id: 'incident.mute', label: `Mute ${MUTE_DAYS} days`, value },
    details,
  ];
  return { kind: 'actions', actions: isOver(anomaly.incident) ? [details] : all };
}

const TITLES: Readonly<Record<AnomalyAnnouncement['news'], string>> = {
  opened: 'Unusual cost',
  raised: 'Unusual cost, now severe',
  doubled: 'Unusual cost, doubled since the last report',
  resolved: 'Back to usual',
  'new-normal': 'The new normal',
};

export function anomalyMessage(
  { news, anomaly }: AnomalyAnnouncement,
  prices: PriceList | null,
): Answer {
  const title = `${TITLES[news]} · ${anomaly.name}`;
  if (news === 'resolved' || news === 'new-normal') {
    return { title, parts: [{ kind: 'text', text: endText(news, anomaly, prices) }] };
  }
  const text = anomalyText(anomaly, prices);
  return { title, parts: [{ kind: 'text', text }, incidentButtons(anomaly)] };
}

function endText(
  news: 'resolved' | 'new-normal',
  anomaly: CostAnomaly,
  prices: PriceList | null,
): string {
  const since = formatDay(anomaly.incident.since);
  const reason =
    news === 'resolved'
      ? `The incident that began on ${since} is over: the last two settled days are in the usual range.`
      : `Unusual on seven days since ${since}. From now on, this level counts as usual.`;
  return `${reason} ${impactText(anomaly, prices, signedCredits)} in total.`;
}

export function commonCauseMessage(
  { day, direction, all }: CommonCauseAnnouncement,
  prices: PriceList | null,
): Answer {
  const change = direction === 'up' ? 'more' : 'less';
  const names = all.slice(0, NAMED_MAX).map((one) => anomalyLine(one, prices));
  const rest = all.length - names.length;
  const lines = [...names, ...(rest > 0 ? [`and ${rest} more`] : [])];
  const text =
    'Many lines changed at once. Likely causes: a holiday, a price change, or wrong data.';
  return {
    title: `Most lines cost unusually ${change} on ${formatDay(day)} (UTC)`,
    parts: [
      { kind: 'text', text },
      { kind: 'text', text: lines.map((line) => `• ${line}`).join('\n') },
    ],
  };
}

/** The last day of a mute that begins today. */
export function muteUntil(today: Day): Day {
  return addDays(today, MUTE_DAYS);
}
