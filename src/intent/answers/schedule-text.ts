import { type ServiceSchedule, scheduleText } from '../ports/schedule-service.ts';
import type { CommandOffer, InlinePart } from './answer.ts';

/** The times of a schedule, its next run and its end, on one line. */
export function scheduleWords(schedule: ServiceSchedule): readonly InlinePart[] {
  const { next, isPaused, until, lastSkipped } = schedule;
  const run: readonly InlinePart[] = isPaused
    ? [' · paused']
    : next
      ? [` · next ${next.action} `, { at: next.at }]
      : [];
  const skipped = lastSkipped ? ` · last one skipped: ${lastSkipped}` : '';
  return [scheduleText(schedule), ...run, ' · expires ', { at: until }, skipped];
}

/** The same with the service, who requested it and its id. */
export function scheduleLineWords(schedule: ServiceSchedule): readonly InlinePart[] {
  const { service, by, id } = schedule;
  return [
    { bold: service.name },
    ' · ',
    ...scheduleWords(schedule),
    ' · ',
    { user: by },
    ` · ${id}`,
  ];
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
