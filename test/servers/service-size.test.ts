import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { currentSizeText } from '../../src/domain/targets.ts';
import { ServiceReading } from '../../src/servers/cloud-readings.ts';
import { serviceSnapshot } from '../../src/servers/facts.ts';

const AT = new Date('2026-11-20T12:00:00.000Z');
const MEMORY = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };
const ENTRY = { id: 'e1', name: 'Business hours' };
const ACTIVE = {
  ...{ effectiveMinReplicaMemoryGb: 64, effectiveMaxReplicaMemoryGb: 64 },
  ...{ effectiveMinReplicas: 3, effectiveMaxReplicas: 3, activeEntryId: 'e1' },
};
const ONE_SIZE = { minReplicaMemoryGb: 64, maxReplicaMemoryGb: 64 };
const TOTALS = { minTotalMemoryGb: 48, maxTotalMemoryGb: 192 };
const HORIZONTAL = { autoscalingMode: 'horizontal', replicaMemoryGb: 32 };

function fieldsOf(reply: Record<string, unknown>): JsonObject {
  return serviceSnapshot(ServiceReading.parse({ id: 's1', ...reply }), AT).fields;
}

test.for<[string, Record<string, unknown>, string | null]>([
  ['no size', {}, null],
  ['a range of memory', { ...MEMORY, numReplicas: 3 }, '16–64 GB × 3 replicas'],
  ['one replica of one size', { ...ONE_SIZE, numReplicas: 1 }, '64 GB × 1 replica'],
  ['only one bound', { minReplicaMemoryGb: 16 }, '16–? GB'],
  [
    'a range of replicas',
    { ...HORIZONTAL, minReplicas: 2, maxReplicas: 6 },
    '32 GB × 2–6 replicas',
  ],
  ['totals only', TOTALS, 'about 16–64 GB'],
  ['totals next to exact bounds', { ...MEMORY, ...TOTALS, maxTotalMemoryGb: 999 }, '16–64 GB'],
])('the size of a service with %s is shown in words', ([, reply, text]) => {
  expect(currentSizeText(fieldsOf(reply))).toBe(text);
});

test.for<[string, Record<string, unknown>, string]>([
  [
    'as requested',
    { currentScaling: { effectiveMinReplicaMemoryGb: 16, effectiveMaxReplicaMemoryGb: 64 } },
    '16–64 GB × 3 replicas',
  ],
  [
    'set by an entry of the schedule',
    { currentScaling: ACTIVE, scalingSchedule: { entries: [ENTRY] } },
    '64 GB × 3 replicas (scaling schedule entry “Business hours”), otherwise 16–64 GB × 3 replicas',
  ],
  [
    'still the previous one',
    { currentScaling: { ...ACTIVE, activeEntryId: null } },
    '64 GB × 3 replicas, changing to 16–64 GB × 3 replicas',
  ],
])('the size that applies is shown when it is %s', ([, reply, text]) => {
  expect(currentSizeText(fieldsOf({ ...MEMORY, numReplicas: 3, ...reply }))).toBe(text);
});

test('a snapshot of a service that was read has no address', () => {
  const endpoints = [{ protocol: 'https', host: 'h.example', port: 8443 }];
  const reading = {
    id: 's1',
    state: 'running',
    endpoints,
    ipAccessList: [{ source: '10.0.0.0/8' }],
  };
  const { fields, ...snapshot } = serviceSnapshot(ServiceReading.parse(reading), AT);
  expect(fields).toEqual({ state: 'running' });
  expect(snapshot).toEqual({ seenAt: AT, source: 'read from the server', wasRead: true });
});
