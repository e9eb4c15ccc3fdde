import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { REGIONS, REGIONS_OF } from '../../src/servers/accepted-values.ts';
import {
  EndpointCreation,
  organizationProblems,
  ReplicaScaling,
  ServiceCreation,
  ServiceState,
  UsagePeriod,
} from '../../src/servers/cloud-schema.ts';
import { requestProblems } from './request-problems.ts';

const MEMORY = 'must be a multiple of 4 from 8 to 356';
const TOTAL = 'must be a multiple of 12 from 24 to 1068';
const REPLICAS = 'must be a whole number from 1 to 20';
const IDLE = 'must be a whole number of minutes, 5 or more';
const NAME = 'must be 1 to 50 letters, digits and spaces';
const DESCRIPTION = 'must be a text of at most 255 characters';
const BYOC = 'is required with byocId and must be one of 48, 116, 172, 232';
const DAY = '2026-11-01';
const CROSSED = 'must not be above maxReplicaMemoryGb, 16';
const NO_CHANGE = { request: 'must contain at least one change' };
const READONLY = 'needs dataWarehouseId: only a service in an existing warehouse can be read-only';
const ofType = (type: string) => `is required when type is ${type}`;
const PRODUCTION = 'is only for services of the tier production';

const endpoint = (fields: object) => ({ type: 'VPC_ENDPOINT_SERVICE', ...fields });
const oneOf = (...names: readonly string[]) => `must be one of ${names.join(', ')}`;
const PROVIDERS = ['aws', 'gcp', 'azure'];
const CHANNELS = ['slow', 'default', 'fast'];
const ENDPOINTS = ['VPC endpoint service', 'VPC resource', 'streaming from several VPCs'];
const NO_NAMES = ['', ' ', 'x'.repeat(51), '-', 'a_b', 'a.b', '<!channel>', 5];
const NAMES = ['a', 'analytics eu 2', 'x'.repeat(50), 'a\tb', 'analytics-eu'];
const IDS = ['2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e', '00000000-0000-0000-0000-000000000000'];

type Field = readonly [field: string, good: unknown[], bad: unknown[], problem: string];

describe.for<[string, z.ZodType, Field[]]>([
  [
    'ReplicaScaling',
    ReplicaScaling,
    [
      ['minReplicaMemoryGb', [8, 12, 356], [4, 7, 10, 357, 360, '8', null], MEMORY],
      ['maxReplicaMemoryGb', [8, 352, 356], [0, -8, 9, 360, NaN], MEMORY],
      ['numReplicas', [1, 2, 20], [0, 21, 1.5, -1, '3'], REPLICAS],
      ['idleTimeoutMinutes', [5, 6, 10_000], [4, 0, 5.5, '5'], IDLE],
      ['idleScaling', [true, false], ['on', 1], 'must be on or off'],
    ],
  ],
  [
    'ServiceCreation',
    ServiceCreation,
    [
      ['minReplicaMemoryGb', [8, 356], [4, 6, 360], MEMORY],
      ['maxReplicaMemoryGb', [8, 356], [4, 6, 360], MEMORY],
      ['minTotalMemoryGb', [24, 36, 1068], [12, 23, 25, 1080], TOTAL],
      ['maxTotalMemoryGb', [24, 1056, 1068], [12, 30, 1069], TOTAL],
      ['numReplicas', [1, 20], [0, 21], REPLICAS],
      ['idleTimeoutMinutes', [5], [4], IDLE],
      ['name', NAMES, NO_NAMES, NAME],
      ['provider', PROVIDERS, ['AWS', 'other'], oneOf(...PROVIDERS)],
      ['releaseChannel', CHANNELS, ['regular'], oneOf(...CHANNELS)],
      ['complianceType', ['hipaa', 'pci'], ['sox'], oneOf('hipaa', 'pci')],
      ['backupId', IDS, ['2f7c9d34', ''], 'must be a UUID'],
      ['dataWarehouseId', ['main'], [''], 'must not be empty'],
    ],
  ],
  [
    'EndpointCreation',
    EndpointCreation,
    [
      ['description', ['', 'x'.repeat(255)], ['x'.repeat(256)], DESCRIPTION],
      ['type', ['VPC_ENDPOINT_SERVICE'], ['OTHER', undefined], oneOf(...ENDPOINTS)],
      [
        'streamAuthentication',
        ['SASL_IAM', 'SASL_SCRAM', null],
        ['PLAIN'],
        oneOf('SASL with IAM', 'SASL with SCRAM'),
      ],
      ['vpcEndpointServiceName', ['com.x', null], [''], 'must not be empty'],
    ],
  ],
  [
    'ServiceState',
    ServiceState,
    [['command', ['start', 'stop'], ['awake', 'START', ''], oneOf('start', 'stop')]],
  ],
])('a field of %s', ([, schema, fields]) => {
  const around = schema === EndpointCreation ? endpoint : (body: object) => body;

  test.for(fields)('%s', ([field, good, bad, problem]) => {
    const problemsOf = (value: unknown) => requestProblems(schema, around({ [field]: value }));
    expect(good.flatMap(problemsOf)).toEqual([]);
    expect(bad.map(problemsOf)).toEqual(bad.map(() => [{ field, problem }]));
  });
});

describe('one field', () => {
  test('a region that neither the contract nor live servers know is refused', () => {
    const problem = oneOf(...REGIONS.contract);
    const problems = requestProblems(ServiceCreation, { region: 'mars-1' });
    expect(problems).toEqual([{ field: 'region', problem }]);
  });

  test('the deprecated fields are still accepted', () => {
    const totals = { minTotalMemoryGb: 24, maxTotalMemoryGb: 48 };
    const body = { tier: 'production', ...totals, privateEndpointIds: ['vpce-svc-0a1b2c3d'] };
    expect(requestProblems(ServiceCreation, body)).toEqual([]);
  });

  test.for<[string, z.ZodType, object]>([
    ['creating', ServiceCreation, { name: 'a', colour: 'red' }],
    ['creating an endpoint', EndpointCreation, endpoint({ colour: 'red' })],
    ['scaling', ReplicaScaling, { numReplicas: 2, colour: 'red' }],
    ['stopping', ServiceState, { command: 'stop', colour: 'red' }],
    ['asking for costs', UsagePeriod, { from_date: DAY, to_date: DAY, colour: 1 }],
  ])('a field that the contract does not know is refused when %s', ([, schema, body]) => {
    const problem = 'is not a field of this request';
    expect(requestProblems(schema, body)).toEqual([{ field: 'colour', problem }]);
  });

  test('prototype names are unknown fields', () => {
    const body: unknown = JSON.parse('{"command":"stop","__proto__":{"a":1},"constructor":1}');
    const fields = requestProblems(ServiceState, body).map(({ field }) => field);
    expect(fields).toContain('constructor');
    expect(Object.prototype).not.toHaveProperty('a');
  });

  test('a problem in a list names the entry', () => {
    const body = { ipAccessList: [{ source: '10.0.0.0/8' }, { source: '' }], endpoints: [{}] };
    expect(requestProblems(ServiceCreation, body).map(({ field }) => field)).toEqual([
      'ipAccessList.1.source',
      'endpoints.0.protocol',
      'endpoints.0.enabled',
    ]);
  });
});

describe('fields together', () => {
  const replicas = (minReplicaMemoryGb: number, maxReplicaMemoryGb: number) => ({
    ...{ minReplicaMemoryGb, maxReplicaMemoryGb },
  });
  const totals = (minTotalMemoryGb: number, maxTotalMemoryGb: number) => ({
    ...{ minTotalMemoryGb, maxTotalMemoryGb },
  });
  const resource = { vpcResourceConfigurationId: 'r', vpcResourceShareArn: 'a' };
  const stream = { type: 'STREAMING_MULTI_VPC', streamClusterArn: 'a' };
  const byoc = (body: object) => ({ byocId: 'b', ...body });
  const development = (body: object) => ({ tier: 'development', ...body });

  test.for<[string, z.ZodType, object, Readonly<Record<string, string>>]>([
    ['equal bounds', ReplicaScaling, replicas(16, 16), {}],
    ['crossed bounds', ReplicaScaling, replicas(20, 16), { minReplicaMemoryGb: CROSSED }],
    ['crossed when created', ServiceCreation, replicas(20, 16), { minReplicaMemoryGb: CROSSED }],
    [
      'crossed totals',
      ServiceCreation,
      totals(48, 24),
      { minTotalMemoryGb: 'must not be above maxTotalMemoryGb, 24' },
    ],
    ['no change at all', ReplicaScaling, {}, NO_CHANGE],
    ['no change but a name for it', ReplicaScaling, { numReplicas: undefined }, NO_CHANGE],
    ['own cloud, sizes of it', ServiceCreation, byoc(replicas(48, 232)), {}],
    [
      'own cloud, no sizes',
      ServiceCreation,
      byoc({}),
      { minReplicaMemoryGb: BYOC, maxReplicaMemoryGb: BYOC },
    ],
    [
      'own cloud, one size of another kind',
      ServiceCreation,
      byoc(replicas(48, 52)),
      { maxReplicaMemoryGb: BYOC },
    ],
    ['read-only in a warehouse', ServiceCreation, { isReadonly: true, dataWarehouseId: 'w' }, {}],
    ['not read-only', ServiceCreation, { isReadonly: false }, {}],
    ['read-only on its own', ServiceCreation, { isReadonly: true }, { isReadonly: READONLY }],
    [
      'development on azure',
      ServiceCreation,
      development({ provider: 'azure' }),
      { tier: 'must not be development on azure' },
    ],
    ['development on aws', ServiceCreation, development({ provider: 'aws' }), {}],
    [
      'production settings of a development service',
      ServiceCreation,
      development({ ...totals(24, 24), releaseChannel: 'fast' }),
      { minTotalMemoryGb: PRODUCTION, maxTotalMemoryGb: PRODUCTION, releaseChannel: PRODUCTION },
    ],
    ['a release channel without a tier', ServiceCreation, { releaseChannel: 'slow' }, {}],
    [
      'a region of another provider',
      ServiceCreation,
      { provider: 'aws', region: 'europe-west4' },
      { region: 'must be a region of aws' },
    ],
    ['an endpoint service', EndpointCreation, { type: 'VPC_ENDPOINT_SERVICE' }, {}],
    [
      'a resource without its fields',
      EndpointCreation,
      { type: 'VPC_RESOURCE', vpcResourceShareArn: null },
      {
        vpcResourceConfigurationId: ofType('VPC_RESOURCE'),
        vpcResourceShareArn: ofType('VPC_RESOURCE'),
      },
    ],
    ['a resource with its fields', EndpointCreation, { type: 'VPC_RESOURCE', ...resource }, {}],
    [
      'a stream without authentication',
      EndpointCreation,
      stream,
      { streamAuthentication: ofType('STREAMING_MULTI_VPC') },
    ],
    ['a whole stream', EndpointCreation, { ...stream, streamAuthentication: 'SASL_IAM' }, {}],
  ])('%s', ([, schema, body, expected]) => {
    const found = requestProblems(schema, body).map(({ field, problem }) => [field, problem]);
    expect(found).toEqual(Object.entries(expected));
  });

  test.each(Object.entries(REGIONS_OF))('%s accepts each of its regions', (provider, regions) => {
    for (const region of [...regions.contract, ...regions.live]) {
      expect(requestProblems(ServiceCreation, { provider, region })).toEqual([]);
    }
  });
});

describe('a period', () => {
  const NO_DATE = 'must be a date, for example 2026-11-01';
  const LONG = 'must be at most 30 days after from_date, so that the period has at most 31 days';

  test.for<[string, string, string, Readonly<Record<string, string>>]>([
    ['one day', '2026-11-01', '2026-11-01', {}],
    ['31 days', '2026-10-01', '2026-10-31', {}],
    ['32 days', '2026-10-01', '2026-11-01', { to_date: LONG }],
    ['31 days around the end of summer time', '2026-10-10', '2026-11-09', {}],
    ['a leap day', '2028-02-29', '2028-03-01', {}],
    ['backwards', '2026-11-02', '2026-11-01', { to_date: 'must not be before from_date' }],
    ['a day that does not exist', '2026-02-29', '2026-03-01', { from_date: NO_DATE }],
    ['a moment', '2026-11-01T00:00:00Z', '2026-11-01', { from_date: NO_DATE }],
  ])('of %s', ([, from_date, to_date, expected]) => {
    const found = requestProblems(UsagePeriod, { from_date, to_date });
    expect(found.map(({ field, problem }) => [field, problem])).toEqual(Object.entries(expected));
  });
});

describe('the limits of the organization', () => {
  const ENCRYPTION = 'hasTransparentDataEncryption';
  const free = { plan: 'free' } as const;
  const paid = { plan: 'paid', tier: 'scale' } as const;
  const enterprise = { plan: 'paid', tier: 'enterprise' } as const;

  test.for<[string, object, Parameters<typeof organizationProblems>[1], string[]]>([
    ['120 GB for free', { maxReplicaMemoryGb: 120 }, free, []],
    ['124 GB for free', { maxReplicaMemoryGb: 124 }, free, ['maxReplicaMemoryGb']],
    ['356 GB for money', { maxReplicaMemoryGb: 356 }, paid, []],
    ['360 GB in total for free', { maxTotalMemoryGb: 360 }, free, []],
    ['372 GB in total for free', { maxTotalMemoryGb: 372 }, free, ['maxTotalMemoryGb']],
    ['a profile below ENTERPRISE', { profile: 'v1-default' }, paid, ['profile']],
    ['a profile with ENTERPRISE', { profile: 'v1-default' }, enterprise, []],
    ['a profile, tier not configured', { profile: 'v1-default' }, { plan: 'paid' }, []],
    ['encryption below ENTERPRISE', { [ENCRYPTION]: true }, paid, [ENCRYPTION]],
    ['encryption switched off', { [ENCRYPTION]: false }, paid, []],
  ])('%s', ([, body, organization, fields]) => {
    expect(organizationProblems(body, organization).map(({ field }) => field)).toEqual(fields);
  });
});
