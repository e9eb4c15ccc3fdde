import type { ScheduleEntry } from '../seed/shapes.ts';
import type { Scaling, ServiceRecord } from './state.ts';

/** The entry of the scaling schedule that applies at this time, or null. */
export function activeEntry({ schedule }: ServiceRecord, now: Date): ScheduleEntry | null {
  return schedule.find((entry) => isActive(entry, now)) ?? null;
}

/** The scaling that is applied: of an active entry, or the previous one while a change is running. */
export function appliedScaling(service: ServiceRecord, now: Date): Scaling {
  const entry = activeEntry(service, now);
  const scaling = service.scaledFrom?.scaling ?? service.scaling;
  if (entry === null) return scaling;
  const { minReplicaMemoryGb, maxReplicaMemoryGb } = entry;
  return { ...scaling, minReplicaMemoryGb, maxReplicaMemoryGb };
}

// The hours after midnight belong to the day on which the entry starts.
export function isActive(
  { weekdays, startHourUtc, endHourUtc }: ScheduleEntry,
  now: Date,
): boolean {
  const hour = now.getUTCHours();
  const today = now.getUTCDay();
  if (startHourUtc < endHourUtc) {
    return weekdays.includes(today) && hour >= startHourUtc && hour < endHourUtc;
  }
  const yesterday = (today + 6) % 7;
  return (
    (weekdays.includes(today) && hour >= startHourUtc) ||
    (weekdays.includes(yesterday) && hour < endHourUtc)
  );
}
