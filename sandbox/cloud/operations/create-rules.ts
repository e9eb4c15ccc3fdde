import type { Json } from '../../json.ts';
import {
  booleanRule,
  fieldProblem,
  listOf,
  matchesPattern,
  numberFrom,
  oneOf,
  problemIn,
  type Rules,
  shaped,
  stringRule,
} from '../body-rules.ts';
import type { CloudProfile, CloudState } from '../state.ts';
import { isUuid } from '../targets.ts';
import { NAMES, REGIONS, SERVICE_PROFILES } from './accepted-values.ts';
import { memoryMisfit, SCALING_RULES, tierMisfit } from './scale.ts';

const TIERS = [
  ...['development', 'production', 'dedicated_high_mem', 'dedicated_high_cpu'],
  ...['dedicated_standard', 'dedicated_standard_n2d_standard_4'],
  ...['dedicated_standard_n2d_standard_8', 'dedicated_standard_n2d_standard_32'],
  ...['dedicated_standard_n2d_standard_128', 'dedicated_standard_n2d_standard_32_16SSD'],
  'dedicated_standard_n2d_standard_64_24SSD',
];

const BYOC_SIZES: readonly unknown[] = [48, 116, 172, 232];
const FREE_TOTAL_GB = 360;
const TOTAL = numberFrom({ min: 24, max: 1_068, step: 12 });

const RULES: Rules = {
  provider: oneOf(['aws', 'gcp', 'azure']),
  tier: oneOf(TIERS),
  ipAccessList: listOf(shaped({ source: stringRule(), description: stringRule() })),
  minTotalMemoryGb: TOTAL,
  maxTotalMemoryGb: TOTAL,
  ...SCALING_RULES,
  isReadonly: booleanRule,
  dataWarehouseId: stringRule(),
  backupId: (value) => (isUuid(value) ? null : 'must be a uuid'),
  encryptionKey: stringRule(),
  encryptionAssumedRoleIdentifier: stringRule(),
  privateEndpointIds: listOf(stringRule()),
  privatePreviewTermsChecked: booleanRule,
  releaseChannel: oneOf(['slow', 'default', 'fast']),
  byocId: stringRule(),
  hasTransparentDataEncryption: booleanRule,
  complianceType: oneOf(['hipaa', 'pci']),
};

/** The first problem with the body of a create, or null. */
export function createProblem(cloud: CloudState, body: Json): string | null {
  const rules = { ...RULES, ...rulesOf(cloud.profile) };
  // The contract marks no field as required.
  const required = ['name', 'provider', 'region'];
  return problemIn(body, rules, required) ?? crossProblem(cloud, body);
}

/** The rules that differ between the contract and live servers. */
function rulesOf(profile: CloudProfile): Rules {
  const words = 'must contain only alphanumeric characters and whitespace';
  const protocol = profile === 'contract' ? stringRule() : oneOf(['mysql']);
  return {
    name: matchesPattern(NAMES[profile], words, stringRule(50)),
    region: oneOf(REGIONS[profile]),
    profile: oneOf(SERVICE_PROFILES[profile]),
    endpoints: listOf(shaped({ protocol, enabled: booleanRule })),
  };
}

function crossProblem(cloud: CloudState, body: Json): string | null {
  return (
    warehouseProblem(cloud, body) ??
    memoryMisfit(cloud, body, {
      minReplicaMemoryGb: Number(body.minReplicaMemoryGb ?? 0),
      maxReplicaMemoryGb: Number(body.maxReplicaMemoryGb ?? Number.POSITIVE_INFINITY),
    }) ??
    totalProblem(cloud, body) ??
    tierProblem(cloud, body) ??
    byocProblem(body)
  );
}

function warehouseProblem(cloud: CloudState, body: Json): string | null {
  const { dataWarehouseId, isReadonly, numReplicas } = body;
  if (isReadonly === true && dataWarehouseId === undefined) {
    return fieldProblem('isReadonly', 'may be true only with a dataWarehouseId', isReadonly);
  }
  if (dataWarehouseId !== undefined && !cloud.warehouses.has(String(dataWarehouseId))) {
    return fieldProblem('dataWarehouseId', 'Invalid data warehouse id', dataWarehouseId);
  }
  if (cloud.profile === 'contract' && dataWarehouseId === undefined && numReplicas === 1) {
    return fieldProblem('numReplicas', 'Number of replicas must be greater than 1', numReplicas);
  }
  return null;
}

function totalProblem(cloud: CloudState, body: Json): string | null {
  const { minTotalMemoryGb: min, maxTotalMemoryGb: max, tier } = body;
  const field = min !== undefined ? 'minTotalMemoryGb' : 'maxTotalMemoryGb';
  if (body[field] === undefined) return null;
  if (tier !== undefined && tier !== 'production') {
    return fieldProblem(field, 'only for production services', body[field]);
  }
  if (cloud.organization.plan === 'free' && Number(max) > FREE_TOTAL_GB) {
    const text = `The number must be ${FREE_TOTAL_GB} or less for non-paid services`;
    return fieldProblem('maxTotalMemoryGb', text, max);
  }
  if (Number(min) > Number(max)) {
    return fieldProblem('minTotalMemoryGb', 'must not be greater than maxTotalMemoryGb', min);
  }
  return null;
}

function tierProblem({ organization }: CloudState, body: Json): string | null {
  const { tier, provider } = body;
  if (tier === 'development' && provider === 'azure') {
    return fieldProblem('tier', 'is not supported by this provider', tier);
  }
  const isEnterprise = organization.tier === 'enterprise';
  const field = ['hasTransparentDataEncryption', 'profile'].find((name) => Boolean(body[name]));
  if (field !== undefined && !isEnterprise) {
    return fieldProblem(field, 'only for ENTERPRISE organizations', body[field]);
  }
  return tierMisfit(body, body);
}

function byocProblem(body: Json): string | null {
  if (body.byocId === undefined) return null;
  const field = ['minReplicaMemoryGb', 'maxReplicaMemoryGb'].find(
    (name) => !BYOC_SIZES.includes(body[name]),
  );
  if (field === undefined) return null;
  return fieldProblem(field, `must be one of ${BYOC_SIZES.join(', ')} with a byocId`, body[field]);
}
