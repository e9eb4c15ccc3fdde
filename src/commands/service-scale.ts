import { z } from 'zod';
import type { Json, JsonObject } from '../base/text.ts';
import type { Snapshot } from '../domain/change.ts';
import type { NoEffect } from '../domain/targets.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { SIZING_LABELS } from '../servers/accepted-values.ts';
import { organizationProblems, ReplicaScaling } from '../servers/cloud-schema.ts';
import { bodyOf, sentService, wireProblems } from '../servers/sent.ts';
import { fieldsOf, ServiceName } from './arguments.ts';
import { type ChangeCommand, changeCommand } from './define.ts';
import { compareService, compareSizes, observeService, restoreSize } from './service-observe.ts';
import { settledAsRequested, UNFOLLOWED } from './settled.ts';
import { ceilingProblems, SIZING, sizingApplies } from './sizing.ts';

export const serviceScale: ChangeCommand = changeCommand({
  name: 'service scale',
  title: 'Scale a service',
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
  observe: ({ service }, context) => observeService(service, context, { schedule: true }),
  compareBeforeSending: (plan, context) => compareService(plan, context, compareSizes),
  noEffect: ({ service, ...sizes }, before) => sameSize(service, before, bodyOf(sizes)),
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
  warnings: ({ service: _, ...sizes }, before) => [
    ...scheduleWarning(before),
    ...scaleWarnings(bodyOf(sizes), before),
    ...undoWarning(before, bodyOf(sizes)),
  ],
  send: async ({ id, name }, body, { cloud }) =>
    sentService(id, name, await cloud.updateReplicaScaling(id, ReplicaScaling.parse(body)), body),
  settled: settledAsRequested(SIZING_LABELS),
  undo: ({ id }, before, body) => undoLine(id, before, body),
  noUndo: whyNoUndo,
  outcome: { done: 'scaled', accepted: 'is scaling', reached: 'is scaled' },
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
  const known = (bound: string) => (before?.wasRead ? `current ${bound}` : `${bound} last seen`);
  const [field, other] =
    body.minReplicaMemoryGb === undefined
      ? ['maxReplicaMemoryGb', `the ${known('minimum')} (${min})`]
      : ['minReplicaMemoryGb', `the ${known('maximum')} (${max})`];
  return [{ field, problem: `does not fit ${other}: set both` }];
}

function scaleWarnings(body: JsonObject, before: Snapshot | null): readonly string[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, numReplicas, idleScaling } = body;
  const oneBound = (min === undefined) !== (max === undefined) && before === null;
  const isIdling = idleScaling ?? (before?.wasRead ? before.fields.idleScaling : undefined);
  const timeout = body.idleTimeoutMinutes !== undefined && isIdling !== true;
  const isPrimary = before?.wasRead ? before.fields.isPrimary : undefined;
  const warnings: readonly (readonly [boolean, string])[] = [
    [min !== undefined && min === max, 'Minimum and maximum are equal: the size is fixed.'],
    [oneBound, 'The other bound is unknown; the server rejects the change if the two do not fit.'],
    [numReplicas === 1 && isPrimary !== false, oneReplicaText(isPrimary)],
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

function oneReplicaText(isPrimary: Json | undefined): string {
  return isPrimary === true
    ? 'One replica: this is the first service of its warehouse, which needs at least two.'
    : 'One replica: the first service of a warehouse needs at least two.';
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

/** Reverts only the changed fields; null unless every previous value is known. */
function undoLine(id: string, before: Snapshot | null, body: JsonObject) {
  const restored = restoreSize(before, body);
  if (!restored.ok) return null;
  return {
    label: 'Restore the previous size',
    line: ['service scale', id, ...restored.words].join(' '),
  };
}

/** Null without a read: then the previous values are seldom known, and no reason is. */
function whyNoUndo(before: Snapshot | null, body: JsonObject): string | null {
  const restored = before?.wasRead ? restoreSize(before, body) : null;
  return restored && !restored.ok ? restored.why : null;
}

function undoWarning(before: Snapshot | null, body: JsonObject): readonly string[] {
  const why = whyNoUndo(before, body);
  return why === null ? [] : [`Signalbox cannot undo this: ${why}.`];
}

/** While an entry of the schedule is active, the requested values do not apply. */
function scheduleWarning(before: Snapshot | null): readonly string[] {
  const { scheduleEntry, scheduleUntil } = before?.volatileFields ?? {};
  if (typeof scheduleEntry !== 'string') return [];
  const hour = typeof scheduleUntil === 'number' ? scheduleUntil % 24 : null;
  const until = hour === null ? '' : ` until ${String(hour).padStart(2, '0')}:00 UTC`;
  const entry = `The scaling schedule entry “${scheduleEntry}” applies${until}`;
  return [`${entry}: your values become the baseline and apply after it.`];
}

/** All requested values are those of the service already. */
function sameSize(
  { id, name }: Service,
  before: Snapshot | null,
  body: JsonObject,
): NoEffect | null {
  const fields = Object.entries(body);
  const isSame = fields.every(([field, value]) => before?.fields[field] === value);
  if (!before?.wasRead || !isSame) return null;
  const labels = new Map(fieldsOf(serviceScale.args).map((field) => [field.name, field.label]));
  const values = fields.map(
    ([field, value]) => `${labels.get(field) ?? field} ${settingText(value)}`,
  );
  const schedule = scheduleWarning(before).map((text) => ` ${text}`);
  return {
    sentence: `${name} already has these values (checked just now), so nothing was requested: ${values.join(', ')}.${schedule.join('')}`,
    offers: [{ label: 'Show it', line: `service show ${id}` }],
  };
}

function settingText(value: Json): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}
