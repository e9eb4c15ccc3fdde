// The schedule of a service: its times, its service and its words. A schedule is created by a change.

import type { Occurrence } from '../base/weekly-times.ts';
import type { CommandOffer, InlinePart } from './answer.ts';
import type { Snapshot, UserId } from './change.ts';
import type { LoggedSchedule } from './log-events.ts';

/** A schedule lasts this many days; then it has to be requested again. */
export const SCHEDULE_DAYS = 90;

/** Why a schedule ended that nobody renewed. */
export const EXPIRED = 'expired';

/** A schedule that is in force, also while it is paused. */
export interface ServiceSchedule extends LoggedSchedule {
  /** The next run; null while it is paused, and if it expires before. */
  readonly next: Occurrence | null;
}

/** Lists the schedules of services. */
export interface ScheduleService {
  readonly all: () => Promise<readonly ServiceSchedule[]>;
  readonly of: (serviceId: string) => Promise<ServiceSchedule | null>;
  /** The time zone of a user; null if Slack did not answer. */
  readonly zoneOf: (by: UserId) => Promise<string | null>;
}

/** `stop weekdays 20:00, start weekdays 07:00 (Europe/Berlin)` */
export function scheduleText({
  stop,
  start,
  zone,
}: Pick<ServiceSchedule, 'stop' | 'start' | 'zone'>): string {
  const times = [stop && `stop ${stop}`, start && `start ${start}`].filter(Boolean);
  return `${times.join(' · ')} (${zone})`;
}

/** The command line that requests the same schedule again. */
export function scheduleCommandLine({
  service,
  stop,
  start,
  zone,
}: Pick<ServiceSchedule, 'service' | 'stop' | 'start' | 'zone'>): string {
  const words = [stop && `stop="${stop}"`, start && `start="${start}"`, `zone=${zone}`];
  return ['service schedule', service.id, ...words.filter(Boolean)].join(' ');
}

/** The times in the snapshot of a schedule. */
export function timesOf({ fields: { stop, start, zone } }: Pick<Snapshot, 'fields'>) {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return { stop: text(stop), start: text(start), zone: text(zone) ?? 'UTC' };
}

/** The times of a schedule, its next run and its end, on one line. */
export function scheduleWords(schedule: ServiceSchedule): readonly InlinePart[] {
  const { next, isPaused, until, last } = schedule;
  const run: readonly InlinePart[] = isPaused
    ? [' · paused']
    : next
      ? [` · next ${next.action} `, { at: next.at }]
      : [];
  const skipped = last?.skipped ? ` · last one skipped: ${last.skipped}` : '';
  return [scheduleText(schedule), ...run, ' · expires ', { at: until }, skipped];
}

/** The same with the service, who requested it and its id. */
export function scheduleLineWords(schedule: ServiceSchedule): readonly InlinePart[] {
  const { service, by, change } = schedule;
  const words = scheduleWords(schedule);
  return [{ bold: service.name }, ' · ', ...words, ' · ', { user: by }, ` · ${change}`];
}

/** What users can do with a schedule. Each line is checked again like a typed one. */
export function scheduleOffers({ service, isPaused }: ServiceSchedule): readonly CommandOffer[] {
  const offer = (label: string, verb: string) => ({
    label: `${label} ${service.name}`,
    line: `service schedule ${verb} ${service.id}`,
  });
  return [
    isPaused ? offer('Resume', 'resume') : offer('Pause', 'pause'),
    offer('Remove', 'remove'),
  ];
}

/** `stop of Mon 23 Nov, 20:00 (Europe/Berlin)` */
export function occurrenceText({ action, at }: Occurrence, timeZone: string): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
  const when = new Intl.DateTimeFormat('en-GB', { ...day, ...time, timeZone }).format(at);
  return `${action} of ${when} (${timeZone})`;
}
