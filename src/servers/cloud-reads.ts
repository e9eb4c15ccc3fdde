import type { z } from 'zod';
import { ApiError } from '../base/errors.ts';
import { pathId, type Reply } from '../base/http.ts';
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
  type Capabilities,
  type CapabilityOptions,
  CLOUD_CAPABILITIES,
  type CloudCapability,
  cachedRead,
  createCapabilities,
  type OptionalCall,
  type OptionalRead,
  type ReadOptions,
} from './optional-reads.ts';

/** The names of the requests, for logs, metrics and traces. */
export type CloudReadOperation =
  | 'listOrganizations'
  | 'listServices'
  | 'getService'
  | 'getScalingSchedule'
  | 'listBackups'
  | 'listPipes'
  | 'listReversePrivateEndpoints'
  | 'getReversePrivateEndpoint'
  | 'listActivities'
  | 'getKey';

interface ReadRequest extends OptionalCall {
  readonly operation: CloudReadOperation;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** Sends a read with the HTTP client of the contract, so that both use one request budget. */
type SendRead = <S extends z.ZodType>(
  request: ReadRequest,
  schema: S,
) => Promise<Reply<z.output<S>>>;

interface ReadTargets {
  readonly organizationId: string;
  readonly keyId: string;
}

/** UTC days, both included. */
interface ActivityPeriod {
  readonly from_date: string;
  readonly to_date: string;
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
    period: ActivityPeriod,
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

/** Opens the optional reads of the cloud API. */
export function createCloudReads(
  send: SendRead,
  options: CapabilityOptions & ReadTargets,
): CloudReads {
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
    ...ofOrganization,
    name: 'services',
    keepMs: SERVICES_KEPT_MS,
    send: (_, call) => requests.services(call),
  });
  const endpoint = cached({
    ...always,
    name: 'private-endpoints',
    send: (key, call) => requests.endpoint(...partsOf(key), call),
  });
  const activities = cached({
    ...ofOrganization,
    name: 'activities',
    send: (key, call) => {
      const [from_date, to_date] = partsOf(key);
      return requests.activities({ from_date, to_date }, call);
    },
  });
  const key = cached({
    ...ofOrganization,
    name: 'key',
    send: (_, call) => requests.key(call),
  });
  const organizations = cached({
    ...ofOrganization,
    name: 'identity',
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

const ENDPOINTS = '/pipesReversePrivateEndpoints';

/** The requests of the optional reads, without their capabilities. They throw like the client. */
function createReadRequests(send: SendRead, { organizationId, keyId }: ReadTargets) {
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', organizationId)}`;
  const withDates = createDateFormats('date');

  async function get<S extends z.ZodType>(request: ReadRequest, schema: S): Promise<z.output<S>> {
    return (await send(request, schema)).result;
  }

  function ofService<S extends z.ZodType>(operation: CloudReadOperation, rest: string, schema: S) {
    return (serviceId: string, call: OptionalCall): Promise<z.output<S>> => {
      const id = pathId(operation, 'serviceId', serviceId);
      return get({ operation, path: `${root}/services/${id}${rest}`, ...call }, schema);
    };
  }

  const schedule = ofService('getScalingSchedule', '/scalingSchedule', ScalingSchedule);

  return {
    organizations: (call: OptionalCall) =>
      get(
        { operation: 'listOrganizations', path: '/v1/organizations', ...call },
        OrganizationReadings,
      ),

    services: (call: OptionalCall) =>
      get({ operation: 'listServices', path: `${root}/services`, ...call }, ServiceReadings),

    service: (serviceId: string, call: OptionalCall) =>
      ofService('getService', '', matchingId(ServiceReading, 'id', serviceId))(serviceId, call),

    // The server answers 404 for a service without a schedule.
    schedule: (serviceId: string, call: OptionalCall) =>
      schedule(serviceId, call).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404 && error.kind === 'answer')
          return null;
        throw error;
      }),

    backups: ofService('listBackups', '/backups', BackupReadings),
    pipes: ofService('listPipes', '/pipes', PipeReadings),
    endpoints: ofService('listReversePrivateEndpoints', ENDPOINTS, EndpointReadings),

    endpoint: (serviceId: string, endpointId: string, call: OptionalCall) => {
      const operation = 'getReversePrivateEndpoint';
      const id = pathId(operation, 'endpointId', endpointId);
      const reading = matchingId(EndpointReading, 'id', endpointId);
      return ofService(operation, `${ENDPOINTS}/${id}`, reading)(serviceId, call);
    },

    activities: (period: ActivityPeriod, call: OptionalCall) =>
      withDates(period, (query) =>
        get(
          { operation: 'listActivities', path: `${root}/activities`, query, ...call },
          activityReadings(keyId),
        ),
      ),

    key: (call: OptionalCall) => {
      const path = `${root}/keys/${pathId('getKey', 'keyId', keyId)}`;
      return get({ operation: 'getKey', path, ...call }, KeyReading);
    },
  };
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
