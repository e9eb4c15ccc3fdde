import type { CostAnomaly } from '../costs/anomaly/cost-anomaly.ts';
import { type IncidentState, isOver } from '../costs/anomaly/incident.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { figure, signedFigure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
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
export function anomalyLine(anomaly: CostAnomaly): string {
  const { name, peak } = anomaly;
  const usual = peak.range ? `usual ${usualRangeText(peak.range)}` : 'usually almost nothing';
  const worst = `${figure(microOf(peak.value))} on ${dayLabel(peak.day)}, ${usual}`;
  return `${name} ${worst}; ${impactOf(anomaly)} in total, ${incidentStateText(anomaly)}`;
}

/** `muted until Tue 1 Dec since Mon 23 Nov` */
export function incidentStateText({ incident: { state, since, mutedUntil } }: CostAnomaly): string {
  const until =
    state === 'muted' && mutedUntil ? `muted until ${dayLabel(mutedUntil)} since` : null;
  return `${until ?? STATES[state]} ${dayLabel(since)}`;
}

/** `9.8–15.3`, in credits. */
export function usualRangeText(range: CostAnomaly['peak']['range']): string {
  return range ? `${figure(microOf(range.low))}–${figure(microOf(range.high))}` : 'almost nothing';
}

function impactOf({ incident }: CostAnomaly): string {
  return signedFigure(microOf(incident.impact));
}

/** The worst day, the usual range, the total impact, and whether the day can still change. */
export function anomalyText(anomaly: CostAnomaly): string {
  const { incident, peak } = anomaly;
  const isOpen = incident.days.some(({ day, final }) => day === peak.day && !final);
  const credits = `${figure(microOf(peak.value))} credits${isOpen ? ' so far' : ''}`;
  const day = `${credits} on ${dayLabel(peak.day)} (UTC), usually ${usualRangeText(peak.range)}`;
  const note = isOpen ? ' That day is not final yet.' : '';
  const total = `${impactOf(anomaly)} credits in total`;
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
  return { kind: 'deeds', deeds: isOver(anomaly.incident) ? [details] : all };
}

const TITLES: Readonly<Record<AnomalyAnnouncement['news'], string>> = {
  opened: 'Unusual cost',
  raised: 'Unusual cost, now severe',
  doubled: 'Unusual cost, doubled since the last report',
  resolved: 'Back to usual',
  'new-normal': 'The new normal',
};

export function anomalyMessage({ news, anomaly }: AnomalyAnnouncement): Answer {
  const title = `${TITLES[news]} · ${anomaly.name}`;
  if (news === 'resolved' || news === 'new-normal') {
    return { title, parts: [{ kind: 'text', text: endText(news, anomaly) }] };
  }
  return { title, parts: [{ kind: 'text', text: anomalyText(anomaly) }, incidentButtons(anomaly)] };
}

function endText(news: 'resolved' | 'new-normal', anomaly: CostAnomaly): string {
  const since = dayLabel(anomaly.incident.since);
  const reason =
    news === 'resolved'
      ? `The incident that began on ${since} is over: two final days are in the usual range.`
      : `Unusual on seven days since ${since}. From now on, this level counts as usual.`;
  return `${reason} ${impactOf(anomaly)} credits in total.`;
}

export function commonCauseMessage({ day, direction, all }: CommonCauseAnnouncement): Answer {
  const change = direction === 'up' ? 'more' : 'less';
  const names = all.slice(0, NAMED_MAX).map(anomalyLine);
  const rest = all.length - names.length;
  const lines = [...names, ...(rest > 0 ? [`and ${rest} more`] : [])];
  const text =
    'Many lines changed at once. Likely causes: a holiday, a price change, or wrong data.';
  return {
    title: `Most lines cost unusually ${change} on ${dayLabel(day)} (UTC)`,
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
