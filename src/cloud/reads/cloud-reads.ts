import { type CachedRead, cachedRead } from '../../http/optional/cached-read.ts';
import {
  type Capabilities,
  type CapabilityOptions,
  createCapabilities,
} from '../../http/optional/capabilities.ts';
import type { OptionalRead, ReadOptions } from '../../http/optional/optional-read.ts';
import { CLOUD_CAPABILITIES, type CloudCapability } from './capabilities.ts';
import type {
  ActivityReading,
  BackupReading,
  EndpointReading,
  KeyReading,
  PipeReading,
} from './readings.ts';
import {
  type ActivityPeriod,
  createReadRequests,
  type ReadTargets,
  type SendRead,
} from './requests.ts';
import type { ScalingSchedule } from './schedule.ts';
import type { ServiceReading } from './service-reading.ts';

type ReadOf<T> = (serviceId: string, options?: ReadOptions) => Promise<OptionalRead<T>>;

/**
 * What live servers return in addition to the contract. Nothing may need it: with `cloud.reads:
 * contract` no request is sent, and each function returns why its value is unknown. No function
 * throws an ApiError, and none sends a write.
 */
export interface CloudReads {
  /** All services that the key may see, at most 60 s old, without addresses. */
  readonly services: (options?: ReadOptions) => Promise<OptionalRead<readonly ServiceReading[]>>;
  /** One service, read again at each call. */
  readonly service: ReadOf<ServiceReading>;
  /** Null: the service has no schedule. On newer servers the service itself carries it. */
  readonly schedule: ReadOf<ScalingSchedule | null>;
  /** Newest first, at most 5 min old. Only a primary service has backups. */
  readonly backups: ReadOf<readonly BackupReading[]>;
  /** At most 5 min old. Servers may refuse it while the service does not run. */
  readonly pipes: ReadOf<readonly PipeReading[]>;
  /** The reverse private endpoints, at most 5 min old; refused like the pipes. */
  readonly endpoints: ReadOf<readonly EndpointReading[]>;
  /** One reverse private endpoint, read again at each call. */
  readonly endpoint: (
    serviceId: string,
    endpointId: string,
    options?: ReadOptions,
  ) => Promise<OptionalRead<EndpointReading>>;
  /** The audit log of a few days, newest first, at most 5 min old. */
  readonly activities: (
    period: ActivityPeriod,
    options?: ReadOptions,
  ) => Promise<OptionalRead<readonly ActivityReading[]>>;
  /** The roles and the expiry of the key of Signalbox. */
  readonly key: (options?: ReadOptions) => Promise<OptionalRead<KeyReading>>;
  /** The ids of the organizations that the key belongs to: one. */
  readonly organizations: (options?: ReadOptions) => Promise<OptionalRead<readonly string[]>>;
  /** Whether no request of a capability is sent: it is not allowed, or the server refused it. */
  readonly isOff: (capability: CloudCapability) => boolean;
}

export type CloudReadOptions = CapabilityOptions & ReadTargets;

const SERVICES_KEPT_MS = 60_000;
const LISTS_KEPT_MS = 300_000;

/** Opens the optional reads of the cloud API. */
export function createCloudReads(send: SendRead, options: CloudReadOptions): CloudReads {
  const requests = createReadRequests(send, options);
  const capabilities: Capabilities<CloudCapability> = createCapabilities(
    CLOUD_CAPABILITIES,
    options,
  );
  const cached = <T>(read: CachedRead<CloudCapability, T>) =>
    cachedRead(capabilities, options.now, read);
  const ofOrganization = { keepMs: LISTS_KEPT_MS, isOfAll: true };
  const list = { keepMs: LISTS_KEPT_MS };
  const always = { keepMs: 0 };

  const services = cached({
    ...{ ...ofOrganization, name: 'services', keepMs: SERVICES_KEPT_MS },
    send: (_, call) => requests.services(call),
  });
  const endpoint = cached({
    ...{ ...always, name: 'private-endpoints' },
    send: (key, call) => requests.endpoint(...partsOf(key), call),
  });
  const activities = cached({
    ...{ ...ofOrganization, name: 'activities' },
    send: (key, call) => {
      const [from_date, to_date] = partsOf(key);
      return requests.activities({ from_date, to_date }, call);
    },
  });
  const key = cached({
    ...{ ...ofOrganization, name: 'key' },
    send: (_, call) => requests.key(call),
  });
  const organizations = cached({
    ...{ ...ofOrganization, name: 'identity' },
    send: async (_, call) => (await requests.organizations(call)).map(({ id }) => id),
  });
  return {
    services: (how) => services('all', how),
    service: cached({ ...always, name: 'service', send: requests.service }),
    schedule: cached({ ...list, name: 'schedule', send: requests.schedule }),
    backups: cached({ ...list, name: 'backups', send: requests.backups }),
    pipes: cached({ ...list, name: 'pipes', send: requests.pipes }),
    endpoints: cached({ ...list, name: 'private-endpoints', send: requests.endpoints }),
    endpoint: (serviceId, endpointId, how) => endpoint(`${serviceId}/${endpointId}`, how),
    activities: ({ from_date, to_date }, how) => activities(`${from_date}/${to_date}`, how),
    key: (how) => key('own', how),
    organizations: (how) => organizations('own', how),
    isOff: (capability) => capabilities.blocked(capability, null) !== null,
  };
}

function partsOf(key: string): readonly [string, string] {
  const [first = '', second = ''] = key.split('/');
  return [first, second];
}
