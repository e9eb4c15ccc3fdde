import { z } from 'zod';
import type { JsonObject, Snapshot } from '../changes/change.ts';
import { organizationProblems } from '../cloud/rules.ts';
import { ReplicaScaling } from '../cloud/schema.ts';
import { serviceTarget } from '../directory/directory.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { sentService } from '../intent/arguments/sent-body.ts';
import { ceilingProblems, SIZING, sizingApplies } from '../intent/arguments/sizing.ts';
import { bodyOf, wireProblems } from '../intent/arguments/wire.ts';
import { changeCommand } from '../intent/define.ts';

export const serviceScale = changeCommand({
  name: 'service scale',
  summary: 'Change the memory, replicas or idling of a service',
  examples: [
    'service scale analytics-prod min=16 max=64',
    'service scale staging idle=on idle-timeout=15 "night saving"',
  ],
  args: z.strictObject({ service: ServiceName, ...SIZING }),
  hasField: sizingApplies,
  call: 'PATCH replicaScaling',
  callClass: 'patch',
  timed: 'start and back',
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
  undo: ({ id }, before, body) => undoLine(id, before, body),
  endingNote:
    'New replicas start before old ones go: for up to an hour both can run, and cost. This API cannot tell when it is done.',
});

const NOTHING = { field: 'minReplicaMemoryGb', problem: 'must be given, or another field must' };

/** One bound alone is weighed against the other one as it was last seen. */
function boundProblems(body: JsonObject, before: Snapshot | null) {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = { ...before?.fields, ...body };
  const both = body.minReplicaMemoryGb !== undefined && body.maxReplicaMemoryGb !== undefined;
  if (both || typeof min !== 'number' || typeof max !== 'number' || min <= max) return [];
  const [field, other] =
    body.minReplicaMemoryGb === undefined
      ? ['maxReplicaMemoryGb', `the minimum last seen (${min})`]
      : ['minReplicaMemoryGb', `the maximum last seen (${max})`];
  return [{ field, problem: `does not fit ${other}: give both` }];
}

function scaleWarnings(body: JsonObject, before: Snapshot | null): readonly string[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas, idleScaling } = body;
  const oneBound = (min === undefined) !== (max === undefined) && before === null;
  const timeout = body.idleTimeoutMinutes !== undefined && idleScaling !== true;
  const warnings: readonly (readonly [boolean, string])[] = [
    [min !== undefined && min === max, 'Minimum and maximum are equal: this pins the size.'],
    [oneBound, 'The other bound is not known; the server refuses when the two do not fit.'],
    [numReplicas === 1, 'One replica: the first service of a warehouse needs two or more.'],
    [
      numReplicas !== undefined,
      'Some organizations may not set replicas; the server says so then.',
    ],
    [idleScaling === false, 'Without idling it runs, and costs, all the time.'],
    [idleScaling === true, 'When idle it stops, and the next query waits until it is up again.'],
    [timeout, 'A timeout counts only while scaling to zero is on.'],
    [before === null, 'Nothing was seen of it yet: what it is now is not known.'],
  ];
  return warnings.flatMap(([applies, words]) => (applies ? [words] : []));
}

const WORDS = {
  minReplicaMemoryGb: 'min',
  maxReplicaMemoryGb: 'max',
  numReplicas: 'replicas',
  idleScaling: 'idle',
  idleTimeoutMinutes: 'idle-timeout',
} as const;

/** Only what this change touched goes back, and only where all of it was seen before. */
function undoLine(id: string, before: Snapshot | null, body: JsonObject) {
  const touched = Object.entries(WORDS).filter(([field]) => body[field] !== undefined);
  const words = touched.map(([field, word]) => {
    const value = before?.fields[field];
    if (value === undefined || value === null) return null;
    return `${word}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)}`;
  });
  if (words.length === 0 || words.includes(null)) return null;
  return { label: 'Scale it back', line: ['service scale', id, ...words].join(' ') };
}
