import type { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { BYOC_MEMORY_GB, REGIONS_OF } from './accepted-values.ts';
import type {
  EndpointCreationFields,
  ReplicaScalingFields,
  ServiceCreationFields,
  UsagePeriodFields,
} from './fields.ts';

/** The configured plan and tier of the organization; both limit what a request may contain. */
export interface Organization {
  readonly plan: 'paid' | 'free';
  readonly tier?: 'basic' | 'scale' | 'enterprise' | undefined;
}

type Rule = readonly [broken: boolean, field: string, problem: string];

const LONGEST_PERIOD_DAYS = 30;
const DAY_MS = 86_400_000;

export function memoryProblems(
  body: Partial<z.infer<typeof ReplicaScalingFields>>,
): FieldProblem[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = body;
  return broken([
    [above(min, max), 'minReplicaMemoryGb', `must not be above maxReplicaMemoryGb, ${max}`],
  ]);
}

export function creationProblems(body: z.infer<typeof ServiceCreationFields>): FieldProblem[] {
  const { minTotalMemoryGb: min, maxTotalMemoryGb: max, tier, provider, region } = body;
  const notProduction = tier !== undefined && tier !== 'production';
  const onlyProduction = 'is only for services of the tier production';
  return [
    ...memoryProblems(body),
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

function byocProblems(body: z.infer<typeof ServiceCreationFields>): FieldProblem[] {
  if (body.byocId === undefined) return [];
  const problem = `is required with byocId and must be one of ${BYOC_MEMORY_GB.join(', ')}`;
  const fields = ['minReplicaMemoryGb', 'maxReplicaMemoryGb'] as const;
  return fields
    .filter((field) => !BYOC_MEMORY_GB.includes(body[field] ?? 0))
    .map((field) => ({ field, problem }));
}

/** The rules that depend on the plan and tier of the organization. */
export function organizationProblems(
  body: Partial<z.infer<typeof ServiceCreationFields>>,
  { plan, tier }: Organization,
): FieldProblem[] {
  const free = plan === 'free';
  const enterprise = tier === undefined || tier === 'enterprise';
  return broken([
    [
      free && above(body.maxReplicaMemoryGb, 120),
      'maxReplicaMemoryGb',
      'must be at most 120 for an organization on the free plan',
    ],
    [
      free && above(body.maxTotalMemoryGb, 360),
      'maxTotalMemoryGb',
      'must be at most 360 for an organization on the free plan',
    ],
    [
      !enterprise && body.hasTransparentDataEncryption === true,
      'hasTransparentDataEncryption',
      'is only for ENTERPRISE organizations',
    ],
    [!enterprise && body.profile !== undefined, 'profile', 'is only for ENTERPRISE organizations'],
  ]);
}

/** The first service of a warehouse has at least two replicas, except in the tier BASIC. */
export function firstServiceProblems(
  body: z.infer<typeof ServiceCreationFields>,
  { tier }: Organization,
): FieldProblem[] {
  const first = body.dataWarehouseId === undefined;
  const problem = 'must be 2 to 20 for the first service of a warehouse';
  return broken([[first && body.numReplicas === 1 && tier !== 'basic', 'numReplicas', problem]]);
}

export function endpointProblems(body: z.infer<typeof EndpointCreationFields>): FieldProblem[] {
  const required = {
    VPC_ENDPOINT_SERVICE: [],
    VPC_RESOURCE: ['vpcResourceConfigurationId', 'vpcResourceShareArn'],
    STREAMING_MULTI_VPC: ['streamClusterArn', 'streamAuthentication'],
  } as const;
  return required[body.type]
    .filter((field) => (body[field] ?? null) === null)
    .map((field) => ({ field, problem: `is required when type is ${body.type}` }));
}

export function periodProblems({
  from_date,
  to_date,
}: z.infer<typeof UsagePeriodFields>): FieldProblem[] {
  const days = (Date.parse(to_date) - Date.parse(from_date)) / DAY_MS;
  return broken([
    [days < 0, 'to_date', 'must not be before from_date'],
    [
      days > LONGEST_PERIOD_DAYS,
      'to_date',
      'must be at most 30 days after from_date, so that the period has at most 31 days',
    ],
  ]);
}

function above(value: number | undefined, bound: number | undefined): boolean {
  return value !== undefined && bound !== undefined && value > bound;
}

function isRegionOf(provider: keyof typeof REGIONS_OF, region: string): boolean {
  const { contract, live }: Readonly<Record<string, readonly string[]>> = REGIONS_OF[provider];
  return Boolean(contract?.includes(region) || live?.includes(region));
}

function broken(rules: readonly Rule[]): FieldProblem[] {
  return rules.flatMap(([isBroken, field, problem]) => (isBroken ? [{ field, problem }] : []));
}
