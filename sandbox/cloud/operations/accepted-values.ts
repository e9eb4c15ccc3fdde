import type { CloudProfile } from '../state.ts';

/** The values of a field that a server with this profile accepts. */
type AcceptedValues = Readonly<Record<CloudProfile, readonly string[]>>;

const SHARED_REGIONS = [
  ...['ap-northeast-1', 'ap-south-1', 'ap-southeast-1', 'ap-southeast-2', 'eu-central-1'],
  ...['eu-west-1', 'eu-west-2', 'us-east-1', 'us-east-2', 'us-west-2'],
  ...['us-east1', 'us-central1', 'europe-west4', 'asia-southeast1'],
  ...['eastus', 'eastus2', 'westus3', 'germanywestcentral'],
];

export const REGIONS: AcceptedValues = {
  contract: [...SHARED_REGIONS, 'me-central-1'],
  extended: [
    ...SHARED_REGIONS,
    ...['ap-northeast-2', 'ca-central-1', 'il-central-1'],
    ...['europe-west2', 'asia-northeast1', 'centralus'],
  ],
};

const SHARED_PROFILES = [
  ...['v1-default', 'v1-highmem-xs', 'v1-highmem-s', 'v1-highmem-m', 'v1-highmem-l'],
  'v1-highmem-xl',
];

export const SERVICE_PROFILES: AcceptedValues = {
  contract: [
    ...SHARED_PROFILES,
    ...['v1-highcpu-s', 'v1-highcpu-m', 'v1-highcpu-l', 'v1-highcpu-xl'],
  ],
  extended: SHARED_PROFILES,
};

/** The characters of a new name: live servers accept hyphens as well. */
export const NAMES: Readonly<Record<CloudProfile, RegExp>> = {
  contract: /^[A-Za-z0-9\s]+$/,
  extended: /^[A-Za-z0-9\s-]+$/,
};
