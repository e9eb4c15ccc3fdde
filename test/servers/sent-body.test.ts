import { expect, test } from 'vitest';
import { CloudService } from '../../src/servers/cloud-replies.ts';
import { publicSnapshot } from '../../src/servers/facts.ts';
import { sentService } from '../../src/servers/sent.ts';

function reply(result: object | null) {
  const parsed = result && CloudService.parse(result);
  return { result: parsed, requestId: '9f3e', status: 200, tookMs: 12 };
}

test('a reply without a service teaches nothing', () => {
  expect(sentService('s1', 'staging', reply(null))).toEqual({
    requestId: '9f3e',
    reported: [],
    learned: null,
  });
});

test('what a reply reports is kept under the id that was asked for', () => {
  const sent = sentService('s1', 'staging', reply({ id: 'other', name: 'new', state: 'stopping' }));
  expect(sent).toEqual({
    requestId: '9f3e',
    reported: ['stopping'],
    learned: { id: 's1', name: 'new', fields: { state: 'stopping' } },
  });
});

test('a reply without a name leaves the service the one it has', () => {
  expect(sentService('s1', 'staging', reply({})).learned?.name).toBe('staging');
});

test('keys and roles of the encryption are neither kept nor shown', () => {
  const canary = 'canary';
  const secrets = {
    encryptionKey: canary,
    encryptionAssumedRoleIdentifier: canary,
    encryptionRoleId: canary,
    transparentDataEncryptionKeyId: canary,
    password: canary,
  };
  const sent = sentService(
    's1',
    'staging',
    reply({ ...secrets, numReplicas: 3, isPrimary: false }),
  );
  expect(JSON.stringify(sent)).not.toContain(canary);
  expect(sent.learned?.fields).toEqual({ numReplicas: 3, isPrimary: false });
});

test('how a service is reached is kept for private answers only', () => {
  const hidden = {
    endpoints: [{ protocol: 'https', host: 'canary', port: 8443 }],
    iamRole: 'arn:canary',
    ipAccessList: [{ source: '10.0.0.0/8', description: 'canary' }],
    privateEndpointIds: ['canary'],
    availablePrivateEndpointIds: ['canary'],
  };
  const { reported, learned } = sentService('s1', 'staging', reply({ ...hidden, numReplicas: 3 }));
  expect(reported).toEqual([]);
  const fields = learned?.fields ?? {};
  expect(fields).toMatchObject({ ipAccessList: ['10.0.0.0/8 (canary)'], iamRole: 'arn:canary' });
  const snapshot = { fields, seenAt: new Date(0), source: 'a reply' };
  expect(publicSnapshot(snapshot).fields).toEqual({ numReplicas: 3 });
});

const ENTRY = '5f0e4f0a-8f58-4f6f-8b1c-2d3e4f5a6b7c';
const HELD = {
  currentScaling: {
    effectiveAutoscalingMode: 'vertical',
    effectiveMinReplicaMemoryGb: 64,
    effectiveMaxReplicaMemoryGb: 64,
    effectiveMinReplicas: 3,
    effectiveMaxReplicas: 3,
    effectiveIdleScaling: false,
    effectiveIdleTimeoutMinutes: null,
    activeEntryId: ENTRY,
  },
  scalingSchedule: { entries: [{ id: ENTRY, name: 'Business hours' }], activeEntryId: ENTRY },
};
const SENT = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32 };

test('a schedule that holds another size is not reported as “all values as requested”', () => {
  const { reported } = sentService('s1', 'staging', reply({ ...SENT, ...HELD }), SENT);
  expect(reported).toEqual([
    'all values are saved as requested',
    '⚠ the scaling schedule entry “Business hours” applies now: Minimum memory per replica (GB) is 64, Maximum memory per replica (GB) is 64',
  ]);
});

test('an active entry without a name is reported by its id', () => {
  const { scalingSchedule: _, ...unnamed } = HELD;
  const { reported } = sentService('s1', 'staging', reply({ ...SENT, ...unnamed }), SENT);
  expect(reported[1]).toContain('the scaling schedule entry 5f0e4f0a applies now: ');
});

test('values that the server applies later are reported as not applied yet', () => {
  const currentScaling = { effectiveMinReplicaMemoryGb: 16, effectiveMaxReplicaMemoryGb: 8 };
  const { reported } = sentService('s1', 'staging', reply({ ...SENT, currentScaling }), SENT);
  expect(reported).toEqual([
    'all values are saved as requested',
    'not applied yet: Maximum memory per replica (GB) is 8',
  ]);
});

test.for([
  ['equal bounds of replicas', 3, 3, []],
  [
    'a different number',
    5,
    5,
    ['all values are saved as requested', 'not applied yet: Replicas is 5'],
  ],
  // Old services keep an unequal pair in vertical mode, which is no number of replicas.
  ['unequal bounds', 2, 5, []],
  ['unknown bounds', null, null, []],
] as const)('a number of replicas is compared with %s', ([, least, most, expected]) => {
  const currentScaling = { effectiveMinReplicas: least, effectiveMaxReplicas: most };
  const body = { numReplicas: 3 };
  const { reported } = sentService('s1', 'staging', reply({ ...body, currentScaling }), body);
  expect(reported).toEqual(expected.length > 0 ? expected : ['all values as requested']);
});

test('a schedule that agrees with the requested values is not reported', () => {
  const body = { minReplicaMemoryGb: 64 };
  expect(sentService('s1', 'staging', reply({ ...body, ...HELD }), body).reported).toEqual([
    'all values as requested',
  ]);
});

test('the range of replicas, the mode and the applied values of a service are learned', () => {
  const horizontal = {
    autoscalingMode: 'horizontal',
    minReplicas: 2,
    maxReplicas: 4,
    replicaMemoryGb: 16,
    currentScaling: { effectiveAutoscalingMode: 'horizontal', effectiveMinReplicas: 4 },
  };
  expect(sentService('s1', 'staging', reply(horizontal)).learned?.fields).toEqual({
    autoscalingMode: 'horizontal',
    minReplicas: 2,
    maxReplicas: 4,
    replicaMemoryGb: 16,
    applied: { autoscalingMode: 'horizontal', minReplicas: 4, scheduleEntry: null },
  });
});
