import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import { cloudServer, serviceId } from '../servers.ts';

const STAGING = serviceId('staging');
const path = (id: string) => `/services/${id}/replicaScaling`;

test('a scaling merges the values; the reply has the new values and the effective values', async () => {
  const { ask, clock } = await cloudServer();
  const { status, json } = await ask('PATCH', path(STAGING), { maxReplicaMemoryGb: 64 });
  expect(status).toBe(200);
  expect(json.result).toMatchObject({
    minReplicaMemoryGb: 8,
    maxReplicaMemoryGb: 64,
    numReplicas: 2,
    currentScaling: { effectiveMaxReplicaMemoryGb: 32 },
  });
  clock.advance(60_000);
  const later = await ask('PATCH', path(STAGING), {});
  expect(later.json.result?.currentScaling?.effectiveMaxReplicaMemoryGb).toBe(64);
});

test('the last of several scalings takes effect', async () => {
  const { ask, cloud, clock } = await cloudServer();
  for (const max of [64, 96]) await ask('PATCH', path(STAGING), { maxReplicaMemoryGb: max });
  const last = await ask('PATCH', path(STAGING), { maxReplicaMemoryGb: 48 });
  expect(last.json.result?.currentScaling?.effectiveMaxReplicaMemoryGb).toBe(32);
  clock.advance(60_000);
  expect(cloud.service(STAGING)?.scaling.maxReplicaMemoryGb).toBe(48);
  expect(cloud.effectCount('scale', STAGING)).toBe(3);
});

test('a reply without idle scaling has no idle timeout', async () => {
  const { ask } = await cloudServer();
  const { json } = await ask('PATCH', path(STAGING), { idleScaling: false });
  expect(json.result).not.toHaveProperty('idleTimeoutMinutes');
  const back = await ask('PATCH', path(STAGING), { idleScaling: true, idleTimeoutMinutes: 5 });
  expect(back.json.result?.idleTimeoutMinutes).toBe(5);
});

test.for<[string, object]>([
  ['the smallest memory', { minReplicaMemoryGb: 8 }],
  ['the largest memory', { maxReplicaMemoryGb: 356 }],
  ['equal bounds', { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16 }],
  ['one replica of a secondary', { numReplicas: 1 }],
  ['twenty replicas', { numReplicas: 20 }],
  ['the shortest timeout', { idleTimeoutMinutes: 5 }],
])('%s is accepted', async ([, body]) => {
  const { ask } = await cloudServer();
  const { status, json } = await ask('PATCH', path(STAGING), body);
  expect(status).toBe(200);
  expect(json.result).toMatchObject(body);
});

test.for<[string, object, string]>([
  ['less than the smallest memory', { minReplicaMemoryGb: 4 }, 'minReplicaMemoryGb'],
  ['more than the largest memory', { maxReplicaMemoryGb: 360 }, 'maxReplicaMemoryGb'],
  ['no multiple of four', { maxReplicaMemoryGb: 30 }, 'maxReplicaMemoryGb'],
  ['a minimum above the present maximum', { minReplicaMemoryGb: 36 }, 'minReplicaMemoryGb'],
  [
    'a minimum above the maximum sent with it',
    { minReplicaMemoryGb: 64, maxReplicaMemoryGb: 32 },
    'minReplicaMemoryGb',
  ],
  ['no replica', { numReplicas: 0 }, 'numReplicas'],
  ['too many replicas', { numReplicas: 21 }, 'numReplicas'],
  ['half a replica', { numReplicas: 1.5 }, 'numReplicas'],
  ['a timeout, no idling', { idleScaling: false, idleTimeoutMinutes: 10 }, 'idleTimeoutMinutes'],
  ['too short a timeout', { idleTimeoutMinutes: 4 }, 'idleTimeoutMinutes'],
  ['a number as text', { numReplicas: '2' }, 'numReplicas'],
  ['a word for a switch', { idleScaling: 'on' }, 'idleScaling'],
  ['null', { numReplicas: null }, 'numReplicas'],
])('%s is refused', async ([, body, field]) => {
  const { ask, cloud } = await cloudServer();
  const { status, json } = await ask('PATCH', path(STAGING), body);
  expect(status).toBe(400);
  expect(json.error).toMatch(new RegExp(`^BAD_REQUEST: request body\\.${field}: .* <\\w+:.*>$`));
  expect(cloud.effects()).toEqual([]);
});

test('a maximum below the current minimum is refused at the field of the maximum', async () => {
  const { ask } = await cloudServer();
  const prod = path(serviceId('analytics-prod'));
  const { json } = await ask('PATCH', prod, { maxReplicaMemoryGb: 16 });
  expect(json.error).toMatch(/request body\.maxReplicaMemoryGb: must not be less/);
});

test('the primary service of a warehouse needs two replicas where the contract holds', async () => {
  const { ask } = await cloudServer({ profile: 'contract' });
  const prod = path(serviceId('analytics-prod'));
  expect((await ask('PATCH', prod, { numReplicas: 1 })).status).toBe(400);
  expect((await ask('PATCH', prod, { numReplicas: 2 })).status).toBe(200);
});

test('a horizontally scaled service has no number of replicas and accepts none', async () => {
  const { ask } = await cloudServer();
  const features = path(serviceId('ml-features'));
  const { json } = await ask('PATCH', features, { minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 });
  expect(json.result).toMatchObject({ minReplicas: 2, maxReplicas: 4, replicaMemoryGb: 32 });
  for (const field of ['numReplicas', 'minTotalMemoryGb', 'maxTotalMemoryGb']) {
    expect(json.result).not.toHaveProperty(field);
  }
  expect((await ask('PATCH', features, { numReplicas: 3 })).status).toBe(400);
  expect((await ask('PATCH', features, { maxReplicaMemoryGb: 64 })).status).toBe(400);
});

test('a free organization cannot exceed its memory limit', async () => {
  const organization = { ...ORGANIZATION, plan: 'free' as const };
  const { ask } = await cloudServer({ organization });
  expect((await ask('PATCH', path(STAGING), { maxReplicaMemoryGb: 120 })).status).toBe(200);
  expect((await ask('PATCH', path(STAGING), { maxReplicaMemoryGb: 124 })).status).toBe(400);
});

test('an empty body changes nothing', async () => {
  const { ask } = await cloudServer();
  expect((await ask('PATCH', path(STAGING), {})).status).toBe(200);
});
