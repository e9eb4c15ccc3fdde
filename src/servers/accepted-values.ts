/**
 * What the contract and live servers accept in requests. Forms offer the values of the contract. A value
 * that only live servers accept, and a value that they refuse, get a warning in the preview.
 * docs/accepted-values.md is generated from this file.
 */

/** Every part that is given must hold; without any, each text is accepted. */
export interface Accepted {
  readonly values?: readonly string[];
  /** In characters. */
  readonly longest?: number;
  readonly pattern?: RegExp;
  /** The pattern in words. */
  readonly words?: string;
}

export interface AcceptedField {
  /** The name in the request body; a dot leads into the items of a list. */
  readonly field: string;
  readonly label: string;
  readonly contract: Accepted;
  readonly live: Accepted;
}

const AWS = [
  ...['ap-northeast-1', 'ap-south-1', 'ap-southeast-1', 'ap-southeast-2', 'eu-central-1'],
  ...['eu-west-1', 'eu-west-2', 'us-east-1', 'us-east-2', 'us-west-2'],
];
const GCP = ['us-east1', 'us-central1', 'europe-west4', 'asia-southeast1'];
const AZURE = ['eastus', 'eastus2', 'westus3', 'germanywestcentral'];

export const REGIONS_OF = {
  aws: {
    contract: [...AWS, 'me-central-1'],
    live: [...AWS, 'ap-northeast-2', 'ca-central-1', 'il-central-1'],
  },
  gcp: { contract: GCP, live: [...GCP, 'europe-west2', 'asia-northeast1'] },
  azure: { contract: AZURE, live: [...AZURE, 'centralus'] },
} as const;

const REGION_LISTS = Object.values(REGIONS_OF);
export const REGIONS = {
  contract: REGION_LISTS.flatMap(({ contract }) => contract),
  live: REGION_LISTS.flatMap(({ live }) => live),
};

const LIVE_PROFILES = [
  ...['v1-default', 'v1-highmem-xs', 'v1-highmem-s', 'v1-highmem-m', 'v1-highmem-l'],
  'v1-highmem-xl',
];
const HIGH_CPU = ['v1-highcpu-s', 'v1-highcpu-m', 'v1-highcpu-l', 'v1-highcpu-xl'];
export const PROFILES = { contract: [...LIVE_PROFILES, ...HIGH_CPU], live: LIVE_PROFILES };

const NAME = {
  longest: 50,
  pattern: /^[\p{L}\p{M}\p{N}\s]+$/u,
  words: 'letters, digits and spaces',
};
const HYPHENS = {
  pattern: /^[\p{L}\p{M}\p{N}\s-]+$/u,
  words: 'letters, digits, spaces and hyphens',
};
/** The intervals at which live servers evaluate alerts. */
export const LIVE_INTERVALS = ['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'];

/** The fields in which the contract and live servers differ, by operation. */
export const ACCEPTED_VALUES = {
  'create service': [
    { field: 'name', label: 'name', contract: NAME, live: { ...NAME, ...HYPHENS } },
    {
      field: 'region',
      label: 'region',
      contract: { values: REGIONS.contract },
      live: { values: REGIONS.live },
    },
    {
      field: 'profile',
      label: 'profile',
      contract: { values: PROFILES.contract },
      live: { values: PROFILES.live },
    },
    {
      field: 'endpoints.protocol',
      label: 'protocol',
      contract: {},
      live: { values: ['mysql'] },
    },
  ],
  'update alert': [
    {
      field: 'interval',
      label: 'interval',
      contract: { words: 'a number and a unit letter' },
      live: { values: LIVE_INTERVALS },
    },
    { field: 'name', label: 'name', contract: {}, live: { longest: 512 } },
    { field: 'message', label: 'message', contract: {}, live: { longest: 4_096 } },
  ],
} as const satisfies Readonly<Record<string, readonly AcceptedField[]>>;

/** Deprecated, but still accepted by the API. */
export const TIERS = [
  'development',
  'production',
  'dedicated_high_mem',
  'dedicated_high_cpu',
  'dedicated_standard',
  'dedicated_standard_n2d_standard_4',
  'dedicated_standard_n2d_standard_8',
  'dedicated_standard_n2d_standard_32',
  'dedicated_standard_n2d_standard_128',
  'dedicated_standard_n2d_standard_32_16SSD',
  'dedicated_standard_n2d_standard_64_24SSD',
] as const;

/** Gigabytes per replica in a bring-your-own-cloud region. */
export const BYOC_MEMORY_GB: readonly number[] = [48, 116, 172, 232];

/** The labels of the size fields, by field. */
export const SIZING_LABELS = {
  minReplicaMemoryGb: 'Minimum memory per replica (GB)',
  maxReplicaMemoryGb: 'Maximum memory per replica (GB)',
  numReplicas: 'Replicas',
  idleScaling: 'Scale to zero when idle',
  idleTimeoutMinutes: 'Idle timeout (minutes)',
} as const;

/**
 * The permissions of an API key, without their common prefix `control-plane:`, each with a role that
 * has it. A custom role can have any of them. Source: docs/apis.md#permissions-of-the-key
 */
export const CLOUD_ROLES = {
  'organization:view': 'Member',
  'organization:create-service': 'Admin',
  'organization:view-activities': 'Admin',
  'organization:view-api-keys': 'Admin',
  'service:view': 'Service API reader',
  'service:view-backups': 'Basic service reader',
  'service:manage': 'Service API admin',
  'service:manage-scaling-config': 'Service API admin',
  'service:manage-pipes': 'Admin',
} as const;

export type CloudPermission = keyof typeof CLOUD_ROLES;
