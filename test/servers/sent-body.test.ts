import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { CloudService } from '../../src/servers/cloud-replies.ts';
import { publicSnapshot } from '../../src/servers/facts.ts';
import { sentService } from '../../src/servers/sent.ts';

/** What a reply to a request of staging with this body teaches and reports. */
function sent(service: object | null, body?: JsonObject) {
  const result = service && CloudService.parse(service);
  const reply = { result, requestId: '9f3e', status: 200, tookMs: 12 };
  return sentService('s1', 'staging', reply, body);
}

test('a reply without a service teaches nothing', () => {
  const nothing = { requestId: '9f3e', reported: [], learned: null };
  expect(sent(null)).toEqual(nothing);
});

test('what a reply reports is kept under the id that was asked for', () => {
  expect(sent({ id: 'other', name: 'new', state: 'stopping' })).toEqual({
    ...{ requestId: '9f3e', reported: ['stopping'] },
    learned: { id: 's1', name: 'new', fields: { state: 'stopping' } },
  });
});

test('a reply without a name leaves the service the one it has', () => {
  expect(sent({}).learned?.name).toBe('staging');
});

test('keys and roles of the encryption are neither kept nor shown', () => {
  const names = [
    ...['encryptionKey', 'encryptionAssumedRoleIdentifier', 'encryptionRoleId'],
    ...['transparentDataEncryptionKeyId', 'password'],
  ];
  const secrets = Object.fromEntries(names.map((name) => [name, 'canary']));
  const { learned, reported } = sent({ ...secrets, numReplicas: 3, isPrimary: false });
  expect(JSON.stringify([learned, reported])).not.toContain('canary');
  expect(learned?.fields).toEqual({ numReplicas: 3, isPrimary: false });
});

test('how a service is reached is kept for private answers only', () => {
  const hidden = {
    endpoints: [{ protocol: 'https', host: 'canary', port: 8443 }],
    iamRole: 'arn:canary',
    ipAccessList: [{ source: '10.0.0.0/8', description: 'canary' }],
    privateEndpointIds: ['canary'],
    availablePrivateEndpointIds: ['canary'],
  };
  const { reported, learned } = sent({ ...hidden, numReplicas: 3 });
  expect(reported).toEqual([]);
  const fields = learned?.fields ?? {};
  expect(fields).toMatchObject({ ipAccessList: ['10.0.0.0/8 (canary)'], iamRole: 'arn:canary' });
  const snapshot = { fields, seenAt: new Date(0), source: 'a reply' };
  expect(publicSnapshot(snapshot).fields).toEqual({ numReplicas: 3 });
});

const ENTRY = '5f0e4f0a-8f58-4f6f-8b1c-2d3e4f5a6b7c';
const HELD = {
  currentScaling: {
    ...{ effectiveAutoscalingMode: 'vertical', activeEntryId: ENTRY },
    ...{ effectiveMinReplicaMemoryGb: 64, effectiveMaxReplicaMemoryGb: 64 },
    ...{ effectiveMinReplicas: 3, effectiveMaxReplicas: 3 },
    ...{ effectiveIdleScaling: false, effectiveIdleTimeoutMinutes: null },
  },
  scalingSchedule: { entries: [{ id: ENTRY, name: 'Business hours' }], activeEntryId: ENTRY },
};
const SAVED = 'all values are saved as requested';
const SENT = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32 };

test('a schedule that holds another size is not reported as “all values as requested”', () => {
  const { reported } = sent({ ...SENT, ...HELD }, SENT);
  expect(reported).toEqual([
    SAVED,
    '⚠ the scaling schedule entry “Business hours” applies now: Minimum memory per replica (GB) is 64, Maximum memory per replica (GB) is 64',
  ]);
});

test('an active entry without a name is reported by its id', () => {
  const { scalingSchedule: _, ...unnamed } = HELD;
  const { reported } = sent({ ...SENT, ...unnamed }, SENT);
  expect(reported[1]).toContain('the scaling schedule entry 5f0e4f0a applies now: ');
});

test('values that the server applies later are reported as not applied yet', () => {
  const currentScaling = { effectiveMinReplicaMemoryGb: 16, effectiveMaxReplicaMemoryGb: 8 };
  const { reported } = sent({ ...SENT, currentScaling }, SENT);
  expect(reported).toEqual([SAVED, 'not applied yet: Maximum memory per replica (GB) is 8']);
});

test.for([
  ['equal bounds of replicas', 3, 3, []],
  ['a different number', 5, 5, [SAVED, 'not applied yet: Replicas is 5']],
  // Old services keep an unequal pair in vertical mode, which is no number of replicas.
  ['unequal bounds', 2, 5, []],
  ['unknown bounds', null, null, []],
] as const)('a number of replicas is compared with %s', ([, least, most, expected]) => {
  const currentScaling = { effectiveMinReplicas: least, effectiveMaxReplicas: most };
  const body = { numReplicas: 3 };
  const { reported } = sent({ ...body, currentScaling }, body);
  expect(reported).toEqual(expected.length > 0 ? expected : ['all values as requested']);
});

test('a schedule that agrees with the requested values is not reported', () => {
  const body = { minReplicaMemoryGb: 64 };
  expect(sent({ ...body, ...HELD }, body).reported).toEqual(['all values as requested']);
});

test('the range of replicas, the mode and the applied values of a service are learned', () => {
  const size = { minReplicas: 2, maxReplicas: 4, replicaMemoryGb: 16 };
  const applied = { effectiveAutoscalingMode: 'horizontal', effectiveMinReplicas: 4 };
  const service = { autoscalingMode: 'horizontal', ...size, currentScaling: applied };
  expect(sent(service).learned?.fields).toEqual({
    ...{ autoscalingMode: 'horizontal', ...size },
    applied: { autoscalingMode: 'horizontal', minReplicas: 4, scheduleEntry: null },
  });
});
