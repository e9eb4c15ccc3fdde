import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import { serviceScale } from '../../src/commands/service-scale.ts';
import { serviceStart, serviceStop } from '../../src/commands/service-state.ts';
import type { Plan, Snapshot } from '../../src/domain/change.ts';
import type { UnknownRead } from '../../src/servers/optional-reads.ts';
import { NOON, PLAN } from '../domain/changes-fixtures.ts';
import { servicesOf } from './reads.ts';

const COMMANDS = { start: serviceStart, stop: serviceStop, scale: serviceScale };
type Name = keyof typeof COMMANDS;

function planOf(fields: JsonObject, body: JsonObject, wasRead = true): Plan {
  const before: Snapshot = { fields, seenAt: NOON, source: 'read', ...(wasRead && { wasRead }) };
  return { ...PLAN, before, body };
}

function compare(plan: Plan, now: JsonObject | UnknownRead, name: Name) {
  // The comparison needs the reads only.
  const context = servicesOf({ [plan.target.id]: now }) as unknown as CommandContext;
  return COMMANDS[name].compareBeforeSending?.(plan, context);
}

test.for<[command: 'start' | 'stop', was: string | null, is: string | null, differs: boolean]>([
  ['stop', 'running', 'stopped', true],
  ['stop', 'running', 'stopping', true],
  ['stop', 'running', 'failed', true],
  ['stop', 'running', 'terminated', true],
  ['stop', 'running', 'idle', false],
  ['stop', 'idle', 'degraded', false],
  ['stop', 'running', 'starting', false],
  ['stop', 'failed', 'running', false],
  ['stop', 'stopped', 'stopping', false],
  ['stop', 'running', 'hovering', false],
  ['stop', 'hovering', 'stopped', false],
  ['stop', null, 'stopped', false],
  ['start', 'stopped', 'running', true],
  ['start', 'stopped', 'idle', true],
  ['start', 'stopping', 'starting', true],
  ['start', 'stopped', 'failed', true],
  ['start', 'stopped', 'softdeleting', true],
  ['start', 'stopping', 'stopped', false],
  ['start', 'idle', 'running', false],
  ['start', 'running', 'stopped', false],
])(
  'a %s of a service that was %s and is %s now: differs %s',
  async ([command, was, is, differs]) => {
    const plan = planOf(was === null ? {} : { state: was }, { command });
    const found = await compare(plan, { state: is }, command);
    const differences = [{ label: 'State', was, is }];
    expect(found).toEqual(differs ? { kind: 'differs', differences } : { kind: 'same' });
  },
);

const SIZE = {
  ...{ minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2 },
  ...{ idleScaling: true, idleTimeoutMinutes: 15, autoscalingMode: 'vertical' },
};
const MEMORY = { label: 'Memory per replica', was: '8–32 GB', is: '16–32 GB' };
const REPLICAS = { label: 'Replicas', was: '2', is: '3' };
const IDLE = { label: 'Scale to zero when idle', was: 'after 15 min', is: 'off' };

test.for<[what: string, body: JsonObject, now: JsonObject, differences: readonly object[]]>([
  ['the other bound', { maxReplicaMemoryGb: 64 }, { minReplicaMemoryGb: 16 }, [MEMORY]],
  ['the same bound', { minReplicaMemoryGb: 24 }, { minReplicaMemoryGb: 16 }, [MEMORY]],
  ['replicas beside the memory', { maxReplicaMemoryGb: 64 }, { numReplicas: 3 }, []],
  ['replicas', { numReplicas: 4 }, { numReplicas: 3 }, [REPLICAS]],
  ['memory beside the replicas', { numReplicas: 4 }, { minReplicaMemoryGb: 16 }, []],
  ['idling', { idleTimeoutMinutes: 5 }, { idleScaling: false, idleTimeoutMinutes: null }, [IDLE]],
  ['idling beside the memory', { maxReplicaMemoryGb: 64 }, { idleScaling: false }, []],
  ['memory beside the idling', { idleScaling: false }, { minReplicaMemoryGb: 16 }, []],
  [
    'the kind of scaling',
    { maxReplicaMemoryGb: 64 },
    { autoscalingMode: 'horizontal' },
    [{ label: 'Scaling of replicas', was: 'vertical', is: 'horizontal' }],
  ],
  ['the kind beside the idling', { idleScaling: false }, { autoscalingMode: 'horizontal' }, []],
  ['the state', { maxReplicaMemoryGb: 64 }, { state: 'stopped' }, []],
])('a scale whose service has other %s', async ([, body, now, differences]) => {
  const found = await compare(planOf(SIZE, body), { ...SIZE, ...now }, 'scale');
  expect(found).toEqual(
    differences.length > 0 ? { kind: 'differs', differences } : { kind: 'same' },
  );
});

const LARGER = { maxReplicaMemoryGb: 64 };
const ONE_BOUND = { minReplicaMemoryGb: 8 };

test.for<[what: string, Name, Plan, now: JsonObject, why: string | null]>([
  ['a state', 'stop', planOf({ state: 'running' }, {}), {}, 'state'],
  ['its size', 'scale', planOf(SIZE, LARGER), without('minReplicaMemoryGb'), 'memory per replica'],
  ['a size that it keeps', 'scale', planOf(SIZE, LARGER), without('numReplicas'), null],
  ['a timeout', 'scale', planOf(SIZE, { idleScaling: true }), without('idleTimeoutMinutes'), null],
  ['what the preview lacks, too', 'scale', planOf(ONE_BOUND, LARGER), ONE_BOUND, null],
])('a reply without %s verifies only what it has', async ([, name, plan, now, missing]) => {
  const why = `the reply has no ${missing}`;
  const expected = missing ? { kind: 'unread', why, isOff: false } : { kind: 'same' };
  expect(await compare(plan, now, name)).toEqual(expected);
});

function without(field: keyof typeof SIZE): JsonObject {
  return { ...SIZE, [field]: null };
}

test('a difference is reported although the reply misses another value', async () => {
  const body = { maxReplicaMemoryGb: 64, numReplicas: 4 };
  const now = { ...SIZE, minReplicaMemoryGb: 16, numReplicas: null };
  expect(await compare(planOf(SIZE, body), now, 'scale')).toMatchObject({ kind: 'differs' });
});

test.for([
  ['no-answer', false],
  ['refused', false],
  ['off', true],
] as const)('after a read with the gap “%s”, it is unknown (off: %s)', async ([gap, isOff]) => {
  const read = { known: false, gap, why: 'no reply', status: null } as const;
  const plan = planOf({ state: 'running' }, {});
  const expected = { kind: 'unread', why: 'no reply', isOff };
  expect(await compare(plan, read, 'stop')).toEqual(expected);
});

test('a change whose preview was made without a read is not compared', async () => {
  const plan = planOf({ state: 'running' }, {}, false);
  expect(await compare(plan, { state: 'stopped' }, 'stop')).toBeNull();
  const never = { ...plan, before: null };
  expect(await compare(never, { state: 'stopped' }, 'stop')).toBeNull();
});
