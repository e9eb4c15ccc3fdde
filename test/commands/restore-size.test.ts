import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { serviceScale } from '../../src/commands/service-scale.ts';
import type { Snapshot, Target } from '../../src/domain/change.ts';
import { NOON } from './fixtures.ts';

const seen = (fields: JsonObject, wasRead = true): Snapshot => ({
  ...{ fields, seenAt: NOON, source: 'read' },
  ...(wasRead && { wasRead }),
});
const TARGET: Target = { kind: 'service', id: 'lab', name: 'lab', tags: [], warehouse: null };
const SIZE = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2 };
const IDLES = { idleScaling: true, idleTimeoutMinutes: 15 };

const OFF = { idleScaling: false };
const FORGETS = ['idle=on', 'idle-timeout=15'];

test.for<[what: string, Snapshot, body: JsonObject, words: readonly string[]]>([
  ['only what is sent', seen({ ...SIZE, ...IDLES }), { maxReplicaMemoryGb: 64 }, ['max=32']],
  ['idling with the timeout that the server forgets', seen(IDLES), OFF, FORGETS],
  ['idling without a timeout that was not read', seen({ idleScaling: true }), OFF, ['idle=on']],
  ['no timeout that is only last seen', seen(IDLES, false), OFF, ['idle=on']],
  ['a timeout once', seen(IDLES), { ...IDLES, idleScaling: false }, FORGETS],
  ['no timeout where it was off', seen(OFF), IDLES, ['idle=off']],
])('an undo of a scale restores %s', ([, before, body, words]) => {
  const line = ['service scale lab', ...words].join(' ');
  expect(serviceScale.undo?.(TARGET, before, body)).toMatchObject({ line });
});

const VARIED = seen({ autoscalingMode: 'horizontal', minReplicas: 2, maxReplicas: 4 });
const TOTALS = seen({ approximate: { minReplicaMemoryGb: 8 } });
const BOTH = { ...SIZE, maxReplicaMemoryGb: 64 };
const TWO = 'previous value of min, replicas';

test.for<[what: string, Snapshot | null, body: JsonObject, why: string | null]>([
  ['the number of replicas varied', VARIED, { numReplicas: 3 }, 'request a range of replicas'],
  ['only totals are known', TOTALS, { minReplicaMemoryGb: 16 }, 'total memory only'],
  ['a value was not returned', seen({ maxReplicaMemoryGb: 32 }), BOTH, TWO],
  ['it sends no size', seen(SIZE), {}, 'did not return'],
  ['nothing was read', null, SIZE, null],
])('a scale has no undo if %s', ([, before, body, why]) => {
  expect(serviceScale.undo?.(TARGET, before, body)).toBeNull();
  const told = serviceScale.noUndo?.(before, body);
  expect(told).toEqual(why === null ? null : expect.stringContaining(why));
});
