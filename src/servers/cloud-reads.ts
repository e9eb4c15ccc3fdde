import type { z } from 'zod';
import { ApiError } from '../base/errors.ts';
import { pathId } from '../base/http.ts';
import { matchingId } from '../base/http-rows.ts';
import {
  type ActivityReading,
  activityReadings,
  type BackupReading,
  BackupReadings,
  EndpointReading,
  EndpointReadings,
  KeyReading,
  OrganizationReadings,
  type PipeReading,
  PipeReadings,
  ScalingSchedule,
  ServiceReading,
  ServiceReadings,
} from './cloud-readings.ts';
import type { UsagePeriod } from './cloud-schema.ts';
import {
  type CachedRead,
  type CapabilityOptions,
  CLOUD_CAPABILITIES,
  type CloudCapability,
  cachedRead,
  createCapabilities,
  type OptionalCall,
  type OptionalRead,
  type ReadOptions,
  type ReadRequest,
  type SendRead,
} from './optional-reads.ts';

interface ReadTargets {
  readonly organizationId: string;
  readonly keyId: string;
}

/**
 * What is read of all organizations. Where several are configured, `missing` names those that do not answer: what is
 * not in the value may be theirs.
 */
export type ReadOfAll<T> = OptionalRead<readonly T[]> & {
  readonly missing?: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly why: string;
  }[];
};

type ReadOf<T> = (serviceId: string, options?: ReadOptions) => Promise<OptionalRead<T>>;

/**
 * What live servers return in addition to the contract. Nothing may need it: with `cloud.reads:
 * contract` no request is sent, and each function returns why its value is unknown. No function
 * throws an ApiError, and none sends a write.
 */
export interface CloudReads {
  /** All services that the key may see, at most 60 s old, without addresses. */
  readonly services: (options?: ReadOptions) => Promise<ReadOfAll<ServiceReading>>;
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
    period: UsagePeriod,
    options?: ReadOptions,
  ) => Promise<ReadOfAll<ActivityReading>>;
  /** The roles and the expiry of the key of Signalbox. */
  readonly key: (options?: ReadOptions) => Promise<OptionalRead<KeyReading>>;
  /** The ids of the organizations that the key belongs to: one. */
  readonly organizations: (options?: ReadOptions) => Promise<OptionalRead<readonly string[]>>;
  /** Whether no request of a capability is sent: it is not allowed, or the server refused it. */
  readonly isOff: (capability: CloudCapability) => boolean;
}

const SERVICES_KEPT_MS = 60_000;
const LISTS_KEPT_MS = 300_000;

export const ENDPOINTS = '/pipesReversePrivateEndpoints';

/** Opens the optional reads of the cloud API. Their requests throw like the client. */
export function createCloudReads(
  send: SendRead,
  options: CapabilityOptions & ReadTargets,
): CloudReads {
  const { organizationId, keyId, now } = options;
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', organizationId)}`;
  const withDates = createDateFormats('date');
  const capabilities = createCapabilities(CLOUD_CAPABILITIES, options);

  const get = <S extends z.ZodType>(
    operation: string,
    rest: string,
    schema: S,
    call: Omit<ReadRequest, 'operation' | 'path'>,
  ) => send({ operation, path: `${root}${rest}`, ...call }, schema);

  function ofService<S extends z.ZodType>(operation: string, rest: string, schema: S) {
    return async (serviceId: string, call: OptionalCall) => {
      const id = pathId(operation, 'serviceId', serviceId);
      return get(operation, `/services/${id}${rest}`, schema, call);
    };
  }

  type Send<T> = CachedRead<CloudCapability, T>['send'];
  const cached = <T>(name: CloudCapability, send: Send<T>, keepMs = LISTS_KEPT_MS) =>
    cachedRead(capabilities, now, { name, keepMs, send });
  const ofOrganization = <T>(name: CloudCapability, send: Send<T>, keepMs = LISTS_KEPT_MS) =>
    cachedRead(capabilities, now, { name, keepMs, send, isOfAll: true });

  const services = ofOrganization(
    'services',
    (_, call) => get('listServices', '/services', ServiceReadings, call),
    SERVICES_KEPT_MS,
  );
  const service = (id: string, call: OptionalCall) =>
    ofService('getService', '', matchingId(ServiceReading, 'id', id))(id, call);
  const schedule = ofService('getScalingSchedule', '/scalingSchedule', ScalingSchedule);
  const endpoints = ofService('listReversePrivateEndpoints', ENDPOINTS, EndpointReadings);
  const endpoint = cached(
    'private-endpoints',
    (key, call) => {
      const operation = 'getReversePrivateEndpoint';
      const [serviceId, endpointId] = partsOf(key);
      const path = `${ENDPOINTS}/${pathId(operation, 'endpointId', endpointId)}`;
      const reading = matchingId(EndpointReading, 'id', endpointId);
      return ofService(operation, path, reading)(serviceId, call);
    },
    0,
  );
  const activities = ofOrganization('activities', (key, call) => {
    const [from_date, to_date] = partsOf(key);
    return withDates({ from_date, to_date }, (query) =>
      get('listActivities', '/activities', activityReadings(keyId), { ...call, query }),
    );
  });
  const key = ofOrganization('key', (_, call) => {
    const id = pathId('getKey', 'keyId', keyId);
    return get('getKey', `/keys/${id}`, KeyReading, call);
  });
  const organizations = ofOrganization('identity', async (_, call) => {
    const request = { operation: 'listOrganizations', path: '/v1/organizations', ...call };
    return (await send(request, OrganizationReadings)).map(({ id }) => id);
  });
  return {
    services: (how) => services('all', how),
    service: cached('service', service, 0),
    // The server answers 404 for a service without a schedule.
    schedule: cached('schedule', (id, call) =>
      schedule(id, call).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404 && error.kind === 'answer')
          return null;
        throw error;
      }),
    ),
    backups: cached('backups', ofService('listBackups', '/backups', BackupReadings)),
    pipes: cached('pipes', ofService('listPipes', '/pipes', PipeReadings)),
    endpoints: cached('private-endpoints', endpoints),
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

/** `2026-10-01T00:00:00Z`, as in the contract, or `2026-10-01`. */
type UsageDateForm = 'date-time' | 'date';

/**
 * Asks with the dates in the form that the server accepts. A refused form is tried once in the other
 * one, whatever the server says: servers word it differently. A form that succeeds is used from then on,
 * and its refusals are the true ones. Of reads that begin together, the first one finds it.
 * Source: docs/apis.md#usage-report.
 */
export function createDateFormats(first: UsageDateForm) {
  let form = first;
  let hasSucceeded = false;
  let finding: Promise<unknown> | null = null;

  async function askInForm<T>(
    period: UsagePeriod,
    ask: (query: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const attempt = async (tried: UsageDateForm) => {
      const answer = await ask(queryOf(period, tried));
      form = tried;
      hasSucceeded = true;
      return answer;
    };
    try {
      return await attempt(form);
    } catch (refusal) {
      if (!isBadRequest(refusal)) throw refusal;
      return attempt(form === 'date' ? 'date-time' : 'date').catch((error: unknown) => {
        throw hasSucceeded && isBadRequest(error) ? refusal : error;
      });
    }
  }

  return async function withFormat<T>(
    period: UsagePeriod,
    ask: (query: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    if (finding && !hasSucceeded) await finding.catch(() => undefined);
    const asked = askInForm(period, ask);
    finding ??= asked;
    return asked;
  };
}

function isBadRequest(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

function queryOf({ from_date, to_date }: UsagePeriod, form: UsageDateForm) {
  const end = form === 'date' ? '' : 'T00:00:00Z';
  return { from_date: `${from_date}${end}`, to_date: `${to_date}${end}` };
}
