import { formatDay } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import type { CostAnomaly } from '../maths/anomalies.ts';
import { type IncidentState, isOver } from '../maths/anomalies.ts';
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
import type { AnomalyAnnouncement, CommonCauseAnnouncement } from './announcements.ts';
import { incidentId } from './incident-store.ts';

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
