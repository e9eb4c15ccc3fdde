import type { Json, JsonObject } from '../../base/text.ts';
import type { FactValue } from '../../domain/answer.ts';
import { countWords, oneLineOf } from '../../domain/answer.ts';
import type { Snapshot } from '../../domain/change.ts';
import { currentSizeText, policyFacts, type Service } from '../../domain/targets.ts';
import type { ScalingSchedule, ServiceReading } from '../../servers/cloud-readings.ts';
import { endpointText, serviceSnapshot } from '../../servers/facts.ts';
import type { OptionalRead } from '../../servers/optional-reads.ts';
import { unknownText } from './unknown-read.ts';

export type Fact = readonly [label: string, value: FactValue];

/** What is known about a service: read now, else last seen, else nothing. */
export interface ServiceView {
  readonly service: Service;
  readonly read: OptionalRead<ServiceReading>;
  readonly schedule: OptionalRead<ScalingSchedule | null>;
}

/** The fields that were read now, otherwise those last seen. */
export function knownSnapshot({ service, read }: ServiceView): Snapshot | null {
  return read.known ? serviceSnapshot(read.value, read.readAt) : service.lastSeen;
}

/** The most important facts, one per line: state, size, idling, schedule, addresses. */
export function overviewFacts(view: ServiceView): readonly Fact[] {
  const { service, read } = view;
  const fields = knownSnapshot(view)?.fields ?? {};
  const facts: readonly Fact[] = [
    ['State', stateText(view)],
    ['Size', currentSizeText(fields)],
    ['Idling', idlingText(fields)],
  ];
  if (read.known) return [...facts, ...readFacts(view, read.value)];
  const { lastSeen, pipes } = service;
  const names = pipes.map(({ name }) => name).join(', ');
  return [
    ...facts,
    ...endpointFacts(textsIn(fields.endpoints)),
    ['Pipes', names || null],
    ['Last seen', lastSeen ? [{ at: lastSeen.seenAt }, ` (${lastSeen.source})`] : 'never'],
  ];
}

function stateText(view: ServiceView): string {
  const { service, read } = view;
  const state = knownSnapshot(view)?.fields.state;
  const known = typeof state === 'string' ? oneLineOf(state, 60) : 'unknown';
  const now = read.known ? `${known} (checked just now)` : `${known} when last seen`;
  const { tags, warehouse } = policyFacts(service);
  const names = tags?.map((tag) => oneLineOf(tag, 60)).join(', ');
  const about = [names, warehouse && `warehouse ${oneLineOf(warehouse, 60)}`].filter(Boolean);
  const isSeen = read.known || service.lastSeen !== null;
  return [isSeen ? now : 'unknown', ...about].join(' · ');
}

function idlingText({ idleScaling, idleTimeoutMinutes: minutes }: JsonObject): string | null {
  if (idleScaling === false) return 'off: it costs credits until it is stopped';
  if (idleScaling !== true) return null;
  return minutes === undefined ? 'on' : `after ${minutes} minutes without queries`;
}

const LISTED = 3;

function readFacts({ schedule }: ServiceView, reading: ServiceReading): readonly Fact[] {
  const endpoints = (reading.endpoints ?? []).flatMap((one) => endpointText(one));
  return [
    ['Schedule', scheduleText(schedule)],
    ...endpointFacts(endpoints),
    ['IP access', reading.ipAccessList && accessText(reading.ipAccessList)],
  ];
}

function endpointFacts(endpoints: readonly string[]): readonly Fact[] {
  return endpoints.length === 0 ? [] : [['Endpoints', listText(endpoints)]];
}

function scheduleText(read: ServiceView['schedule']): string {
  if (!read.known) return unknownText(read);
  const entries = scheduleTexts(read.value);
  return entries.length === 0 ? 'none' : listText(entries);
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `Business hours: Mon Tue 06–18 UTC, 64 GB (applies now)`, for each entry of a scaling schedule. */
export function scheduleTexts(schedule: ScalingSchedule | null): readonly string[] {
  return (schedule?.entries ?? []).map((entry) => {
    const { name, weekdays, startHourUtc: from, endHourUtc: until, id } = entry;
    const days = (weekdays ?? []).map((day) => DAYS[day]).join(' ');
    const hours =
      from === null || until === null ? '' : `${twoDigits(from)}–${twoDigits(until)} UTC`;
    const isActive = entry.isActiveNow ?? (id !== null && id === schedule?.activeEntryId);
    const { minReplicaMemoryGb, maxReplicaMemoryGb, minReplicas, maxReplicas } = entry;
    const size = currentSizeText({
      ...{ minReplicaMemoryGb, maxReplicaMemoryGb, minReplicas, maxReplicas },
      numReplicas: minReplicas === maxReplicas ? minReplicas : null,
    });
    const times = [days, hours].filter(Boolean).join(' ');
    const what = [times, size].filter(Boolean).join(', ');
    return `${oneLineOf(name ?? 'entry', 60)}: ${what}${isActive ? ' (applies now)' : ''}`;
  });
}

function twoDigits(hour: number): string {
  return String(hour).padStart(2, '0');
}

type AccessEntry = Readonly<Record<string, unknown>>;

function accessText(entries: readonly AccessEntry[]): string {
  if (entries.length === 0) return 'no address';
  const count = countWords(entries.length, 'entry', 'entries');
  return `${count}: ${listText(accessTexts(entries))}`;
}

/** `10.0.0.0/8 (office)`, for each entry. */
export function accessTexts(entries: readonly AccessEntry[]): readonly string[] {
  return entries.map(({ source, description }) => {
    const about = typeof description === 'string' && description !== '' ? ` (${description})` : '';
    return oneLineOf(`${typeof source === 'string' ? source : 'unknown'}${about}`, 100);
  });
}

function listText(all: readonly string[]): string {
  const shown = all.slice(0, LISTED).map((one) => oneLineOf(one, 150));
  const left = all.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join(', ');
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
