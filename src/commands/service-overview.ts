import type { Json, JsonObject } from '../base/text.ts';
import { countWords, type FactValue, type InlinePart, oneLineOf } from '../domain/answer.ts';
import type { Snapshot } from '../domain/change.ts';
import { currentSizeText, policyFacts, type Service } from '../domain/targets.ts';
import type {
  ActivityReading,
  ScalingSchedule,
  ServiceReading,
} from '../servers/cloud-readings.ts';
import { endpointText, serviceSnapshot } from '../servers/facts.ts';
import type { OptionalRead } from '../servers/optional-reads.ts';
import { reportedTime, unknownText } from './reported.ts';

/** The changes that were made elsewhere, one line each, or why they are unknown. */
export type ElsewhereRead = OptionalRead<readonly (readonly InlinePart[])[]>;

const DONE: Readonly<Record<string, string>> = {
  service_create: 'Created',
  service_start: 'Started',
  service_stop: 'Stopped',
  service_delete: 'Deleted',
  service_upgrade: 'Upgraded',
  service_restore_backup: 'Restored from a backup',
  service_scaled_down_for_tier_change: 'Scaled down for another tier',
  service_update_name: 'Renamed',
  service_update_autoscaling_memory: 'Memory scaled',
  service_update_autoscaling_replicas: 'Replicas scaled',
  service_update_autoscaling_idling: 'Idling changed',
  service_update_autoscaling_schedule: 'Scaling schedule changed',
  service_update_ip_access_list: 'IP access list changed',
};

/** What a service does by itself: no change that a user made. */
const BY_ITSELF: readonly string[] = [
  ...['service_idle', 'service_awaken', 'service_running', 'service_partially_running'],
  ...['service_maintenance_start', 'service_maintenance_end'],
];

/**
 * The changes of a service that were not made with the key of Signalbox, newest first, each with its
 * time. Who made them is personal data, so only operators of the service see it.
 */
export function elsewhereLines(
  activities: readonly ActivityReading[],
  serviceId: string,
  isOperator: boolean,
): readonly (readonly InlinePart[])[] {
  return changesElsewhere(activities, serviceId).map((one) => {
    const at = reportedTime(one.createdAt);
    const when: readonly InlinePart[] = at ? [', ', { at }] : [];
    return [`${doneText(one)} ${isOperator ? byText(one) : 'outside Signalbox'}`, ...when];
  });
}

/** The entries about changes of a service that were not made with the key of Signalbox. */
export function changesElsewhere(
  activities: readonly ActivityReading[],
  serviceId: string,
): readonly ActivityReading[] {
  return activities.filter((one) => one.serviceId === serviceId && !one.isOwnKey && isChange(one));
}

function isChange({ type }: ActivityReading): boolean {
  return type?.startsWith('service_') === true && !BY_ITSELF.includes(type);
}

/** A type that is not known is shown as the server names it. */
function doneText({ type }: ActivityReading): string {
  const name = type ?? '';
  return DONE[name] ?? oneLineOf(name.replace(/^service_/, '').replaceAll('_', ' '), 60);
}

function byText({ actorType, actorDetails }: ActivityReading): string {
  const who = oneLineOf(actorDetails ?? '', 100);
  if (actorType === 'user') return `in the console by ${who || 'an unknown user'}`;
  if (actorType === 'api') return `by another API key${who && ` (${who})`}`;
  if (actorType === 'system') return 'by the server';
  const type = oneLineOf(actorType ?? 'an unknown actor', 60);
  return `by ${type}${who && ` (${who})`}`;
}

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
