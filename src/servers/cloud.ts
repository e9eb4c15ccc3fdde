import { type FieldProblem, InvalidRequest, Secret } from '../base/errors.ts';
import {
  apiAddress,
  type CallOptions,
  createEnvelopeHttp,
  type PassedOptions,
  pathId,
  validRequest,
} from '../base/http.ts';
import { matchingId } from '../base/http-rows.ts';
import {
  type CloudReads,
  createCloudReads,
  createDateFormats,
  ENDPOINTS,
  type ReadOfAll,
} from './cloud-reads.ts';
import {
  Backup,
  CloudService,
  CreatedService,
  PipeSettings,
  ReversePrivateEndpoint,
  UsageCosts,
} from './cloud-replies.ts';
import {
  EndpointCreation,
  type Organization,
  organizationProblems,
  ReplicaScaling,
  ServiceCreation,
  ServiceState,
  UsagePeriod,
} from './cloud-schema.ts';
import { type CapabilityOptions, gapOf, NO_READS, type ReadOptions } from './optional-reads.ts';

export interface CloudOptions extends PassedOptions {
  readonly baseUrl: string;
  readonly keyId: string;
  readonly keySecret: Secret;
  readonly organizationId: string;
  readonly organization?: Organization;
  /** Fewer requests than the server admits; null: as many as it does. */
  readonly requestsPerMinute?: number | null;
  /** Whether optional reads are sent; without it none is. */
  readonly reads?: CapabilityOptions;
  /** True for a client that sends no writes: its reads may use the whole request budget. */
  readonly readsOnly?: boolean;
  /** Cancels open reads when Signalbox stops. Writes continue, because they may have an effect. */
  readonly stopping?: AbortSignal;
}

/**
 * The seven operations of the contract of the cloud API, with the names and fields of the contract.
 *
 * Every method throws InvalidRequest before sending when a value violates a rule of the contract,
 * and ApiError with its `effect` when the call fails. Reads are repeated after temporary errors;
 * writes are sent at most once. An accepted write whose result is missing, unreadable or about
 * another resource has the result null; for a read this is an error. Fields that the server did not
 * send are null.
 */
export type CloudClient = ReturnType<typeof createCloudClient>;

export function createCloudClient(options: CloudOptions) {
  const { organization = { plan: 'paid' }, stopping: signal } = options;
  const { read, write, close } = createCloudHttp(options);
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', options.organizationId)}`;
  const withDates = createDateFormats('date-time');

  function ofService(operation: string, serviceId: string, rest: string) {
    const id = pathId(operation, 'serviceId', serviceId);
    return { operation, path: `${root}/services/${id}${rest}` };
  }

  return {
    /** Returns the password, which no later call returns. The service is still being provisioned. */
    async createService(given: ServiceCreation) {
      const operation = 'createService';
      const body = validRequest(operation, ServiceCreation, given);
      throwIfInvalid(operation, organizationProblems(body, organization));
      const path = `${root}/services`;
      return write({ operation, method: 'POST', path, body }, CreatedService);
    },

    /** The `status` of the reply is rarely final. An endpoint cannot be edited later. */
    async createReversePrivateEndpoint(serviceId: string, given: EndpointCreation) {
      const call = ofService('createReversePrivateEndpoint', serviceId, ENDPOINTS);
      const body = validRequest(call.operation, EndpointCreation, given);
      const made = matchingId(ReversePrivateEndpoint, 'serviceId', serviceId);
      return write({ ...call, method: 'POST', body }, made);
    },

    /** Changes only the given fields. Memory is in GB per replica. */
    async updateReplicaScaling(serviceId: string, given: ReplicaScaling) {
      const call = ofService('updateReplicaScaling', serviceId, '/replicaScaling');
      const body = validRequest(call.operation, ReplicaScaling, given);
      throwIfInvalid(call.operation, organizationProblems(body, organization));
      const service = matchingId(CloudService, 'id', serviceId);
      return write({ ...call, method: 'PATCH', body }, service);
    },

    /** `state` in the reply is a momentary value, not the final state. */
    async updateServiceState(serviceId: string, given: ServiceState) {
      const call = ofService('updateServiceState', serviceId, '/state');
      const body = validRequest(call.operation, ServiceState, given);
      const service = matchingId(CloudService, 'id', serviceId);
      return write({ ...call, method: 'PATCH', body }, service);
    },

    /** Costs in credits for at most 31 UTC days, both ends included. `costs` is always a list. */
    async getUsageCost(given: UsagePeriod, { priority }: CallOptions = {}) {
      const operation = 'getUsageCost';
      const period = validRequest(operation, UsagePeriod, given);
      const path = `${root}/usageCost`;
      return withDates(period, (query) =>
        read({ operation, path, query, priority, signal, mostBytes: USAGE_BYTES }, UsageCosts),
      );
    },

    /** A 404 can also mean that pipes of this type have no settings. */
    async getPipeSettings(serviceId: string, pipeId: string) {
      const operation = 'getPipeSettings';
      const pipe = pathId(operation, 'pipeId', pipeId);
      const call = ofService(operation, serviceId, `/pipes/${pipe}/settings`);
      return read({ ...call, signal }, PipeSettings);
    },

    /** Sizes in bytes, durations in seconds. A 404 can also mean that the backup expired. */
    async getBackup(serviceId: string, backupId: string) {
      const operation = 'getBackup';
      const backup = pathId(operation, 'backupId', backupId);
      const call = ofService(operation, serviceId, `/backups/${backup}`);
      return read({ ...call, signal }, matchingId(Backup, 'id', backupId));
    },

    /** What live servers return in addition. */
    reads: createCloudReads(
      async (request, schema) => (await read({ ...request, signal }, schema)).result,
      {
        ...(options.reads ?? NO_READS),
        ...{ organizationId: options.organizationId, keyId: options.keyId },
      },
    ),

    close,
  };
}

function throwIfInvalid(operation: string, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw new InvalidRequest(operation, problems);
}

/** A usage report has 15 KiB for each service of a month. */
const USAGE_BYTES = 48 * 1024 * 1024;

// Slightly longer than the server's window of ten seconds, because latencies differ.
const LIMIT = { requests: 10, perMs: 10_500 };
const RETRY_AFTER_MS = 10_000;

function createCloudHttp(options: CloudOptions) {
  const { keyId, keySecret, requestsPerMinute } = options;
  const perMs = requestsPerMinute ? (LIMIT.requests * 60_000) / requestsPerMinute : LIMIT.perMs;
  const limit = { ...LIMIT, perMs: Math.max(perMs, LIMIT.perMs) };
  const encoded = new Secret(Buffer.from(`${keyId}:${keySecret.reveal()}`).toString('base64'));
  return createEnvelopeHttp('result', {
    ...options,
    baseUrl: apiAddress(options.baseUrl, /\/v1$/),
    authorization: new Secret(`Basic ${encoded.reveal()}`),
    secrets: [keySecret, encoded],
    limit: options.readsOnly ? { ...limit, reads: limit.requests } : limit,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** An organization with the client of its key; `name` is null where it is the only one. */
export interface CloudOrganization {
  readonly id: string;
  readonly name: string | null;
  readonly client: CloudClient;
}

/**
 * The clients of all organizations as one. What is about a service goes to the organization of that service; a list of
 * the optional reads is of all of them, unless its options name one. `createService` and `getUsageCost` are about one
 * organization and are called on the client of `of`.
 */
export interface Cloud extends CloudClient {
  readonly organizations: readonly CloudOrganization[];
  /** The client of one organization. Throws InvalidRequest where the configuration does not have it. */
  readonly of: (organizationId: string) => CloudClient;
  /** The same, whose requests of the contract go to one organization; to none if the configuration does not have it. */
  readonly within: (organizationId: string) => Cloud;
}

type CloudRequests = Omit<CloudClient, 'reads' | 'close'>;

/** `organizationOf` returns the organization of a service by its id; null: it is unknown. */
export function createCloud(
  organizations: readonly CloudOrganization[],
  organizationOf: (serviceId: string) => string | null,
): Cloud {
  const [first, ...others] = organizations;
  const only = others.length === 0 ? first?.client : undefined;
  const find = (id: string | null) => organizations.find((each) => each.id === id)?.client;
  const of = (id: string | null) => known(find(id), 'organization', 'is not in signalbox.yaml');
  const ofService = (id: string) =>
    known(find(organizationOf(id)), 'serviceId', 'is of no organization in signalbox.yaml');
  const sentTo = (client: (serviceId: string | null) => CloudClient): CloudRequests => ({
    createService: async (...given) => client(null).createService(...given),
    getUsageCost: async (...given) => client(null).getUsageCost(...given),
    createReversePrivateEndpoint: async (id, ...given) =>
      client(id).createReversePrivateEndpoint(id, ...given),
    updateReplicaScaling: async (id, ...given) => client(id).updateReplicaScaling(id, ...given),
    updateServiceState: async (id, ...given) => client(id).updateServiceState(id, ...given),
    getPipeSettings: async (id, ...given) => client(id).getPipeSettings(id, ...given),
    getBackup: async (id, ...given) => client(id).getBackup(id, ...given),
  });
  const all: CloudClient = only ?? {
    ...sentTo((id) => (id === null ? of(null) : ofService(id))),
    reads: readsOfAll(organizations, organizationOf),
    close: async () => {
      await Promise.all(organizations.map(({ client }) => client.close()));
    },
  };
  const cloud: Cloud = {
    ...all,
    organizations,
    of,
    // Also with one organization: what was approved for another one is not sent to it.
    within: (id) => ({ ...cloud, ...sentTo(() => of(id)) }),
  };
  return cloud;
}

function readsOfAll(
  organizations: readonly CloudOrganization[],
  organizationOf: (serviceId: string) => string | null,
): CloudReads {
  const one = (serviceId: string, how: ReadOptions = {}) => {
    const own = how.organization ?? organizationOf(serviceId);
    return organizations.find(({ id }) => id === own)?.client.reads;
  };
  const each = async <T>(
    { organization }: ReadOptions = {},
    read: (reads: CloudReads) => Promise<ReadOfAll<T>>,
  ): Promise<ReadOfAll<T>> => {
    const asked = organizations.filter(({ id }) => id === (organization ?? id));
    return joined(
      await Promise.all(
        asked.map(async ({ id, name, client }) => ({ id, name, read: await read(client.reads) })),
      ),
    );
  };
  return {
    services: (how) => each(how, (reads) => reads.services(how)),
    activities: (period, how) => each(how, (reads) => reads.activities(period, how)),
    service: async (id, how) => one(id, how)?.service(id, how) ?? UNKNOWN_SERVICE,
    schedule: async (id, how) => one(id, how)?.schedule(id, how) ?? UNKNOWN_SERVICE,
    backups: async (id, how) => one(id, how)?.backups(id, how) ?? UNKNOWN_SERVICE,
    pipes: async (id, how) => one(id, how)?.pipes(id, how) ?? UNKNOWN_SERVICE,
    endpoints: async (id, how) => one(id, how)?.endpoints(id, how) ?? UNKNOWN_SERVICE,
    endpoint: async (id, ...rest) => one(id, rest[1])?.endpoint(id, ...rest) ?? UNKNOWN_SERVICE,
    key: async (how) => one('', how)?.key(how) ?? UNKNOWN_SERVICE,
    organizations: async (how) => one('', how)?.organizations(how) ?? UNKNOWN_SERVICE,
    isOff: (capability) => organizations.every(({ client }) => client.reads.isOff(capability)),
  };
}

function known(client: CloudClient | undefined, field: string, problem: string): CloudClient {
  if (!client) throw new InvalidRequest('cloud', [{ field, problem }]);
  return client;
}

const UNKNOWN_SERVICE = gapOf('not-found', 'no organization is known to have this service', null);

/** The values of all that answered, as old as the oldest of them. Unknown only where none answered. */
function joined<T>(
  all: readonly (Pick<CloudOrganization, 'id' | 'name'> & { readonly read: ReadOfAll<T> })[],
): ReadOfAll<T> {
  const missing = all.flatMap(({ id, name, read }) =>
    read.known ? [] : [{ id, name, why: read.why }],
  );
  const answered = all.flatMap(({ read }) => (read.known ? [read] : []));
  if (answered.length === 0) return { ...(all[0]?.read ?? UNKNOWN_SERVICE), missing };
  const readAt = new Date(Math.min(...answered.map((read) => read.readAt.getTime())));
  return { known: true, value: answered.flatMap(({ value }) => value), readAt, missing };
}
