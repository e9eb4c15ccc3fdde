/**
 * The fields of the two contracts, as their pages list them: what a request may say, and what a
 * reply may. Written down apart from the program, so that the program can be held against it.
 */

export type Kind = 'text' | 'number' | 'switch' | 'list' | 'object';

export interface RequestField {
  readonly name: string;
  readonly kind: Kind;
  readonly deprecated?: true;
  readonly nullable?: true;
  /** The fields of an object, where `kind` is `object`. */
  readonly parts?: readonly string[];
}

export interface Operation {
  readonly name: string;
  readonly api: 'cloud' | 'alerts';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  /** Of the path, the query and the body. */
  readonly inPath: readonly string[];
  readonly query: readonly string[];
  readonly body: readonly RequestField[];
  readonly reply: readonly string[];
}

const text = (name: string): RequestField => ({ name, kind: 'text' });
const number = (name: string): RequestField => ({ name, kind: 'number' });
const toggle = (name: string): RequestField => ({ name, kind: 'switch' });
const list = (name: string): RequestField => ({ name, kind: 'list' });
const old = (field: RequestField): RequestField => ({ ...field, deprecated: true });
const orNull = (field: RequestField): RequestField => ({ ...field, nullable: true });

const SIZES = [
  number('minReplicaMemoryGb'),
  number('maxReplicaMemoryGb'),
  number('numReplicas'),
  toggle('idleScaling'),
  number('idleTimeoutMinutes'),
];

const SERVICE = [
  ...['id', 'name', 'engineVersion', 'endpoints', 'minTotalMemoryGb', 'maxTotalMemoryGb'],
  ...['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas', 'idleScaling'],
  ...['idleTimeoutMinutes', 'ipAccessList', 'createdAt', 'encryptionKey'],
  ...['encryptionAssumedRoleIdentifier', 'iamRole', 'privateEndpointIds'],
  ...['availablePrivateEndpointIds', 'dataWarehouseId', 'isPrimary', 'isReadonly', 'byocId'],
  ...['hasTransparentDataEncryption', 'transparentDataEncryptionKeyId', 'encryptionRoleId'],
];

const METRICS = [
  ...['storageCredits', 'backupCredits', 'computeCredits', 'dataTransferCredits'],
  ...['initialLoadCredits', 'publicDataTransferCredits', 'interRegionTier1DataTransferCredits'],
  ...['interRegionTier2DataTransferCredits', 'interRegionTier3DataTransferCredits'],
  'interRegionTier4DataTransferCredits',
];

const ALERT = [
  ...['id', 'name', 'message', 'threshold', 'interval', 'thresholdType', 'source', 'state'],
  ...['channel.type', 'channel.webhookId', 'team', 'tileId', 'dashboard', 'savedSearch'],
  ...['groupBy', 'silenced', 'createdAt', 'updatedAt'],
];

const ENDPOINT_BODY = [
  text('description'),
  text('type'),
  orNull(text('vpcEndpointServiceName')),
  orNull(text('vpcResourceConfigurationId')),
  orNull(text('vpcResourceShareArn')),
  orNull(text('streamClusterArn')),
  orNull(text('streamAuthentication')),
];

const CREATION_BODY = [
  text('name'),
  text('provider'),
  text('region'),
  old(text('tier')),
  list('ipAccessList'),
  old(number('minTotalMemoryGb')),
  old(number('maxTotalMemoryGb')),
  ...SIZES,
  toggle('isReadonly'),
  text('dataWarehouseId'),
  text('backupId'),
  text('encryptionKey'),
  text('encryptionAssumedRoleIdentifier'),
  old(list('privateEndpointIds')),
  toggle('privatePreviewTermsChecked'),
  text('releaseChannel'),
  text('byocId'),
  toggle('hasTransparentDataEncryption'),
  list('endpoints'),
  text('profile'),
  text('complianceType'),
];

const ALERT_BODY: readonly RequestField[] = [
  number('threshold'),
  text('interval'),
  text('thresholdType'),
  text('source'),
  text('dashboardId'),
  text('tileId'),
  { name: 'channel', kind: 'object', parts: ['type', 'webhookId'] },
  text('name'),
  text('message'),
];

const ORG = '/v1/organizations/{organizationId}';
const OF_SERVICE = `${ORG}/services/{serviceId}`;
const NONE = { query: [], body: [] };
const cloud = { api: 'cloud', inPath: ['organizationId', 'serviceId'], ...NONE } as const;
const alerts = { api: 'alerts', inPath: ['id'], ...NONE } as const;

export const OPERATIONS: readonly Operation[] = [
  {
    ...cloud,
    name: 'create service',
    method: 'POST',
    path: `${ORG}/services`,
    inPath: ['organizationId'],
    body: CREATION_BODY,
    reply: [...SERVICE.map((field) => `service.${field}`), 'password'],
  },
  {
    ...cloud,
    name: 'create endpoint',
    method: 'POST',
    path: `${OF_SERVICE}/pipesReversePrivateEndpoints`,
    body: ENDPOINT_BODY,
    reply: [
      ...ENDPOINT_BODY.map(({ name }) => name),
      ...['id', 'serviceId', 'endpointId', 'dnsNames', 'privateDnsNames', 'status'],
    ],
  },
  {
    ...cloud,
    name: 'scale',
    method: 'PATCH',
    path: `${OF_SERVICE}/replicaScaling`,
    body: SIZES,
    reply: SERVICE,
  },
  {
    ...cloud,
    name: 'set state',
    method: 'PATCH',
    path: `${OF_SERVICE}/state`,
    body: [text('command')],
    reply: SERVICE,
  },
  {
    ...cloud,
    name: 'usage cost',
    method: 'GET',
    path: `${ORG}/usageCost`,
    inPath: ['organizationId'],
    query: ['from_date', 'to_date'],
    reply: [
      'grandTotalCredits',
      ...['dataWarehouseId', 'serviceId', 'date', 'entityId', 'entityName', 'totalCredits'].map(
        (field) => `costs.${field}`,
      ),
      'costs.locked',
      ...METRICS.map((metric) => `costs.metrics.${metric}`),
    ],
  },
  {
    ...cloud,
    name: 'pipe settings',
    method: 'GET',
    path: `${OF_SERVICE}/pipes/{pipeId}/settings`,
    inPath: ['organizationId', 'serviceId', 'pipeId'],
    reply: [
      ...['streaming_max_insert_wait_ms', 'object_storage_concurrency'],
      ...['object_storage_polling_interval_ms', 'object_storage_max_insert_bytes'],
      ...['object_storage_max_file_count', 'engine_max_threads', 'engine_max_insert_threads'],
      ...['engine_min_insert_block_size_bytes', 'engine_max_download_threads'],
      ...['engine_parallel_distributed_insert_select', 'object_storage_use_cluster_function'],
      'engine_parallel_view_processing',
    ],
  },
  {
    ...cloud,
    name: 'backup',
    method: 'GET',
    path: `${OF_SERVICE}/backups/{backupId}`,
    inPath: ['organizationId', 'serviceId', 'backupId'],
    reply: [
      ...['id', 'serviceId', 'startedAt', 'finishedAt', 'sizeInBytes', 'durationInSeconds'],
      ...['backupName', 'bucket.bucketPath', 'bucket.iamRoleArn', 'bucket.iamRoleSessionName'],
    ],
  },
  {
    ...alerts,
    name: 'list alerts',
    method: 'GET',
    path: '/api/v2/alerts',
    inPath: [],
    reply: ALERT,
  },
  { ...alerts, name: 'get alert', method: 'GET', path: '/api/v2/alerts/{id}', reply: ALERT },
  {
    ...alerts,
    name: 'update alert',
    method: 'PUT',
    path: '/api/v2/alerts/{id}',
    body: ALERT_BODY,
    reply: ALERT,
  },
];

/** The operation of a request by its method and path; null if no contract has it. */
export function operationOf(method: string, path: string): Operation | null {
  const matches = ({ path: template }: Operation) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return OPERATIONS.find((each) => each.method === method && matches(each)) ?? null;
}

/** The problems of a body that the contract's table of the operation does not allow. */
export function outsideContract(operation: Operation, body: Readonly<Record<string, unknown>>) {
  return Object.entries(body).flatMap(([name, value]) => {
    const field = operation.body.find((each) => each.name === name);
    if (!field) return [`${name} is not a field`];
    if (value === null) return field.nullable ? [] : [`${name} is null`];
    return kindOf(value) === field.kind ? [] : [`${name} is no ${field.kind}`];
  });
}

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return 'list';
  const kinds: Readonly<Record<string, Kind>> = { number: 'number', boolean: 'switch' };
  return kinds[typeof value] ?? (typeof value === 'string' ? 'text' : 'object');
}
