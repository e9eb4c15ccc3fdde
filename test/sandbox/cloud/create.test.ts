import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import { cloudServer } from '../servers.ts';

const BODY = { name: 'analytics two', provider: 'aws', region: 'eu-central-1' };
const [, LAB] = ORGANIZATION.warehouses.map(({ id }) => id);
const FULL_BACKUP = '53837fde-9e4f-4c3d-b63e-8c949cf4822f';
const EXPIRED_BACKUP = '52fbfd64-6063-4304-8ab1-e62736ca833c';

const SMALL = { tier: 'development' };
const free = { organization: { ...ORGANIZATION, plan: 'free' as const } };
const enterprise = { organization: { ...ORGANIZATION, tier: 'enterprise' as const } };
const contract = { profile: 'contract' as const };
const basicTier = { organization: { ...ORGANIZATION, tier: 'basic' as const } };

test('a new service is provisioning first and running a minute later', async () => {
  const { ask, cloud, clock } = await cloudServer();
  const { status, json } = await ask('POST', '/services', BODY);
  expect(status).toBe(200);
  expect(json.result?.service).toMatchObject({
    name: 'analytics two',
    region: 'eu-central-1',
    state: 'provisioning',
    numReplicas: 3,
    isPrimary: true,
    ipAccessList: [],
  });
  const id = String(json.result?.service?.id);
  clock.advance(60_000);
  expect(cloud.service(id)?.state).toBe('running');
});

test('two create requests create two services with two passwords', async () => {
  const { ask, cloud } = await cloudServer();
  const first = await ask('POST', '/services', BODY);
  const second = await ask('POST', '/services', BODY);
  expect(first.json.result?.service?.id).not.toBe(second.json.result?.service?.id);
  expect(first.json.result?.password).toMatch(/^\S{20}$/);
  expect(first.json.result?.password).not.toBe(second.json.result?.password);
  expect(cloud.services()).toHaveLength(14);
  expect(cloud.effectCount('create service')).toBe(2);
});

test('a service in an existing warehouse is a secondary, with the requested endpoint', async () => {
  const { ask } = await cloudServer();
  const given = { dataWarehouseId: LAB, isReadonly: true, numReplicas: 1 };
  const endpoints = [{ protocol: 'mysql', enabled: true }];
  const { json } = await ask('POST', '/services', { ...BODY, ...given, endpoints });
  expect(json.result?.service).toMatchObject({ ...given, isPrimary: false });
  expect(JSON.stringify(json.result?.service?.endpoints)).toContain('"mysql"');
});

test('a restore takes longer than an empty service', async () => {
  const { ask, cloud, clock } = await cloudServer();
  const { json } = await ask('POST', '/services', { ...BODY, backupId: FULL_BACKUP });
  const id = String(json.result?.service?.id);
  clock.advance(19 * 60_000);
  expect(cloud.service(id)?.state).toBe('provisioning');
  clock.advance(60_000);
  expect(cloud.service(id)?.state).toBe('running');
});

test.for<[string, object, Parameters<typeof cloudServer>[0]?]>([
  ['a name of fifty characters', { name: 'n'.repeat(50) }],
  ['total memory at its bounds', { minTotalMemoryGb: 24, maxTotalMemoryGb: 1_068 }],
  ['own-cloud sizes', { byocId: 'byoc-1', minReplicaMemoryGb: 48, maxReplicaMemoryGb: 232 }],
  ['deprecated fields', { tier: 'production', privateEndpointIds: ['vpce-svc-0a1b2c3d'] }],
  ['a profile of an enterprise', { profile: 'v1-highmem-s' }, enterprise],
  ['disk encryption of an enterprise', { hasTransparentDataEncryption: true }, enterprise],
  ['a free maximum', { maxReplicaMemoryGb: 120 }, free],
  ['an access list', { ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }] }],
  ['a hyphen on a live server', { name: 'it-1' }],
  ['a region that only live servers have', { region: 'ca-central-1' }],
  ['a region of the contract', { region: 'me-central-1' }, contract],
  ['a profile of the contract', { profile: 'v1-highcpu-s' }, { ...enterprise, ...contract }],
  ['a protocol of the contract', { endpoints: [{ protocol: 'https', enabled: false }] }, contract],
])('%s is accepted', async ([, changes, options]) => {
  const { ask } = await cloudServer(options);
  expect((await ask('POST', '/services', { ...BODY, ...changes })).status).toBe(200);
});

test.for<[string, object, string, Parameters<typeof cloudServer>[0]?]>([
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 51 characters', { name: 'n'.repeat(51) }, 'name'],
  ['a hyphen in a name of the contract', { name: 'analytics-two' }, 'name', contract],
  ['an underscore in the name', { name: 'analytics_two' }, 'name'],
  ['a region that live servers no longer have', { region: 'me-central-1' }, 'region'],
  ['a region outside the contract', { region: 'ca-central-1' }, 'region', contract],
  ['a profile that live servers have no more', { profile: 'v1-highcpu-s' }, 'profile', enterprise],
  ['another protocol', { endpoints: [{ protocol: 'https', enabled: false }] }, 'endpoints'],
  ['an unknown provider', { provider: 'other' }, 'provider'],
  ['an unknown region', { region: 'moon-1' }, 'region'],
  ['an unknown tier', { tier: 'huge' }, 'tier'],
  ['a tier that the provider lacks', { provider: 'azure', tier: 'development' }, 'tier'],
  ['an access list without descriptions', { ipAccessList: [{ source: 'x' }] }, 'ipAccessList'],
  ['total memory of 12', { minTotalMemoryGb: 12 }, 'minTotalMemoryGb'],
  ['total memory of 1,080', { maxTotalMemoryGb: 1_080 }, 'maxTotalMemoryGb'],
  ['total memory of 25', { minTotalMemoryGb: 25 }, 'minTotalMemoryGb'],
  ['total bounds in reverse', { minTotalMemoryGb: 48, maxTotalMemoryGb: 24 }, 'minTotalMemoryGb'],
  ['total memory of a small service', { ...SMALL, minTotalMemoryGb: 24 }, 'minTotalMemoryGb'],
  ['free total memory of 372', { maxTotalMemoryGb: 372 }, 'maxTotalMemoryGb', free],
  ['free replica memory of 124', { maxReplicaMemoryGb: 124 }, 'maxReplicaMemoryGb', free],
  ['memory of 30', { minReplicaMemoryGb: 30 }, 'minReplicaMemoryGb'],
  ['bounds in reverse', { minReplicaMemoryGb: 64, maxReplicaMemoryGb: 32 }, 'minReplicaMemoryGb'],
  ['memory of a small service', { ...SMALL, minReplicaMemoryGb: 8 }, 'minReplicaMemoryGb'],
  ['one replica in a new warehouse', { numReplicas: 1 }, 'numReplicas', contract],
  ['read-only without a warehouse', { isReadonly: true }, 'isReadonly'],
  ['an unknown warehouse', { dataWarehouseId: 'nowhere' }, 'dataWarehouseId'],
  ['a backup id that is no uuid', { backupId: 'last' }, 'backupId'],
  ['a backup that has expired', { backupId: EXPIRED_BACKUP }, 'backupId'],
  ['a backup of another region', { backupId: FULL_BACKUP, region: 'us-east-1' }, 'region'],
  ['a backup of another tier', { backupId: FULL_BACKUP, tier: 'production' }, 'tier'],
  ['an unknown release channel', { releaseChannel: 'nightly' }, 'releaseChannel'],
  ['a release channel of a small service', { ...SMALL, releaseChannel: 'fast' }, 'releaseChannel'],
  ['own cloud without sizes', { byocId: 'byoc-1' }, 'minReplicaMemoryGb'],
  [
    'own cloud with a size of 64',
    { byocId: 'byoc-1', minReplicaMemoryGb: 48, maxReplicaMemoryGb: 64 },
    'maxReplicaMemoryGb',
  ],
  ['disk encryption below enterprise', { hasTransparentDataEncryption: true }, 'hasTransparent'],
  ['a profile below enterprise', { profile: 'v1-default' }, 'profile'],
  ['an unknown profile', { profile: 'v9' }, 'profile', enterprise],
  ['an unknown compliance', { complianceType: 'other' }, 'complianceType'],
  ['endpoints without a switch', { endpoints: [{ protocol: 'mysql' }] }, 'endpoints'],
])('%s is refused', async ([, changes, field, options]) => {
  const { ask, cloud } = await cloudServer(options);
  const { status, json } = await ask('POST', '/services', { ...BODY, ...changes });
  expect(status).toBe(400);
  expect(json.error).toContain(`BAD_REQUEST: request body.${field}`);
  expect(cloud.services()).toHaveLength(12);
  expect(cloud.effects()).toEqual([]);
});

test("the default number of replicas follows the organization's tier", async () => {
  const { ask } = await cloudServer(basicTier);
  const { json } = await ask('POST', '/services', BODY);
  expect(json.result?.service?.numReplicas).toBe(1);
});
