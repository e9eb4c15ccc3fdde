import type { CloudRead } from '../api/optional-reads.ts';
import type { RateLimit } from '../api/rate-limit.ts';
import type { CostLocking } from './cost-locking.ts';

/**
 * The differences between live servers, and the points on which their behaviour is unknown. The bot
 * must work with every value. A default is the observed behaviour, otherwise the stricter one.
 */
export interface CloudBehaviour {
  readonly rateLimit: RateLimit | null;
  readonly costDates: 'date' | 'date-time' | 'both';
  /** What the refusal of a date contains. */
  readonly costDateRefusal: 'value' | 'encoded value' | 'field' | 'no reason' | 'html';
  readonly costDateStatus: 400 | 422;
  /** Some organizations have warehouses with the id of one of their services. */
  readonly costWarehouseIds: 'own' | 'of a service';
  readonly costLocking: CostLocking;
  /** 3 adds `currentScaling` and schedules to a service, 4 adds ranges of replicas. */
  readonly serviceGeneration: 2 | 3 | 4;
  /** Optional reads that this server does not have, by operation. */
  readonly absentReads: Readonly<Partial<Record<CloudRead, 404 | 405>>>;
  /** The format of dates is not documented; clients that are known to work send dates. */
  readonly activityDates: 'date' | 'date-time';
  /** What the owner of the network does with a private endpoint that waits for acceptance. */
  readonly endpointOwner: 'accepts' | 'rejects' | 'does nothing';
  /** `failed`: starting and provisioning end in this state. */
  readonly startsEnd: 'running' | 'failed';
  readonly durations: Durations;
}

/** In milliseconds of the simulator's clock. */
export interface Durations {
  readonly start: number;
  readonly stop: number;
  readonly provision: number;
  readonly scale: number;
  readonly endpoint: number;
  /** After `endpoint`: until the owner accepts or rejects it. */
  readonly acceptance: number;
  /** Until the log of activities shows an event. */
  readonly activity: number;
}

export const USUAL_BEHAVIOUR: CloudBehaviour = {
  rateLimit: { requests: 10, perMs: 10_000 },
  costDates: 'date',
  costDateRefusal: 'value',
  costDateStatus: 400,
  costWarehouseIds: 'own',
  costLocking: { days: 12, batchDays: 1, stragglers: 0.02 },
  serviceGeneration: 4,
  absentReads: {},
  activityDates: 'date',
  endpointOwner: 'accepts',
  startsEnd: 'running',
  durations: {
    ...{ start: 60_000, stop: 90_000, provision: 60_000, scale: 60_000 },
    ...{ endpoint: 60_000, acceptance: 300_000, activity: 30_000 },
  },
};
