import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { DAY_MS } from '../base/time.ts';
import { wordOf } from '../domain/words.ts';
import { BYOC_MEMORY_GB, PROFILES, REGIONS, REGIONS_OF, TIERS } from './accepted-values.ts';

/**
 * The requests of the cloud API: their fields, each with the contract's rule for this field, their
 * bodies, and the rules over several fields. Values that only live servers accept pass as well. An
 * `error` continues the label of the field (`Replicas must be …`).
 */

function multipleOf(step: number, min: number, max: number) {
  const error = `must be a multiple of ${step} from ${min} to ${max}`;
  return z.number({ error }).min(min, error).max(max, error).multipleOf(step, error);
}

/** Gigabytes per replica. */
export const MemoryGb = multipleOf(4, 8, 356);
/** Gigabytes of three replicas together. Deprecated: wrong for any other number of replicas. */
export const TotalMemoryGb = multipleOf(12, 24, 1_068);

const REPLICAS = 'must be a whole number from 1 to 20';
export const Replicas = z.int({ error: REPLICAS }).min(1, REPLICAS).max(20, REPLICAS);

const IDLE_TIMEOUT = 'must be a whole number of minutes, 5 or more';
export const IdleTimeout = z.int({ error: IDLE_TIMEOUT }).min(5, IDLE_TIMEOUT);

export const Switch = z.boolean({ error: 'must be on or off' });

// Live servers accept hyphens as well.
const NAME = 'must be 1 to 50 letters, digits and spaces';
/** In any alphabet; its length is counted in characters. */
export const NewServiceName = z
  .string({ error: NAME })
  .regex(/^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}\s-]{1,50}$/su, NAME);

const DESCRIPTION = 'must be a text of at most 255 characters';
export const EndpointDescription = z.string({ error: DESCRIPTION }).max(255, DESCRIPTION);

const NonEmptyText = z.string({ error: 'must be a text' }).min(1, 'must not be empty');
const Uuid = z.guid({ error: 'must be a UUID' });

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.map(wordOf).join(', ')}` });
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
export const ServiceTier = oneOf(TIERS);
export const ServiceProfile = listedOrLive(PROFILES);
export const ReleaseChannel = oneOf(['slow', 'default', 'fast']);
export const ComplianceType = oneOf(['hipaa', 'pci']);
export const EndpointType = oneOf(['VPC_ENDPOINT_SERVICE', 'VPC_RESOURCE', 'STREAMING_MULTI_VPC']);
export const StreamAuthentication = oneOf(['SASL_IAM', 'SASL_SCRAM']);
const StateCommand = oneOf(['start', 'stop']);

const IpAccess = z.strictObject({ source: NonEmptyText, description: z.string().optional() });
export const EndpointSwitch = z.strictObject({ protocol: NonEmptyText, enabled: Switch });

const ReplicaScalingFields = z.strictObject({
  minReplicaMemoryGb: MemoryGb.optional(),
  maxReplicaMemoryGb: MemoryGb.optional(),
  numReplicas: Replicas.optional(),
  idleScaling: Switch.optional(),
  idleTimeoutMinutes: IdleTimeout.optional(),
});

const ServiceCreationFields = z.strictObject({
  name: NewServiceName.optional(),
  provider: Provider.optional(),
  region: Region.optional(),
  tier: ServiceTier.optional(),
  ipAccessList: z.array(IpAccess).optional(),
  minTotalMemoryGb: TotalMemoryGb.optional(),
  maxTotalMemoryGb: TotalMemoryGb.optional(),
  ...ReplicaScalingFields.shape,
  isReadonly: Switch.optional(),
  dataWarehouseId: NonEmptyText.optional(),
  backupId: Uuid.optional(),
  encryptionKey: NonEmptyText.optional(),
  encryptionAssumedRoleIdentifier: NonEmptyText.optional(),
  privateEndpointIds: z.array(NonEmptyText).optional(),
  privatePreviewTermsChecked: Switch.optional(),
  releaseChannel: ReleaseChannel.optional(),
  byocId: NonEmptyText.optional(),
  hasTransparentDataEncryption: Switch.optional(),
  endpoints: z.array(EndpointSwitch).optional(),
  profile: ServiceProfile.optional(),
  complianceType: ComplianceType.optional(),
});

const EndpointCreationFields = z.strictObject({
  description: EndpointDescription.optional(),
  type: EndpointType,
  vpcEndpointServiceName: NonEmptyText.nullish(),
  vpcResourceConfigurationId: NonEmptyText.nullish(),
  vpcResourceShareArn: NonEmptyText.nullish(),
  streamClusterArn: NonEmptyText.nullish(),
  streamAuthentication: StreamAuthentication.nullish(),
});

const Day = z.iso.date({ error: 'must be a date, for example 2026-11-01' });
const UsagePeriodFields = z.strictObject({ from_date: Day, to_date: Day });

// The requests of the cloud API: the fields with the contract's rules over several fields.
export const ServiceCreation = ServiceCreationFields.check(withRules(creationProblems));
export type ServiceCreation = z.infer<typeof ServiceCreation>;

export const EndpointCreation = EndpointCreationFields.check(withRules(endpointProblems));
export type EndpointCreation = z.infer<typeof EndpointCreation>;

export const ReplicaScaling = ReplicaScalingFields.refine(
  (body) => Object.values(body).some((value) => value !== undefined),
  { error: 'must contain at least one change' },
).check(withRules(sizeProblems));
export type ReplicaScaling = z.infer<typeof ReplicaScaling>;

export const ServiceState = z.strictObject({ command: StateCommand });
export type ServiceState = z.infer<typeof ServiceState>;

/** UTC days, both included. */
export const UsagePeriod = UsagePeriodFields.check(withRules(periodProblems));
export type UsagePeriod = z.infer<typeof UsagePeriod>;

function withRules<T>(rules: (body: T) => readonly FieldProblem[]) {
  return ({ value, issues }: z.core.ParsePayload<T>): void => {
    for (const { field, problem } of rules(value)) {
      issues.push({ code: 'custom', input: value, path: [field], message: problem });
    }
  };
}

type Rule = readonly [broken: boolean, field: string, problem: string];

function broken(rules: readonly Rule[]): FieldProblem[] {
  return rules.flatMap(([isBroken, field, problem]) => (isBroken ? [{ field, problem }] : []));
}

function creationProblems(body: z.infer<typeof ServiceCreationFields>): FieldProblem[] {
  const { minTotalMemoryGb: min, maxTotalMemoryGb: max, tier, provider, region } = body;
  const notProduction = tier !== undefined && tier !== 'production';
  const onlyProduction = 'is only for services of the tier production';
  return [
    ...sizeProblems(body),
    ...byocProblems(body),
    ...broken([
      [above(min, max), 'minTotalMemoryGb', `must not be above maxTotalMemoryGb, ${max}`],
      [notProduction && min !== undefined, 'minTotalMemoryGb', onlyProduction],
      [notProduction && max !== undefined, 'maxTotalMemoryGb', onlyProduction],
      [notProduction && body.releaseChannel !== undefined, 'releaseChannel', onlyProduction],
      [tier === 'development' && provider === 'azure', 'tier', 'must not be development on azure'],
      [
        provider !== undefined && region !== undefined && !isRegionOf(provider, region),
        'region',
        `must be a region of ${provider}`,
      ],
      [
        body.isReadonly === true && body.dataWarehouseId === undefined,
        'isReadonly',
        'needs dataWarehouseId: only a service in an existing warehouse can be read-only',
      ],
    ]),
  ];
}

function isRegionOf(provider: keyof typeof REGIONS_OF, region: string): boolean {
  const { contract, live }: Readonly<Record<string, readonly string[]>> = REGIONS_OF[provider];
  return Boolean(contract?.includes(region) || live?.includes(region));
}

function sizeProblems(body: Partial<z.infer<typeof ReplicaScalingFields>>): FieldProblem[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, idleScaling } = body;
  const cannotIdle = idleScaling === false && body.idleTimeoutMinutes !== undefined;
  return broken([
    [above(min, max), 'minReplicaMemoryGb', `must not be above maxReplicaMemoryGb, ${max}`],
    [cannotIdle, 'idleTimeoutMinutes', 'needs scaling to zero, which is off'],
  ]);
}

function above(value: number | undefined, bound: number | undefined): boolean {
  return value !== undefined && bound !== undefined && value > bound;
}

function byocProblems(body: z.infer<typeof ServiceCreationFields>): FieldProblem[] {
  if (body.byocId === undefined) return [];
  const problem = `is required with byocId and must be one of ${BYOC_MEMORY_GB.join(', ')}`;
  const fields = ['minReplicaMemoryGb', 'maxReplicaMemoryGb'] as const;
  return fields
    .filter((field) => !BYOC_MEMORY_GB.includes(body[field] ?? 0))
    .map((field) => ({ field, problem }));
}

function endpointProblems(body: z.infer<typeof EndpointCreationFields>): FieldProblem[] {
  const required = {
    VPC_ENDPOINT_SERVICE: [],
    VPC_RESOURCE: ['vpcResourceConfigurationId', 'vpcResourceShareArn'],
    STREAMING_MULTI_VPC: ['streamClusterArn', 'streamAuthentication'],
  } as const;
  return required[body.type]
    .filter((field) => (body[field] ?? null) === null)
    .map((field) => ({ field, problem: `is required when type is ${body.type}` }));
}

const LONGEST_PERIOD_DAYS = 30;

function periodProblems({ from_date, to_date }: z.infer<typeof UsagePeriodFields>): FieldProblem[] {
  const days = (Date.parse(to_date) - Date.parse(from_date)) / DAY_MS;
  const tooLong = 'must be at most 30 days after from_date, so that the period has at most 31 days';
  return broken([
    [days < 0, 'to_date', 'must not be before from_date'],
    [days > LONGEST_PERIOD_DAYS, 'to_date', tooLong],
  ]);
}

/** The configured plan and tier of the organization; both limit what a request may contain. */
export interface Organization {
  readonly plan: 'paid' | 'free';
  readonly tier?: 'basic' | 'scale' | 'enterprise' | undefined;
}

/** The rules that depend on the plan and tier of the organization. */
export function organizationProblems(
  body: Partial<z.infer<typeof ServiceCreationFields>>,
  { plan, tier }: Organization,
): FieldProblem[] {
  const most = (gb: number) => `must be at most ${gb} for an organization on the free plan`;
  const isAbove = (value: number | undefined, gb: number) => plan === 'free' && above(value, gb);
  const isEnterprise = tier === undefined || tier === 'enterprise';
  const isEncrypted = body.hasTransparentDataEncryption === true;
  const onlyEnterprise = 'is only for ENTERPRISE organizations';
  return broken([
    [isAbove(body.maxReplicaMemoryGb, 120), 'maxReplicaMemoryGb', most(120)],
    [isAbove(body.maxTotalMemoryGb, 360), 'maxTotalMemoryGb', most(360)],
    [!isEnterprise && isEncrypted, 'hasTransparentDataEncryption', onlyEnterprise],
    [!isEnterprise && body.profile !== undefined, 'profile', onlyEnterprise],
  ]);
}
