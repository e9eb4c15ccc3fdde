import { type IncidentState, isOver } from '../costs/anomaly/incident.ts';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { figure, signedFigure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import type { CrowdTelling, OneTelling } from './announcements.ts';
import { incidentId } from './incident-store.ts';

export const MUTE_DAYS = 7;
const NAMED_MAX = 10;

export const STATE_WORDS: Readonly<Record<IncidentState, string>> = {
  open: 'open',
  ongoing: 'ongoing',
  muted: 'muted',
  resolved: 'over',
  'new-normal': 'the new normal',
  expected: 'expected',
};

/** `analytics-dev · compute 61.2 on Thu 12 Nov, usual 9.8–15.3; +49.0 so far, open` */
export function unusualLine(unusual: Unusual): string {
  const { name, incident } = unusual;
  const sum = `${signedFigure(microOf(incident.impact))} in all`;
  return `${name} ${peakText(unusual)}; ${sum}, ${incidentStateText(unusual)}`;
}

export function incidentStateText({ incident: { state, since, mutedUntil } }: Unusual): string {
  const until = state === 'muted' && mutedUntil ? ` until ${dayLabel(mutedUntil)}` : '';
  return `${STATE_WORDS[state]}${until} since ${dayLabel(since)}`.replace(
    'over since',
    'over, began',
  );
}

function peakText({ peak }: Unusual): string {
  return `${figure(microOf(peak.value))} on ${dayLabel(peak.day)}, ${usualText(peak.range)}`;
}

export function usualText(range: Unusual['peak']['range']): string {
  if (range === null) return 'usually next to nothing';
  return `usual ${figure(microOf(range.low))}–${figure(microOf(range.high))}`;
}

/** What it was, what it sums up to, and whether it may still change. */
export function unusualText(unusual: Unusual): string {
  const { incident, peak } = unusual;
  const open = incident.days.some(({ day, final }) => day === peak.day && !final);
  const usual = peak.range
    ? `${usualText(peak.range).replace('usual ', '')} would be usual`
    : 'it usually costs next to nothing';
  const day = `${figure(microOf(peak.value))} credits on ${dayLabel(peak.day)} (UTC)`;
  const off = `${signedFigure(microOf(incident.impact))} credits in all`;
  const note = open ? ' That day is not final yet.' : '';
  return `${day}${open ? ' so far' : ''}; ${usual}. ${off}, ${incidentStateText(unusual)}.${note}`;
}

/** Three buttons, each with nothing but the id of the incident. */
export function deedsOf(unusual: Unusual): AnswerPart {
  const value = incidentId(unusual);
  const details = { id: 'incident.details', label: 'Details', value };
  const all = [
    { id: 'incident.expected', label: 'Expected', value },
    { id: 'incident.mute', label: `Mute ${MUTE_DAYS} days`, value },
    details,
  ];
  return { kind: 'deeds', deeds: isOver(unusual.incident) ? [details] : all };
}

const TITLES: Readonly<Record<OneTelling['news'], string>> = {
  opened: 'Unusual cost',
  raised: 'Unusual cost, now graver',
  doubled: 'Unusual cost, twice of what was told',
  resolved: 'Back to usual',
  'new-normal': 'The new normal',
};

export function alertAnswer({ news, unusual }: OneTelling): Answer {
  const title = `${TITLES[news]} · ${unusual.name}`;
  if (news === 'resolved' || news === 'new-normal') {
    return { title, parts: [{ kind: 'text', text: endText(news, unusual) }] };
  }
  return { title, parts: [{ kind: 'text', text: unusualText(unusual) }, deedsOf(unusual)] };
}

function endText(news: 'resolved' | 'new-normal', { incident }: Unusual): string {
  const sum = `${signedFigure(microOf(incident.impact))} credits in all`;
  const since = dayLabel(incident.since);
  return news === 'resolved'
    ? `Two final days within the usual range: what began on ${since} is over. ${sum}.`
    : `Seven unusual days since ${since}: from now on this counts as usual. ${sum}.`;
}

export function crowdAnswer({ day, direction, all }: CrowdTelling): Answer {
  const way = direction === 'up' ? 'more' : 'less';
  const names = all.slice(0, NAMED_MAX).map(unusualLine);
  const rest = all.length - names.length;
  const lines = [...names, ...(rest > 0 ? [`and ${rest} more`] : [])];
  const text = `Many lines at once point to one cause: a holiday, a price, or the data itself.`;
  return {
    title: `Most of what is watched cost unusually ${way} on ${dayLabel(day)} (UTC)`,
    parts: [
      { kind: 'text', text },
      { kind: 'text', text: lines.map((line) => `• ${line}`).join('\n') },
    ],
  };
}

/** The last day on which nobody is told, for a press on that day. */
export function mutedUntil(today: Day): Day {
  return addDays(today, MUTE_DAYS);
}
