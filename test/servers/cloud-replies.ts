// Replies as recorded from live servers of this contract.

export const ORGANIZATION = '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10';
export const SERVICE = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
export const PIPE = '9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6d';
export const BACKUP = '5d0e6a52-8f57-4c35-9ad9-6a6b1a4d0a11';
export const REQUEST = '9f3e1c2b-0000-4000-8000-000000000001';

export const envelope = (result: unknown) => ({ status: 200, requestId: REQUEST, result });

export const stopping = {
  id: SERVICE,
  name: 'analytics-prod',
  state: 'stopping',
  provider: 'aws',
  region: 'eu-central-1',
  endpoints: [
    { protocol: 'https', host: 'x.example.com', port: 8443 },
    { protocol: 'nativesecure', host: 'x.example.com', port: 9440, username: null },
  ],
  minReplicaMemoryGb: 16,
  maxReplicaMemoryGb: 64,
  numReplicas: 3,
  idleScaling: true,
  idleTimeoutMinutes: 15,
  isPrimary: true,
  isReadonly: false,
  createdAt: '2026-01-05T09:12:44.120Z',
  somethingNew: { of: 'tomorrow' },
};

export const serviceRow = {
  date: '2026-11-18',
  dataWarehouseId: 'c1b7ad2e-1111-4222-8333-444455556666',
  serviceId: SERVICE,
  entityId: SERVICE,
  entityType: 'service',
  entityName: 'analytics-prod',
  metrics: { computeCredits: 18.25, publicDataTransferCredits: 0.5 },
  totalCredits: 18.75,
  locked: true,
};

export const warehouseRow = {
  date: '2026-11-18',
  dataWarehouseId: 'c1b7ad2e-1111-4222-8333-444455556666',
  serviceId: null,
  entityId: 'c1b7ad2e-1111-4222-8333-444455556666',
  entityType: 'datawarehouse',
  entityName: 'main',
  metrics: { storageCredits: '3.2', backupCredits: null },
  totalCredits: '3.2',
  locked: false,
};

export const settings = {
  streaming_max_insert_wait_ms: 5000,
  object_storage_max_insert_bytes: 53_687_091_200,
  engine_max_threads: null,
  object_storage_use_cluster_function: true,
  kafka_read_committed: false,
};

export const backup = {
  id: BACKUP,
  serviceId: SERVICE,
  status: 'done',
  type: 'full',
  startedAt: '2026-11-18T02:00:00.000Z',
  finishedAt: '2026-11-18T02:11:30.000Z',
  sizeInBytes: 412_316_860_416,
  durationInSeconds: 690,
};
