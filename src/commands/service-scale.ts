import { z } from 'zod';
import type { JsonObject, Snapshot } from '../changes/change.ts';
import { organizationProblems } from '../cloud/rules.ts';
import { ReplicaScaling } from '../cloud/schema.ts';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import {
  ceilingProblems,
  SIZING,
  SIZING_LABELS,
  sizingApplies,
} from '../intent/arguments/sizing.ts';
import { bodyOf, wireProblems } from '../intent/arguments/wire.ts';
import { changeCommand } from '../intent/define.ts';
import { settledAsRequested, UNFOLLOWED } from '../intent/settled.ts';

export const serviceScale = changeCommand({
  name: 'service scale',
  summary: 'Change the memory, replicas or idling of a service',
  examples: [
    'service scale analytics-prod min=16 max=64',
    'service scale staging idle=on idle-timeout=15 "night saving"',
  ],
  permission: 'service:manage-scaling-config',
  args: z.strictObject({ service: ServiceName, ...SIZING }),
  hasField: sizingApplies,
  call: 'PATCH replicaScaling',
  callClass: 'patch',
  timed: 'start and revert',
  effect: 'scale',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }) => service.lastSeen,
  desired: ({ service: _, ...sizes }) => bodyOf(sizes),
  problems: ({ service: _, ...sizes }, before, { organization }) => {
    const body = bodyOf(sizes);
    if (Object.keys(body).length === 0) return [NOTHING];
    return [
      ...wireProblems(ReplicaScaling, body),
      ...organizationProblems(sizes, organization),
      ...ceilingProblems(sizes, organization),
      ...boundProblems(body, before),
    ];
  },
  warnings: ({ service: _, ...sizes }, before) => scaleWarnings(bodyOf(sizes), before),
  send: async ({ id, name }, body, { cloud }) =>
    sentService(id, name, await cloud.updateReplicaScaling(id, ReplicaScaling.parse(body)), body),
  settled: settledAsRequested(SIZING_LABELS),
  undo: ({ id }, before, body) => undoLine(id, before, body),
  endingNote:
    'New replicas start before old ones stop: for up to an hour both can run and cost credits.',
  unfollowedNote: UNFOLLOWED,
});

const NOTHING = {
  field: 'minReplicaMemoryGb',
  problem: 'is missing: set at least one field to change',
};

/** A single bound is compared with the last seen value of the other bound. */
function boundProblems(body: JsonObject, before: Snapshot | null) {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = { ...before?.fields, ...body };
  const both = body.minReplicaMemoryGb !== undefined && body.maxReplicaMemoryGb !== undefined;
  if (both || typeof min !== 'number' || typeof max !== 'number' || min <= max) return [];
  const [field, other] =
    body.minReplicaMemoryGb === undefined
      ? ['maxReplicaMemoryGb', `the minimum last seen (${min})`]
      : ['minReplicaMemoryGb', `the maximum last seen (${max})`];
  return [{ field, problem: `does not fit ${other}: set both` }];
}

function scaleWarnings(body: JsonObject, before: Snapshot | null): readonly string[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas, idleScaling } = body;
  const oneBound = (min === undefined) !== (max === undefined) && before === null;
  const timeout = body.idleTimeoutMinutes !== undefined && idleScaling !== true;
  const warnings: readonly (readonly [boolean, string])[] = [
    [min !== undefined && min === max, 'Minimum and maximum are equal: the size is fixed.'],
    [oneBound, 'The other bound is unknown; the server rejects the change if the two do not fit.'],
    [numReplicas === 1, 'One replica: the first service of a warehouse needs at least two.'],
    [
      numReplicas !== undefined,
      'Some organizations cannot set replicas; the server then rejects the change.',
    ],
    [idleScaling === false, 'Without idling, the service runs and costs credits all the time.'],
    [idleScaling === true, 'An idle service stops; the next query waits until it has started.'],
    [timeout, 'The idle timeout applies only if scaling to zero is on.'],
    ...horizontalWarnings(body, before),
    [before === null, 'Current size: unknown (Signalbox has not seen this service yet).'],
  ];
  return warnings.flatMap(([applies, words]) => (applies ? [words] : []));
}

/** Fields that the server rejects while it scales the number of replicas. */
function horizontalWarnings(body: JsonObject, before: Snapshot | null) {
  const isHorizontal = before?.fields.autoscalingMode === 'horizontal';
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = { ...before?.fields, ...body };
  const changesMemory = (body.minReplicaMemoryGb ?? body.maxReplicaMemoryGb) !== undefined;
  const mode = 'This service scales the number of replicas';
  return [
    [isHorizontal && body.numReplicas !== undefined, `${mode}; the server rejects a fixed number.`],
    [
      isHorizontal && changesMemory && min !== max,
      `${mode}; minimum and maximum memory must be equal.`,
    ],
  ] as const;
}

const WORDS = {
  minReplicaMemoryGb: 'min',
  maxReplicaMemoryGb: 'max',
  numReplicas: 'replicas',
  idleScaling: 'idle',
  idleTimeoutMinutes: 'idle-timeout',
} as const;

/** Reverts only the changed fields; null unless every previous value is known. */
function undoLine(id: string, before: Snapshot | null, body: JsonObject) {
  const changed = Object.entries(WORDS).filter(([field]) => body[field] !== undefined);
  const words = changed.map(([field, word]) => {
    const value = before?.fields[field];
    if (value === undefined || value === null) return null;
    return `${word}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)}`;
  });
  if (words.length === 0 || words.includes(null)) return null;
  return { label: 'Restore the previous size', line: ['service scale', id, ...words].join(' ') };
}
