import { type FieldProblem, InvalidRequest, Secret } from '../base/errors.ts';
import {
  apiAddress,
  type CallOptions,
  createEnvelopeHttp,
  type PassedOptions,
  pathId,
  type Reply,
  validRequest,
} from '../base/http.ts';
import { matchingId, type StreamedArray } from '../base/http-rows.ts';
import { type CloudReads, createCloudReads, createDateFormats } from './cloud-reads.ts';
import {
  Backup,
  CloudService,
  CreatedService,
  PipeSettings,
  ReversePrivateEndpoint,
  type UsageCost,
  UsageCosts,
  usageRows,
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
import { type CapabilityOptions, NO_READS } from './optional-reads.ts';

export interface CloudOptions extends PassedOptions {
  readonly baseUrl: string;
  readonly keyId: string;
  readonly keySecret: Secret;
  readonly organizationId: string;
  readonly organization?: Organization;
  /** Whether optional reads are sent; without it none is. */
  readonly reads?: CapabilityOptions;
  /** True for a client that sends no writes: its reads may use the whole request budget. */
  readonly readsOnly?: boolean;
  /** Cancels open reads when Signalbox stops. Writes continue, because they may have an effect. */
  readonly stopping?: AbortSignal;
}

interface UsageOptions extends CallOptions {
  /**
   * Takes the rows in batches while they arrive; then `costs` is empty. Called once for each attempt,
   * and each attempt delivers all rows.
   */
  readonly takeRows?: (() => TakeUsageRows) | undefined;
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
export interface CloudClient {
  /** Returns the password, which no later call returns. The service is still being provisioned. */
  createService(
    body: ServiceCreation,
    options?: CallOptions,
  ): Promise<Reply<CreatedService | null>>;
  /** The `status` of the reply is rarely final. An endpoint cannot be edited later. */
  createReversePrivateEndpoint(
    serviceId: string,
    body: EndpointCreation,
    options?: CallOptions,
  ): Promise<Reply<ReversePrivateEndpoint | null>>;
  /** Changes only the given fields. Memory is in GB per replica. */
  updateReplicaScaling(
    serviceId: string,
    body: ReplicaScaling,
    options?: CallOptions,
  ): Promise<Reply<CloudService | null>>;
  /** `state` in the reply is a momentary value, not the final state. */
  updateServiceState(
    serviceId: string,
    body: ServiceState,
    options?: CallOptions,
  ): Promise<Reply<CloudService | null>>;
  /** Costs in credits for at most 31 UTC days, both ends included. `costs` is always a list. */
  getUsageCost(period: UsagePeriod, options?: UsageOptions): Promise<Reply<UsageCosts>>;
  /** A 404 can also mean that pipes of this type have no settings. */
  getPipeSettings(
    serviceId: string,
    pipeId: string,
    options?: CallOptions,
  ): Promise<Reply<PipeSettings>>;
  /** Sizes in bytes, durations in seconds. A 404 can also mean that the backup expired. */
  getBackup(serviceId: string, backupId: string, options?: CallOptions): Promise<Reply<Backup>>;
  /** What live servers return in addition. */
  readonly reads: CloudReads;
  close(): Promise<void>;
}

export function createCloudClient(options: CloudOptions): CloudClient {
  const { organization = { plan: 'paid' }, stopping: signal } = options;
  const { read, write, close } = createCloudHttp(options);
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', options.organizationId)}`;
  const withDates = createDateFormats('date-time');

  function servicePath(operation: string, serviceId: string): string {
    return `${root}/services/${pathId(operation, 'serviceId', serviceId)}`;
  }

  return {
    async createService(given, { priority } = {}) {
      const operation = 'createService';
      const body = validRequest(operation, ServiceCreation, given);
      throwIfInvalid(operation, organizationProblems(body, organization));
      const path = `${root}/services`;
      return write({ operation, method: 'POST', path, body, priority }, CreatedService);
    },

    async createReversePrivateEndpoint(serviceId, given, { priority } = {}) {
      const operation = 'createReversePrivateEndpoint';
      const path = `${servicePath(operation, serviceId)}/pipesReversePrivateEndpoints`;
      const body = validRequest(operation, EndpointCreation, given);
      const made = matchingId(ReversePrivateEndpoint, 'serviceId', serviceId);
      return write({ operation, method: 'POST', path, body, priority }, made);
    },

    async updateReplicaScaling(serviceId, given, { priority } = {}) {
      const operation = 'updateReplicaScaling';
      const path = `${servicePath(operation, serviceId)}/replicaScaling`;
      const body = validRequest(operation, ReplicaScaling, given);
      throwIfInvalid(operation, organizationProblems(body, organization));
      const service = matchingId(CloudService, 'id', serviceId);
      return write({ operation, method: 'PATCH', path, body, priority }, service);
    },

    async updateServiceState(serviceId, given, { priority } = {}) {
      const operation = 'updateServiceState';
      const path = `${servicePath(operation, serviceId)}/state`;
      const body = validRequest(operation, ServiceState, given);
      const service = matchingId(CloudService, 'id', serviceId);
      return write({ operation, method: 'PATCH', path, body, priority }, service);
    },

    async getUsageCost(given, { priority, takeRows } = {}) {
      const operation = 'getUsageCost';
      const period = validRequest(operation, UsagePeriod, given);
      const path = `${root}/usageCost`;
      const rows = createRowSink(takeRows);
      const reply = await withDates(period, (query) =>
        read({ operation, path, query, priority, signal, streamed: rows.streamed }, UsageCosts),
      );
      return { ...reply, result: rows.complete(reply.result) };
    },

    async getPipeSettings(serviceId, pipeId, { priority } = {}) {
      const operation = 'getPipeSettings';
      const pipe = pathId(operation, 'pipeId', pipeId);
      const path = `${servicePath(operation, serviceId)}/pipes/${pipe}/settings`;
      return read({ operation, path, priority, signal }, PipeSettings);
    },

    async getBackup(serviceId, backupId, { priority } = {}) {
      const operation = 'getBackup';
      const backup = pathId(operation, 'backupId', backupId);
      const path = `${servicePath(operation, serviceId)}/backups/${backup}`;
      return read({ operation, path, priority, signal }, matchingId(Backup, 'id', backupId));
    },

    reads: createCloudReads((request, schema) => read({ ...request, signal }, schema), {
      ...(options.reads ?? NO_READS),
      ...{ organizationId: options.organizationId, keyId: options.keyId },
    }),

    close,
  };
}

function throwIfInvalid(operation: string, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw new InvalidRequest(operation, problems);
}

type TakeUsageRows = (rows: readonly UsageCost[]) => void;

/** Reads the rows of a report while it arrives. Without `takeRows`, they are added to the report. */
function createRowSink(takeRows?: () => TakeUsageRows) {
  let costs: UsageCost[] = [];
  const collect = (): TakeUsageRows => {
    costs = [];
    return (rows) => {
      for (const row of rows) costs.push(row);
    };
  };
  let take: TakeUsageRows | null = null;
  const streamed: StreamedArray = {
    path: ['result', 'costs'],
    open: () => {
      const own = (takeRows ?? collect)();
      take = own;
      return (rows) => {
        const costs = usageRows(rows);
        if (costs) own(costs);
        return costs !== null;
      };
    },
  };
  /** Adds the last rows, which are still in the report. */
  const complete = (report: UsageCosts): UsageCosts => {
    take?.(report.costs);
    return { ...report, costs };
  };
  return { streamed, complete };
}

// Slightly longer than the server's window of ten seconds, because latencies differ.
const LIMIT = { requests: 10, perMs: 10_500 };
const RETRY_AFTER_MS = 10_000;

function createCloudHttp(options: CloudOptions) {
  const { keyId, keySecret } = options;
  const encoded = new Secret(Buffer.from(`${keyId}:${keySecret.reveal()}`).toString('base64'));
  return createEnvelopeHttp('result', {
    ...options,
    baseUrl: apiAddress(options.baseUrl, /\/v1$/),
    authorization: new Secret(`Basic ${encoded.reveal()}`),
    secrets: [keySecret, encoded],
    limit: options.readsOnly ? { ...LIMIT, reads: LIMIT.requests } : LIMIT,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
