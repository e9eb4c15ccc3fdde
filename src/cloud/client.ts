import { type FieldProblem, InvalidRequest, Secret } from '../errors.ts';
import type { HttpOptions, Reply } from '../http/client.ts';
import { type CallOptions, createEnvelopeHttp } from '../http/envelope.ts';
import { apiAddress, pathId, validRequest } from '../http/request.ts';
import { about } from '../http/tolerance.ts';
import {
  Backup,
  CloudService,
  CreatedService,
  PipeSettings,
  ReversePrivateEndpoint,
} from './replies.ts';
import { firstServiceProblems, type Organization, organizationProblems } from './rules.ts';
import {
  EndpointCreation,
  ReplicaScaling,
  ServiceCreation,
  ServiceState,
  UsagePeriod,
} from './schema.ts';
import { createDateDialect, UsageCosts } from './usage.ts';

type Passed = Pick<
  HttpOptions,
  'version' | 'timing' | 'clock' | 'observe' | 'leaving' | 'privateAddresses'
>;

export interface CloudOptions extends Passed {
  readonly baseUrl: string;
  readonly keyId: string;
  readonly keySecret: Secret;
  readonly organizationId: string;
  readonly organization?: Organization;
  /** Reads are given up when it fires. Writes go on: they may have had their effect. */
  readonly stopping?: AbortSignal;
}

/**
 * The seven operations of the cloud API, by the contract's names and fields.
 *
 * Every method throws InvalidRequest before sending when a value breaks a rule of the contract, and
 * ApiError, whose `effect` says what is known, when the call did not succeed. Reads are repeated on
 * passing trouble; writes are sent at most once. A write that was accepted without details (any 2xx
 * whose result is missing, unreadable or about another thing) has the result null; for a read that
 * is an error. Fields of a result are null when the server did not send them.
 */
export interface CloudClient {
  /** The password comes this once. The service is still being set up when the reply arrives. */
  createService(
    body: ServiceCreation,
    options?: CallOptions,
  ): Promise<Reply<CreatedService | null>>;
  /** The reply's `status` is rarely final, and what was created cannot be edited. */
  createReversePrivateEndpoint(
    serviceId: string,
    body: EndpointCreation,
    options?: CallOptions,
  ): Promise<Reply<ReversePrivateEndpoint | null>>;
  /** Sends only the given fields, the others stay. Memory is GB per replica. */
  updateReplicaScaling(
    serviceId: string,
    body: ReplicaScaling,
    options?: CallOptions,
  ): Promise<Reply<CloudService | null>>;
  /** `state` in the reply is what was reported at that instant, not how it ended. */
  updateServiceState(
    serviceId: string,
    body: ServiceState,
    options?: CallOptions,
  ): Promise<Reply<CloudService | null>>;
  /** UTC days, both included, 31 at most; credits. `costs` is a list whatever the server sent. */
  getUsageCost(period: UsagePeriod, options?: CallOptions): Promise<Reply<UsageCosts>>;
  /** A 404 can also mean a pipe of a kind that has no settings. */
  getPipeSettings(
    serviceId: string,
    pipeId: string,
    options?: CallOptions,
  ): Promise<Reply<PipeSettings>>;
  /** Sizes in bytes, durations in seconds. A 404 can also mean that the backup expired. */
  getBackup(serviceId: string, backupId: string, options?: CallOptions): Promise<Reply<Backup>>;
  close(): Promise<void>;
}

// A little more than the ten seconds of the server's own window: requests do not travel equally fast.
const LIMIT = { requests: 10, perMs: 10_500 };
const RETRY_AFTER_MS = 10_000;

export function createCloudClient(options: CloudOptions): CloudClient {
  const { organization = { plan: 'paid' }, stopping: signal } = options;
  const { read, write, close } = createCloudHttp(options);
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', options.organizationId)}`;
  const inDateDialect = createDateDialect();

  function below(operation: string, serviceId: string): string {
    return `${root}/services/${pathId(operation, 'serviceId', serviceId)}`;
  }

  return {
    async createService(given, { priority } = {}) {
      const operation = 'createService';
      const body = validRequest(operation, ServiceCreation, given);
      refuse(operation, organizationProblems(body, organization));
      refuse(operation, firstServiceProblems(body, organization));
      const path = `${root}/services`;
      return write({ operation, method: 'POST', path, body, priority }, CreatedService);
    },

    async createReversePrivateEndpoint(serviceId, given, { priority } = {}) {
      const operation = 'createReversePrivateEndpoint';
      const path = `${below(operation, serviceId)}/pipesReversePrivateEndpoints`;
      const body = validRequest(operation, EndpointCreation, given);
      const made = about(ReversePrivateEndpoint, 'serviceId', serviceId);
      return write({ operation, method: 'POST', path, body, priority }, made);
    },

    async updateReplicaScaling(serviceId, given, { priority } = {}) {
      const operation = 'updateReplicaScaling';
      const path = `${below(operation, serviceId)}/replicaScaling`;
      const body = validRequest(operation, ReplicaScaling, given);
      refuse(operation, organizationProblems(body, organization));
      const service = about(CloudService, 'id', serviceId);
      return write({ operation, method: 'PATCH', path, body, priority }, service);
    },

    async updateServiceState(serviceId, given, { priority } = {}) {
      const operation = 'updateServiceState';
      const path = `${below(operation, serviceId)}/state`;
      const body = validRequest(operation, ServiceState, given);
      const service = about(CloudService, 'id', serviceId);
      return write({ operation, method: 'PATCH', path, body, priority }, service);
    },

    async getUsageCost(given, { priority } = {}) {
      const operation = 'getUsageCost';
      const period = validRequest(operation, UsagePeriod, given);
      const path = `${root}/usageCost`;
      return inDateDialect(period, (query) =>
        read({ operation, path, query, priority, signal }, UsageCosts),
      );
    },

    async getPipeSettings(serviceId, pipeId, { priority } = {}) {
      const operation = 'getPipeSettings';
      const pipe = pathId(operation, 'pipeId', pipeId);
      const path = `${below(operation, serviceId)}/pipes/${pipe}/settings`;
      return read({ operation, path, priority, signal }, PipeSettings);
    },

    async getBackup(serviceId, backupId, { priority } = {}) {
      const operation = 'getBackup';
      const backup = pathId(operation, 'backupId', backupId);
      const path = `${below(operation, serviceId)}/backups/${backup}`;
      return read({ operation, path, priority, signal }, about(Backup, 'id', backupId));
    },

    close,
  };
}

function createCloudHttp(options: CloudOptions) {
  const { keyId, keySecret } = options;
  const encoded = new Secret(Buffer.from(`${keyId}:${keySecret.reveal()}`).toString('base64'));
  return createEnvelopeHttp('result', {
    ...options,
    baseUrl: apiAddress(options.baseUrl, /\/v1$/),
    authorization: new Secret(`Basic ${encoded.reveal()}`),
    secrets: [keySecret, encoded],
    limit: LIMIT,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function refuse(operation: string, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw new InvalidRequest(operation, problems);
}
