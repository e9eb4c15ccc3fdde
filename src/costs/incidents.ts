/** Unusual costs as text, and what is stored about them: which were announced or expected. */
import { createHash } from 'node:crypto';
import { formatDay } from '../base/calendar.ts';
import { addDays, type Day, dayOf, daysBetween } from '../base/time.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { evolveIncident, evolvePost } from '../domain/log-events.ts';
import type { Subjects } from '../log/index.ts';
import type { ChangeEffect, UnusualCost } from '../maths/anomalies.ts';
import { changeText, signedCredits } from '../maths/numbers.ts';
import { microOf } from '../maths/rows.ts';
import { excessOf } from './unusual.ts';

/** An unusual cost by its line and its first day, as the value of buttons: it names no line. */
export function incidentId({ key, since }: Pick<UnusualCost, 'key' | 'since'>): string {
  const name = JSON.stringify([key, since]);
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

const REMEMBERED_DAYS = 120;
/** The first day of an increase may turn out to be a little earlier or later. */
const MOVED_DAYS = 3;

/** The day from which a user marked the costs of a line as expected, by the key of the line. */
export async function readExpected(events: Subjects, now: Date): Promise<ReadonlyMap<string, Day>> {
  const first = addDays(dayOf(now), -REMEMBERED_DAYS);
  const decided = [...(await events.loadAll('incident', evolveIncident)).values()]
    .flatMap(({ state }) => (state && state.since >= first ? [state] : []))
    // The newest last, so that it overwrites the earlier ones.
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
  return new Map(decided.map(({ line, since }) => [line, since]));
}

/** Whether a message announced it; its first day may have moved since. */
export async function isAnnounced(
  events: Subjects,
  { key, since, last }: Pick<UnusualCost, 'key' | 'since' | 'last'>,
): Promise<boolean> {
  for (const day of daysBetween(addDays(since, -MOVED_DAYS), last)) {
    const name = `post/incident-${incidentId({ key, since: day })}` as const;
    if ((await events.load(name, evolvePost)).version > 0) return true;
  }
  return false;
}

/** `ml-features +61% since Tue 17 Nov, +41.0 credits per day` */
export function unusualText(unusual: UnusualCost): string {
  const { name, kind, relative, since, last, explained } = unusual;
  const when = since === last ? `on ${formatDay(since)}` : `since ${formatDay(since)}`;
  const perDay = `${amountText(excessOf(unusual))} per day`;
  if (kind === 'new') return `${name} is new ${when}, ${perDay}`;
  if (kind === 'rare') return `${name} cost ${perDay} ${when}, usually almost nothing`;
  const change = relative === null ? '' : ` ${changeText(relative)}`;
  const part = explained
    ? ` more than ${explained.change.what} explains (${explained.change.id})`
    : '';
  return `${name}${change} ${when}, ${perDay}${part}`;
}

function amountText(credits: number): string {
  return signedCredits(microOf(credits));
}

/** `batch-eu cost nothing since Tue 17 Nov`, `batch-eu −61% since Tue 17 Nov` */
export function decreaseText({ name, days, relative, since }: UnusualCost): string {
  const isNothing = days.every(({ value }) => value === 0);
  const change = isNothing ? 'cost nothing' : changeText(relative ?? 0);
  return `${name} ${change} since ${formatDay(since)}`;
}

/** `analytics-prod stopped (ADHZMF) −13.8 credits per day` */
export function effectText({ change, perDay }: ChangeEffect): string {
  const { service, what, id, isUnknown } = change;
  const done = isUnknown ? `may be ${what}, outcome unknown` : what;
  return `${service} ${done} (${id}) ${amountText(perDay)} per day`;
}

/** *Details* and *Expected*. They carry only the id. */
export function incidentButtons(unusual: Pick<UnusualCost, 'key' | 'since'>): AnswerPart {
  const value = incidentId(unusual);
  return {
    kind: 'actions',
    actions: [
      { id: 'incident.details', label: 'Details', value },
      { id: 'incident.expected', label: 'Expected', value },
    ],
  };
}

/** A message of its own, outside a digest. */
export function unusualMessage(unusual: UnusualCost): Answer {
  return { title: `Unusual cost: ${unusualText(unusual)}`, parts: [incidentButtons(unusual)] };
}
