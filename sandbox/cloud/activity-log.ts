import type { Call } from '../api/call.ts';
import { uuid } from '../api/random.ts';
import { keyIdOf } from './access.ts';
import type { ActivityRecord, CloudState } from './state.ts';

const _MINUTE_MS = 60_000;

type Actor = Pick<
  ActivityRecord,
  'actorType' | 'actorId' | 'actorDetails' | 'actorIpAddress' | 'userAgent'
>;

/** A person who works in the console. */
export function consoleUser(name: string): Actor {
  return {
    actorType: 'user',
    actorId: `usr-${name.toLowerCase()}`,
    actorDetails: `${name.toLowerCase()}@example.com`,
    actorIpAddress: '203.0.113.7',
  };
}

/** The API key of a request. */
export function keyOfCall(call: Call): Actor {
  const id = keyIdOf(call);
  return {
    actorType: 'api',
    actorId: id,
    actorDetails: `key ${id}`,
    actorIpAddress: '203.0.113.20',
    userAgent: call.headers['user-agent'] ?? '',
  };
}

export const SYSTEM: Actor = {
  actorType: 'system',
  actorId: 'system',
  actorDetails: 'system',
  actorIpAddress: '',
};

/** Adds an entry; the log shows it with the usual delay. */
export function recordActivity(
  cloud: CloudState,
  by: Actor,
  what: Pick<ActivityRecord, 'type' | 'serviceId'> & { readonly at?: Date },
): void {
  const { at = cloud.now(), ...rest } = what;
  cloud.activities.push({ id: activityId(cloud), at, ...by, ...rest });
}

/** The types of the entries for a change of the scaling: one for each kind of field. */
export function scalingTypes(fields: readonly string[]): readonly string[] {
  const kinds = fields.map((field) => {
    if (field === 'numReplicas') return 'replicas';
    return field.startsWith('idle') ? 'idling' : 'memory';
  });
  return [...new Set(kinds)].map((kind) => `service_update_autoscaling_${kind}`);
}

// Ids of activities are not UUIDs.
function activityId({ random }: CloudState): string {
  return `act-${uuid(random).slice(0, 8)}`;
}
