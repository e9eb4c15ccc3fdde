import type { JsonObject } from '../../src/base/text.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import {
  ScalingSchedule,
  ServiceReading,
  ServiceReadings,
} from '../../src/servers/cloud-readings.ts';
import type { OptionalRead, UnknownRead } from '../../src/servers/optional-reads.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { NOON } from './fixtures.ts';

export const REFUSED: UnknownRead = {
  ...{ known: false, gap: 'refused', status: 403 },
  why: 'the API key has no permission to read it (403)',
};

export const OFF: UnknownRead = { ...REFUSED, gap: 'off', why: 'contract mode', status: null };

interface Answers {
  readonly services?: readonly JsonObject[] | UnknownRead;
  readonly schedule?: JsonObject | UnknownRead | null;
}

/** Reads that answer from values, which pass the schemas of the client as replies do. */
export function servicesOf(
  byId: Readonly<Record<string, JsonObject | UnknownRead>>,
  { services = [], schedule = null }: Answers = {},
) {
  const asked: (readonly [string, unknown])[] = [];
  const answer = <T>(name: string, value: unknown, schema: { parse: (value: unknown) => T }) => {
    return async (how: unknown): Promise<OptionalRead<T>> => {
      asked.push([name, how]);
      // A read that failed, as the client returns it.
      if (isRead(value)) return value as OptionalRead<T>;
      return { known: true, value: schema.parse(value), readAt: NOON };
    };
  };
  const cloud: CommandContext['reads']['cloud'] = {
    ...READS_OFF.cloud,
    service: (id, how) => {
      const own = byId[id] ?? REFUSED;
      return answer('service', isRead(own) ? own : { id, ...own }, ServiceReading)(how);
    },
    services: (how) => answer('services', services, ServiceReadings)(how),
    schedule: (_, how) => answer('schedule', schedule, ScalingSchedule.nullable())(how),
  };
  return { reads: { cloud, alerts: null }, now: () => NOON, asked };
}

function isRead(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'known' in value;
}
