import { z } from 'zod';
import { PROFILES, REGIONS, TIERS } from './accepted-values.ts';

/**
 * The request fields of the cloud API, each with the contract's rule for this field; values that only
 * live servers accept pass as well. An `error`
 * continues the label of the field (`Replicas must be …`). rules.ts has the rules over several fields.
 */

const MEMORY = 'must be a multiple of 4 from 8 to 356';
/** Gigabytes per replica. */
export const MemoryGb = z
  .number({ error: MEMORY })
  .min(8, MEMORY)
  .max(356, MEMORY)
  .multipleOf(4, MEMORY);

const TOTAL_MEMORY = 'must be a multiple of 12 from 24 to 1068';
/** Gigabytes of three replicas together. Deprecated: wrong for any other number of replicas. */
const TotalMemoryGb = z
  .number({ error: TOTAL_MEMORY })
  .min(24, TOTAL_MEMORY)
  .max(1068, TOTAL_MEMORY)
  .multipleOf(12, TOTAL_MEMORY);

const REPLICAS = 'must be a whole number from 1 to 20';
export const Replicas = z.int({ error: REPLICAS }).min(1, REPLICAS).max(20, REPLICAS);

const IDLE_TIMEOUT = 'must be a whole number of minutes, 5 or more';
export const IdleTimeout = z.int({ error: IDLE_TIMEOUT }).min(5, IDLE_TIMEOUT);

export const Switch = z.boolean({ error: 'must be on or off' });

// Live servers accept hyphens as well.
const NAME = 'must be 1 to 50 letters, digits and spaces';
export const NewServiceName = z
  .string({ error: NAME })
  .max(50, NAME)
  .regex(/^[A-Za-z0-9\s-]*[A-Za-z0-9][A-Za-z0-9\s-]*$/, NAME);

const DESCRIPTION = 'must be a text of at most 255 characters';
export const EndpointDescription = z.string({ error: DESCRIPTION }).max(255, DESCRIPTION);

const Text = z.string({ error: 'must be a text' }).min(1, 'must not be empty');
const Uuid = z.guid({ error: 'must be a UUID' });

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** Also accepts values that only live servers know; the preview has a warning about them. */
function listedOrLive({
  contract,
  live,
}: Readonly<Record<'contract' | 'live', readonly string[]>>) {
  const error = `must be one of ${contract.join(', ')}`;
  return z.enum([...contract, ...live], { error });
}

export const Provider = oneOf(['aws', 'gcp', 'azure']);
export const Region = listedOrLive(REGIONS);
const ServiceTier = oneOf(TIERS);
export const ServiceProfile = listedOrLive(PROFILES);
export const ReleaseChannel = oneOf(['slow', 'default', 'fast']);
export const ComplianceType = oneOf(['hipaa', 'pci']);
export const EndpointType = oneOf(['VPC_ENDPOINT_SERVICE', 'VPC_RESOURCE', 'STREAMING_MULTI_VPC']);
export const StreamAuthentication = oneOf(['SASL_IAM', 'SASL_SCRAM']);
export const StateCommand = oneOf(['start', 'stop']);

const IpAccess = z.strictObject({ source: Text, description: z.string().optional() });
export const EndpointSwitch = z.strictObject({ protocol: Text, enabled: Switch });

export const ServiceCreationFields = z.strictObject({
  name: NewServiceName.optional(),
  provider: Provider.optional(),
  region: Region.optional(),
  tier: ServiceTier.optional(),
  ipAccessList: z.array(IpAccess).optional(),
  minTotalMemoryGb: TotalMemoryGb.optional(),
  maxTotalMemoryGb: TotalMemoryGb.optional(),
  minReplicaMemoryGb: MemoryGb.optional(),
  maxReplicaMemoryGb: MemoryGb.optional(),
  numReplicas: Replicas.optional(),
  idleScaling: Switch.optional(),
  idleTimeoutMinutes: IdleTimeout.optional(),
  isReadonly: Switch.optional(),
  dataWarehouseId: Text.optional(),
  backupId: Uuid.optional(),
  encryptionKey: Text.optional(),
  encryptionAssumedRoleIdentifier: Text.optional(),
  privateEndpointIds: z.array(Text).optional(),
  privatePreviewTermsChecked: Switch.optional(),
  releaseChannel: ReleaseChannel.optional(),
  byocId: Text.optional(),
  hasTransparentDataEncryption: Switch.optional(),
  endpoints: z.array(EndpointSwitch).optional(),
  profile: ServiceProfile.optional(),
  complianceType: ComplianceType.optional(),
});

export const EndpointCreationFields = z.strictObject({
  description: EndpointDescription.optional(),
  type: EndpointType,
  vpcEndpointServiceName: Text.nullish(),
  vpcResourceConfigurationId: Text.nullish(),
  vpcResourceShareArn: Text.nullish(),
  streamClusterArn: Text.nullish(),
  streamAuthentication: StreamAuthentication.nullish(),
});

export const ReplicaScalingFields = z.strictObject({
  minReplicaMemoryGb: MemoryGb.optional(),
  maxReplicaMemoryGb: MemoryGb.optional(),
  numReplicas: Replicas.optional(),
  idleScaling: Switch.optional(),
  idleTimeoutMinutes: IdleTimeout.optional(),
});

const Day = z.iso.date({ error: 'must be a date, for example 2026-11-01' });
export const UsagePeriodFields = z.strictObject({ from_date: Day, to_date: Day });
