import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { restoreSize } from '../../src/commands/service-observe.ts';
import type { Snapshot } from '../../src/domain/change.ts';
import { NOON } from './fixtures.ts';

const seen = (fields: JsonObject, wasRead = true): Snapshot => ({
  ...{ fields, seenAt: NOON, source: 'read' },
  ...(wasRead && { wasRead }),
});
const SIZE = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2 };
const IDLES = { idleScaling: true, idleTimeoutMinutes: 15 };

test.for<[what: string, Snapshot, body: JsonObject, words: readonly string[]]>([
  ['only what is sent', seen({ ...SIZE, ...IDLES }), { maxReplicaMemoryGb: 64 }, ['max=32']],
  [
    'idling with the timeout that the server forgets',
    ...([seen(IDLES), { idleScaling: false }, ['idle=on', 'idle-timeout=15']] as const),
  ],
  [
    'idling without a timeout that was not read',
    ...([seen({ idleScaling: true }), { idleScaling: false }, ['idle=on']] as const),
  ],
  [
    'no timeout that is only last seen',
    ...([seen(IDLES, false), { idleScaling: false }, ['idle=on']] as const),
  ],
  [
    'a timeout once',
    ...([seen(IDLES), { ...IDLES, idleScaling: false }, ['idle=on', 'idle-timeout=15']] as const),
  ],
  [
    'no timeout where it was off',
    ...([seen({ idleScaling: false }), IDLES, ['idle=off']] as const),
  ],
])('an undo of a scale restores %s', ([, before, body, words]) => {
  expect(restoreSize(before, body)).toEqual({ ok: true, words });
});

test.for<[what: string, Snapshot | null, body: JsonObject, why: string]>([
  [
    'the number of replicas varied',
    seen({ autoscalingMode: 'horizontal', minReplicas: 2, maxReplicas: 4 }),
    ...([{ numReplicas: 3 }, 'cannot request a range of replicas'] as const),
  ],
  [
    'only totals are known',
    seen({ approximate: { minReplicaMemoryGb: 8 } }),
    ...([{ minReplicaMemoryGb: 16 }, 'total memory only'] as const),
  ],
  [
    'a value was not returned',
    seen({ maxReplicaMemoryGb: 32 }),
    ...([{ ...SIZE, maxReplicaMemoryGb: 64 }, 'previous value of min, replicas'] as const),
  ],
  ['it sends no size', seen(SIZE), {}, 'did not return'],
  ['nothing was read', null, SIZE, 'previous value of min, max, replicas'],
])('a scale has no undo if %s', ([, before, body, why]) => {
  const restored = restoreSize(before, body);
  expect(restored.ok ? restored.words : restored.why).toContain(why);
});
