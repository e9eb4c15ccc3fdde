import type { OptionalCall } from '../../http/optional/cached-read.ts';
import type { Capabilities } from '../../http/optional/capabilities.ts';
import type { OptionalRead, UnknownRead } from '../../http/optional/optional-read.ts';
import { type Probe, type ProbedRead, runProbe } from '../../http/optional/probes.ts';
import { CLOUD_CAPABILITIES, type CloudCapability } from './capabilities.ts';
import type { ReadRequests } from './requests.ts';
import type { ServiceReading } from './service-reading.ts';

export interface ProbeContext {
  readonly requests: ReadRequests;
  readonly capabilities: Capabilities<CloudCapability>;
  readonly services: () => Promise<OptionalRead<readonly ServiceReading[]>>;
  /** The ids of services for servers that do not list them. */
  readonly configured: readonly string[];
  readonly call: OptionalCall;
  readonly now: () => Date;
}

type Runs = readonly (readonly [CloudCapability, () => Promise<ProbedRead>])[];

/** One probe for each capability, in the order in which they run. */
export function cloudProbes(context: ProbeContext): readonly Probe[] {
  const { requests, capabilities, call, now } = context;
  const isRunning = ({ state }: ServiceReading) => state === 'running';
  const runs: Runs = [
    ['services', () => probeList(context)],
    ['service', () => probeServices(context, 'service', () => true)],
    ['backups', () => probeServices(context, 'backups', ({ isPrimary }) => isPrimary === true)],
    ['pipes', () => probeServices(context, 'pipes', isRunning)],
    ['private-endpoints', () => probeServices(context, 'private-endpoints', isRunning)],
    ['schedule', () => probeSchedule(context)],
    [
      'activities',
      () => {
        const day = now().toISOString().slice(0, 10);
        const send = () => requests.activities({ from_date: day, to_date: day }, call);
        return runProbe(capabilities, 'activities', { subject: null, send });
      },
    ],
  ];
  return runs.map(([capability, run]) => {
    return { capability, permission: CLOUD_CAPABILITIES[capability].permission, run };
  });
}

/** The list is cached, because the other probes choose their services from it. */
async function probeList({ capabilities, services }: ProbeContext): Promise<ProbedRead> {
  const listed = await services();
  const isDecided = listed.known || capabilities.blocked('services', null) !== null;
  return { ...listed, isDecided };
}

/** Newer servers have the schedule in the service itself. */
async function probeSchedule(context: ProbeContext): Promise<ProbedRead> {
  const listed = await context.services();
  const isInList = listed.known && listed.value.some((one) => one.scalingSchedule !== null);
  return isInList ? { ...listed, isDecided: true } : probeServices(context, 'schedule', () => true);
}

const REQUEST_OF = {
  service: 'service',
  backups: 'backups',
  pipes: 'pipes',
  'private-endpoints': 'endpoints',
  schedule: 'schedule',
} as const satisfies Partial<Record<CloudCapability, keyof ReadRequests>>;

const NO_SERVICE: UnknownRead = {
  known: false,
  gap: 'not-found',
  why: 'no service is known with which it can be checked',
  status: null,
};

/**
 * Reads one service. If the server does not find it, that can concern this service only, so another
 * one decides. Without the list it is not known which services have backups, so nothing is decided.
 */
async function probeServices(
  { requests, capabilities, services, configured, call }: ProbeContext,
  name: keyof typeof REQUEST_OF,
  suits: (service: ServiceReading) => boolean,
): Promise<ProbedRead> {
  const listed = await services();
  const ids = listed.known ? listed.value.filter(suits).map(({ id }) => id) : configured;
  const results: ProbedRead[] = [];
  for (const id of ids.slice(0, 2)) {
    const send = () => requests[REQUEST_OF[name]](id, call);
    const result = await runProbe(capabilities, name, { subject: id, send });
    if (result.known || result.gap !== 'not-found') return result;
    results.push(result);
  }
  const [first = { ...NO_SERVICE, isDecided: false }, second] = results;
  if (first.known || second === undefined || !listed.known) return first;
  capabilities.switchOff(name, first);
  return { ...first, isDecided: true };
}
