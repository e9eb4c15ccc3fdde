import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { Replies } from './recorder.ts';

export const ORG = `/v1/organizations/${ORGANIZATION.id}`;
export const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
export const ANALYTICS = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
export const PIPE = '9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6d';
export const BACKUP = '53837fde-9e4f-4c3d-b63e-8c949cf4822f';
export const WAREHOUSE = '4e55fb27-7c55-4261-9f95-8d077d2398bc';
export const TILE_ALERT = '65b0c0ffee0000000000a001';
export const SEARCH_ALERT = '65b0c0ffee0000000000a002';

const requestId = '9f3e1c2b-0000-4000-8000-000000000001';
const enveloped = (result: unknown) => ({ status: 200, requestId, result });

/** A service with every field of the contract, and nothing else. */
export function service(id: string, name: string) {
  return {
    id,
    name,
    engineVersion: '26.8',
    endpoints: [{ protocol: 'https', host: `${name}.db.example`, port: 8443, username: 'default' }],
    minTotalMemoryGb: 48,
    maxTotalMemoryGb: 192,
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 64,
    numReplicas: 3,
    idleScaling: true,
    idleTimeoutMinutes: 15,
    ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
    createdAt: '2026-11-20T12:00:00.000Z',
    encryptionKey: 'arn:key/secret-key',
    encryptionAssumedRoleIdentifier: 'arn:role/secret-role',
    iamRole: 'arn:role/secret-identity',
    privateEndpointIds: ['vpce-secret-1'],
    availablePrivateEndpointIds: ['vpce-secret-2'],
    dataWarehouseId: WAREHOUSE,
    isPrimary: false,
    isReadonly: false,
    byocId: 'own-1',
    hasTransparentDataEncryption: true,
    transparentDataEncryptionKeyId: 'secret-tde-key',
    encryptionRoleId: 'secret-role-id',
  };
}

/** The same service as live servers send it, with additional and without some fields. */
const liveService = (id: string, name: string, state: string) => ({
  ...service(id, name),
  state,
  provider: 'aws',
  region: 'eu-west-1',
  releaseChannel: 'default',
  autoscalingMode: 'vertical',
  currentScaling: {
    effectiveAutoscalingMode: 'vertical',
    effectiveMinReplicaMemoryGb: 8,
    effectiveMaxReplicaMemoryGb: 64,
    effectiveMinReplicas: 3,
    effectiveMaxReplicas: 3,
    effectiveIdleScaling: true,
    effectiveIdleTimeoutMinutes: 15,
  },
  tags: [{ key: 'team', value: 'data' }],
});

type Sent = Readonly<Record<string, unknown>>;

const endpoint = (status: string) => (sent: Sent) =>
  enveloped({
    vpcEndpointServiceName: null,
    vpcResourceConfigurationId: null,
    vpcResourceShareArn: null,
    streamClusterArn: null,
    streamAuthentication: null,
    ...sent,
    id: '3b1f0c7e-0000-4000-8000-00000000e001',
    serviceId: STAGING,
    endpointId: status === 'Ready' ? 'vpce-0a1b2c' : '',
    dnsNames: status === 'Ready' ? ['orders.endpoints.example'] : [],
    privateDnsNames: status === 'Ready' ? ['orders.internal'] : [],
    status,
  });

export const SETTINGS = {
  streaming_max_insert_wait_ms: 5000,
  object_storage_concurrency: 1,
  object_storage_polling_interval_ms: 30_000,
  object_storage_max_insert_bytes: 10_737_418_240,
  object_storage_max_file_count: 100,
  engine_max_threads: 8,
  engine_max_insert_threads: 1,
  engine_min_insert_block_size_bytes: 1_073_741_824,
  engine_max_download_threads: 4,
  engine_parallel_distributed_insert_select: 2,
  object_storage_use_cluster_function: true,
  engine_parallel_view_processing: false,
};

const backup = {
  id: BACKUP,
  serviceId: ANALYTICS,
  startedAt: '2026-11-20T03:00:00.000Z',
  finishedAt: '2026-11-20T03:41:00.000Z',
  sizeInBytes: 1_284_918_231_040,
  durationInSeconds: 2460,
  backupName: 'analytics-prod-full',
  bucket: {
    bucketPath: 'company-backups/analytics-prod',
    iamRoleArn: 'arn:role/backups',
    iamRoleSessionName: 'backups',
  },
};

export const contractTile = {
  id: TILE_ALERT,
  name: '5xx rate',
  message: 'too many',
  threshold: 100,
  interval: '5m',
  thresholdType: 'above',
  source: 'tile',
  state: 'active',
  channel: { type: 'webhook', webhookId: 'w1' },
  team: '65b0c0ffee0000000000e001',
  tileId: 'tile-4',
  dashboard: '65b0c0ffee0000000000d001',
  silenced: false,
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

const contractSearch = {
  id: SEARCH_ALERT,
  name: 'errors by service',
  message: 'look here',
  threshold: 5,
  interval: '15m',
  thresholdType: 'above',
  source: 'search',
  state: 'inactive',
  channel: { type: 'webhook', webhookId: 'w1' },
  team: '65b0c0ffee0000000000e001',
  savedSearch: '65b0c0ffee0000000000f001',
  groupBy: 'service',
  silenced: true,
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

const liveTile = {
  id: TILE_ALERT,
  name: '5xx rate',
  message: null,
  threshold: 100,
  thresholdType: 'above',
  interval: '5m',
  source: 'tile',
  state: 'ALERT',
  channel: { type: 'webhook', webhookId: 'w1', severity: 'high' },
  channels: [
    { type: 'webhook', webhookId: 'w1', severity: 'high' },
    { type: 'email', emailRecipients: ['on-call@company.example'] },
  ],
  note: 'see the runbook',
  numConsecutiveWindows: 2,
  scheduleOffsetMinutes: null,
  dashboardId: '65b0c0ffee0000000000d001',
  tileId: 'tile-4',
  teamId: '65b0c0ffee0000000000e001',
  silenced: { by: 'ana', at: '2026-11-19T09:00:00Z', until: '2026-11-24T09:00:00Z' },
  executionErrors: [],
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

const liveSearch = {
  id: SEARCH_ALERT,
  name: 'errors by service',
  message: 'look here',
  threshold: 5,
  thresholdMax: 50,
  thresholdType: 'between',
  interval: '15m',
  source: 'saved_search',
  state: 'OK',
  channel: { type: 'webhook', webhookId: 'w1' },
  channels: [{ type: 'webhook', webhookId: 'w1' }],
  savedSearchId: '65b0c0ffee0000000000f001',
  groupBy: 'service',
  teamId: '65b0c0ffee0000000000e001',
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

const NEW = '7a1d0c7e-0000-4000-8000-00000000a001';
/** The reply to a creation contains the sent fields; its endpoints have addresses. */
const created = (make: typeof service) => (sent: Sent) => {
  const made = make(NEW, String(sent.name).replaceAll(' ', '-'));
  return enveloped({
    service: { ...made, ...sent, endpoints: made.endpoints },
    password: 'secret-password',
  });
};
const scaled = (make: typeof service) => (sent: Sent) =>
  enveloped({ ...make(STAGING, 'staging'), ...sent });
const scaling = `PATCH ${ORG}/services/${STAGING}/replicaScaling`;
const state = `PATCH ${ORG}/services/${STAGING}/state`;
const live = (word: string) => (id: string, name: string) => liveService(id, name, word);
const stateAfter = ({ command }: Sent) => (command === 'stop' ? 'stopping' : 'starting');
const endpoints = `POST ${ORG}/services/${STAGING}/pipesReversePrivateEndpoints`;

const cost = (date: string, extra: object) => ({
  dataWarehouseId: WAREHOUSE,
  serviceId: ANALYTICS,
  date,
  entityId: ANALYTICS,
  entityName: 'analytics-prod',
  metrics: {
    storageCredits: 1.25,
    backupCredits: 0.25,
    computeCredits: 12.5,
    dataTransferCredits: 0.5,
    initialLoadCredits: 0.75,
    publicDataTransferCredits: 1.5,
    interRegionTier1DataTransferCredits: 0.25,
    interRegionTier2DataTransferCredits: 0.5,
    interRegionTier3DataTransferCredits: 0.75,
    interRegionTier4DataTransferCredits: 0.5,
  },
  totalCredits: 18.75,
  locked: true,
  ...extra,
});
const usage = `GET ${ORG}/usageCost`;

/** The replies of a server with exactly the fields of the contract. */
export const CONTRACT: Replies = {
  [state]: enveloped(service(STAGING, 'staging')),
  [scaling]: scaled(service),
  [`POST ${ORG}/services`]: created(service),
  [endpoints]: endpoint('Ready'),
  // The contract defines one object where live servers send a list.
  [usage]: enveloped({ grandTotalCredits: 18.75, costs: cost('2026-11-18', {}) }),
  [`GET ${ORG}/services/${ANALYTICS}/pipes/${PIPE}/settings`]: enveloped(SETTINGS),
  [`GET ${ORG}/services/${ANALYTICS}/backups/${BACKUP}`]: enveloped(backup),
  'GET /api/v2/alerts': { data: [contractTile, contractSearch] },
  [`GET /api/v2/alerts/${TILE_ALERT}`]: { data: contractTile },
  [`GET /api/v2/alerts/${SEARCH_ALERT}`]: { data: contractSearch },
  [`PUT /api/v2/alerts/${TILE_ALERT}`]: (sent) => ({ data: { ...contractTile, ...sent } }),
  [`PUT /api/v2/alerts/${SEARCH_ALERT}`]: { data: { ...contractSearch, interval: '1h' } },
};

/** The replies of live servers, with additional fields, other names and other values. */
export const LIVE: Replies = {
  [state]: (sent) => enveloped(liveService(STAGING, 'staging', stateAfter(sent))),
  [scaling]: scaled(live('running')),
  [`POST ${ORG}/services`]: created(live('provisioning')),
  [endpoints]: endpoint('PendingAcceptance'),
  [usage]: enveloped({
    grandTotalCredits: 21.95,
    costs: [
      cost('2026-11-18', { entityType: 'service' }),
      cost('2026-11-18', {
        entityType: 'datawarehouse',
        serviceId: null,
        entityId: WAREHOUSE,
        entityName: 'main',
        metrics: { storageCredits: 3.2 },
        totalCredits: 3.2,
        locked: false,
      }),
    ],
  }),
  [`GET ${ORG}/services/${ANALYTICS}/pipes/${PIPE}/settings`]: enveloped({
    ...SETTINGS,
    engine_max_threads: null,
    stream_read_committed: true,
  }),
  [`GET ${ORG}/services/${ANALYTICS}/backups/${BACKUP}`]: enveloped({
    ...backup,
    status: 'in_progress',
    type: 'full',
    finishedAt: null,
    bucket: { bucketProvider: 'GCP', bucketPath: 'company', accessKeyId: 'secret-access-key' },
  }),
  'GET /api/v2/alerts': {
    data: [liveTile, liveSearch],
    meta: { total: 2, limit: 1000, offset: 0 },
  },
  [`GET /api/v2/alerts/${TILE_ALERT}`]: { data: liveTile },
  [`GET /api/v2/alerts/${SEARCH_ALERT}`]: { data: liveSearch },
  [`PUT /api/v2/alerts/${TILE_ALERT}`]: (sent) => ({ data: { ...liveTile, ...sent } }),
  [`PUT /api/v2/alerts/${SEARCH_ALERT}`]: { data: { ...liveSearch, interval: '1h' } },
};
