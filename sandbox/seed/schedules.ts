import type { ScheduleEntry } from './shapes.ts';

/** The scaling schedules of services, by the name of the service. Times are UTC. */
export const SCHEDULES: Readonly<Record<string, readonly ScheduleEntry[]>> = {
  'bi-readonly': [
    {
      id: 'b1c0a3de-4f52-4f0c-9d1e-6a7b8c9d0e1f',
      name: 'Business hours',
      weekdays: [1, 2, 3, 4, 5],
      startHourUtc: 6,
      endHourUtc: 18,
      minReplicaMemoryGb: 64,
      maxReplicaMemoryGb: 64,
    },
  ],
};
