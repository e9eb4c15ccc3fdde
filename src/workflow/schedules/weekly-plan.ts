import { type Occurrence, readWeeklyPlan, type WeeklyPlan } from '../../base/weekly-times.ts';
import type { Change } from '../../changes/change.ts';
import { timesOf } from '../../intent/ports/schedule-service.ts';

/** Returns the times of the schedule that a change created, from its plan. */
export function weeklyPlanOf({ plan }: Pick<Change, 'plan'>): WeeklyPlan {
  return readWeeklyPlan(timesOf({ fields: plan.body }));
}

/** `stop of Mon 23 Nov, 20:00 (Europe/Berlin)` */
export function occurrenceText({ action, at }: Occurrence, timeZone: string): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
  const when = new Intl.DateTimeFormat('en-GB', { ...day, ...time, timeZone }).format(at);
  return `${action} of ${when} (${timeZone})`;
}
