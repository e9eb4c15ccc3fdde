import type { RateLimit } from '../api/rate-limit.ts';

/**
 * The differences between live servers, and the points on which their behaviour is unknown. The bot
 * must work with every value. A default is the observed behaviour, otherwise the stricter one.
 */
export interface CloudBehaviour {
  readonly rateLimit: RateLimit | null;
  readonly rateLimitReply: 'x-ratelimit-reset' | 'retry-after' | 'no header' | 'html';
  readonly unknownId: 404 | 400;
  readonly unknownFields: 'ignored' | 'refused';
  readonly emptyPatch: 'accepted' | 'refused';
  /** The fields that a create must have; the contract marks no field as required. */
  readonly createRequires: readonly string[];
  /** The contract does not allow hyphens in a new name; live servers allow them. */
  readonly nameHyphens: 'refused' | 'accepted';
  readonly endpointServiceName: 'optional' | 'required';
  /** `provisioning`: the reply to a new endpoint has the status Provisioning. */
  readonly endpointReply: 'provisioning' | 'settled';
  readonly stopWhenStopped: 'unchanged' | 'conflict';
  readonly stopWhenStopping: 'unchanged' | 'conflict';
  readonly stopWhileStarting: 'conflict' | 'accepted';
  readonly startWhileStopping: 'conflict' | 'unchanged';
  readonly stopOfIdleEnds: 'stopped' | 'idle';
  readonly stopOfPrimary: 409 | 400;
  /** True when the reply to a state command has the previous state. */
  readonly staleReply: boolean;
  readonly scalingReply: 'new values' | 'old values';
  /** `granted` if the organization may change the number of replicas, otherwise the status. */
  readonly replicaEntitlement: 'granted' | 400 | 403;
  readonly costDates: 'date' | 'date-time' | 'both';
  readonly costShape: 'list' | 'object' | 'empty' | 'null';
  /** Some organizations have no usage report. */
  readonly costAccess: 'granted' | 403 | 404;
  readonly pipeSettingsWhileDown: 'returned' | 424;
  readonly durations: Durations;
}

/** In milliseconds of the simulator's clock. */
export interface Durations {
  readonly start: number;
  readonly stop: number;
  readonly provision: number;
  readonly scale: number;
  readonly endpoint: number;
}

export const USUAL_BEHAVIOUR: CloudBehaviour = {
  rateLimit: { requests: 10, perMs: 10_000 },
  rateLimitReply: 'x-ratelimit-reset',
  unknownId: 404,
  unknownFields: 'ignored',
  emptyPatch: 'accepted',
  createRequires: ['name', 'provider', 'region'],
  nameHyphens: 'refused',
  endpointServiceName: 'optional',
  endpointReply: 'provisioning',
  stopWhenStopped: 'unchanged',
  stopWhenStopping: 'unchanged',
  stopWhileStarting: 'conflict',
  startWhileStopping: 'conflict',
  stopOfIdleEnds: 'stopped',
  stopOfPrimary: 409,
  staleReply: false,
  scalingReply: 'new values',
  replicaEntitlement: 'granted',
  costDates: 'date',
  costShape: 'list',
  costAccess: 'granted',
  pipeSettingsWhileDown: 'returned',
  durations: { start: 60_000, stop: 90_000, provision: 60_000, scale: 60_000, endpoint: 60_000 },
};
