import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { typedSpan } from '../base/moments.ts';
import type { JsonObject } from '../base/text.ts';
import { dayOf, daysBetween, HOUR_MS, MINUTE_MS, spanMs } from '../base/time.ts';
import { utcStamp } from '../domain/answer.ts';
import type { Plan, Snapshot } from '../domain/change.ts';
import { memoryText, replicasText, type Service, serviceTarget } from '../domain/targets.ts';
import { startsAt } from '../domain/timing.ts';
import { BYOC_MEMORY_GB, SIZING_LABELS } from '../servers/accepted-values.ts';
import {
  IdleTimeout,
  MemoryGb,
  organizationProblems,
  ReplicaScaling,
  Replicas,
  Switch,
} from '../servers/cloud-schema.ts';
import { settingText } from '../servers/facts.ts';
import { bodyOf, sentService, wireProblems } from '../servers/sent.ts';
import {
  commandLine,
  type FieldContext,
  fieldsOf,
  numberChoiceField,
  numberField,
  ServiceName,
  switchField,
  type TypedValues,
} from './arguments.ts';
import {
  type ChangeCommand,
  changeCommand,
  fieldContext,
  organizationFacts,
  type Phrase,
  type PhraseState,
  type Reading,
} from './define.ts';
import { type Compare, compareService, observeService } from './service-observe.ts';
import { SETTLED_AS_REQUESTED, sizingLabel, UNFOLLOWED } from './settled.ts';

const STEP_GB = 4;
const LEAST_GB = 8;
const CEILING_GB = { paid: 356, free: 120 } as const;

/** The replica sizes in GB that can be requested with the plan or the BYOC region. */
function memorySizes({ plan, given }: FieldContext): readonly number[] {
  if (given.byocId) return BYOC_MEMORY_GB.filter((size) => size <= CEILING_GB[plan]);
  const count = (CEILING_GB[plan] - LEAST_GB) / STEP_GB + 1;
  return Array.from({ length: count }, (_, index) => LEAST_GB + index * STEP_GB);
}

const GIGABYTES = /^(g|gb|gi|gib|gigs?|gigabytes?)$/i;

/** `30m`, `30 minutes`, `1 hour` → minutes. */
function minutesText(typed: string): string | null {
  const span = typedSpan(typed);
  return span === null ? null : String(spanMs(span) / MINUTE_MS);
}

/** The size fields of a service, for create and scale. */
export const SIZING = {
  minReplicaMemoryGb: numberChoiceField(MemoryGb, memorySizes, {
    word: 'min',
    synonyms: ['minimum', 'min memory', 'minimum memory', 'min size', 'minimum size'],
    unit: GIGABYTES,
    label: SIZING_LABELS.minReplicaMemoryGb,
  }),
  maxReplicaMemoryGb: numberChoiceField(MemoryGb, memorySizes, {
    word: 'max',
    synonyms: ['maximum', 'max memory', 'maximum memory', 'max size', 'maximum size'],
    unit: GIGABYTES,
    label: SIZING_LABELS.maxReplicaMemoryGb,
  }),
  numReplicas: numberField(Replicas, {
    word: 'replicas',
    synonyms: ['nodes', 'copies'],
    unit: /^(x|replicas?|nodes?)$/i,
    label: SIZING_LABELS.numReplicas,
    min: 1,
    max: 20,
  }),
  idleScaling: switchField(Switch, {
    word: 'idle',
    synonyms: ['idling', 'scale to zero', 'idle scaling'],
    label: SIZING_LABELS.idleScaling,
    redraws: true,
  }),
  idleTimeoutMinutes: numberField(IdleTimeout, {
    word: 'idle-timeout',
    synonyms: ['timeout', 'idle after', 'idles after'],
    reads: minutesText,
    label: SIZING_LABELS.idleTimeoutMinutes,
    hint: 'Only with scaling to zero; at least 5 minutes without a query',
    min: 5,
  }),
};

export const serviceScale: ChangeCommand = changeCommand({
  name: 'service scale',
  program: 'request',
  title: 'Scale a service',
  summary: 'Change the memory, replicas or idling of a service',
  examples: [
    'service scale analytics-prod min=16 max=64',
    'service scale staging idle=on idle-timeout=15 "night saving"',
  ],
  permission: 'service:manage-scaling-config',
  args: z.strictObject({ service: ServiceName, ...SIZING }),
  hasField: sizingApplies,
  phrase: sizePhrase,
  call: 'PATCH replicaScaling',
  timed: 'start and revert',
  effect: 'scale',

  target: ({ service }) => serviceTarget(service),
  observe: ({ service }, context) => observeService(service, context, { schedule: true }),
  prefill: sizesSeen,
  compareBeforeSending: (plan, context) => compareService(plan, context, compareSizes),
  noEffect: ({ service, ...sizes }, before) => sameSize(service, before, bodyOf(sizes)),
  desired: ({ service: _, ...sizes }) => bodyOf(sizes),
  problems: ({ service, ...sizes }, before, context) => {
    const organization = organizationFacts(context, service);
    const body = bodyOf(sizes);
    if (Object.keys(body).length === 0) return [NOTHING];
    return [
      ...wireProblems(ReplicaScaling, body),
      ...organizationProblems(sizes, organization),
      ...ceilingProblems(sizes, organization),
      ...boundProblems(body, before),
      ...(before?.wasRead ? horizontalProblems(body, before) : []),
    ];
  },
  warnings: ({ service: _, ...sizes }, before) => {
    const why = whyNoUndo(before, bodyOf(sizes));
    return [
      ...scheduleWarning(before),
      ...scaleWarnings(bodyOf(sizes), before),
      ...(why === null ? [] : [`Signalbox cannot undo this: ${why}.`]),
    ];
  },
  timeWarnings: laterEntries,
  send: async ({ id, name }, body, { cloud }) =>
    sentService(id, name, await cloud.updateReplicaScaling(id, ReplicaScaling.parse(body)), body),
  activities: [
    ...['service_update_autoscaling_memory', 'service_update_autoscaling_replicas'],
    ...['service_update_autoscaling_idling', 'service_update_max_allowable_replicas'],
  ],
  settled: SETTLED_AS_REQUESTED,
  undo: ({ id }, before, body) => undoLine(id, before, body),
  noUndo: whyNoUndo,
  outcome: { done: 'scaled', accepted: 'is scaling', reached: 'is scaled' },
  endingNote:
    'New replicas start before old ones stop: for up to an hour both can run and cost credits.',
  unfollowedNote: UNFOLLOWED,
});

const RANGE =
  /^(?:(from) |between )?(\d{1,4}) ?(?:gi?b?|gigs?|gigabytes?)? ?(?:-|\.\.|to|until|(?<=^between .+)and) ?(\d{1,4}) ?(?:gi?b?|gigs?|gigabytes?)?$/i;
const ONE_SIZE =
  /^(?:(?:up|down|memory|ram|size|raise|lower|increase|decrease|reduce|bump) )*(?:(?:to|of|=) )?(\d{1,4}) ?(?:gi?b?|gigs?|gigabytes?)?$/i;
const OTHER_UNIT = /^(?:to )?\d+ ?(?:v?cores?|v?cpus?|tb|tib|terabytes?)$/i;

/** `16-64`, `64gb`, `to 64`, `3`: sizes without a key. */
export function sizePhrase(
  words: readonly string[],
  { given, vocabulary }: PhraseState,
): Phrase | null {
  const texts = [5, 4, 3, 2, 1].filter((count) => count <= words.length);
  const hasReplicas = given.numReplicas !== undefined;
  for (const taken of texts) {
    const text = words.slice(0, taken).join(' ');
    if (OTHER_UNIT.test(text)) {
      const why = `“${text}” is no size of a service: its memory is set in GB, with max=64 for example. It has no key for cores.`;
      return { taken, choice: { why, readings: [] } };
    }
    const [, exact, times] = /^(?:[x×](\d{1,2})|(\d{1,2}) ?[x×])$/i.exec(text) ?? [];
    if (exact !== undefined) return { taken, given: { numReplicas: exact } };
    const next = words[taken] ?? '';
    if (times !== undefined && Object.keys(given).length < 2 && !/^(memory|ram)/i.test(next)) {
      const readings = [{ label: `replicas=${times}`, given: { numReplicas: times } }];
      const why = `“${text}” can mean replicas=${times}. Write the memory as max=64, for example.`;
      return { taken, choice: { why, readings } };
    }
    if (given.minReplicaMemoryGb !== undefined || given.maxReplicaMemoryGb !== undefined) continue;
    const [, from, low, high] = RANGE.exec(text) ?? [];
    if (low !== undefined && high !== undefined) {
      const both = { minReplicaMemoryGb: low, maxReplicaMemoryGb: high };
      if (from === undefined) return { taken, given: both };
      const why = `“${text}” can be the maximum, or both bounds.`;
      return { taken, choice: { why, readings: sizeReadings(high, low, hasReplicas) } };
    }
    const [, size] = ONE_SIZE.exec(text) ?? [];
    if (size === undefined || NO_SIZE_BEFORE.test(next)) continue;
    const hasUnit = /[a-z]$/i.test(text);
    const readings = sizeReadings(size, size, hasUnit || hasReplicas).filter((reading) =>
      isValidSize(reading.given, vocabulary),
    );
    // With its unit it is the memory: what is wrong with it is said by that key.
    if (readings.length === 0 && hasUnit) return { taken, given: { maxReplicaMemoryGb: size } };
    const keys = readings.map(({ label }) => label).join(', ');
    const can = keys === '' ? 'is no valid size of this service' : `can mean ${keys}`;
    return { taken, choice: { why: `“${text}” ${can}.`, readings } };
  }
  return null;
}

const NO_SIZE_BEFORE = /^(replicas?|nodes?|min|minutes?|max|%|more|fewer|less|extra|[x×]$)/i;

/** The keys that a number without a key can mean. */
function sizeReadings(max: string, min: string, isMemory: boolean): readonly Reading[] {
  const all = [
    { label: `max=${max}`, given: { maxReplicaMemoryGb: max } },
    { label: `min=${min} max=${max}`, given: { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } },
    { label: `replicas=${max}`, given: { numReplicas: max } },
  ];
  return isMemory ? all.slice(0, 2) : all;
}

function isValidSize(given: TypedValues, vocabulary: PhraseState['vocabulary']): boolean {
  const sizes = memorySizes(fieldContext(vocabulary, given)).map(String);
  return Object.entries(given).every(([name, value]) =>
    name === 'numReplicas' ? Number(value) >= 1 && Number(value) <= 20 : sizes.includes(value),
  );
}

/** An idle timeout applies only if the service may scale to zero. */
export function sizingApplies(field: string, { given }: FieldContext): boolean {
  return field !== 'idleTimeoutMinutes' || given.idleScaling !== 'off';
}

/** The sizes as they were seen last; of servers that return the total only, none is exact. */
function sizesSeen({ fields }: Snapshot): TypedValues {
  const all = fields.approximate ? [] : Object.keys(SIZING);
  const names = all.filter((name) => isKnown(fields, name));
  return Object.fromEntries(names.map((name) => [name, settingText(fields[name])]));
}

const isKnown = (fields: JsonObject, name: string) => (fields[name] ?? null) !== null;

const MEMORY = {
  label: 'Memory per replica',
  fields: ['minReplicaMemoryGb', 'maxReplicaMemoryGb'],
  text: memoryText,
};
const REPLICAS = {
  label: 'Replicas',
  fields: ['numReplicas', 'minReplicas', 'maxReplicas'],
  text: replicasText,
};
const MODE = {
  label: 'Scaling of replicas',
  fields: ['autoscalingMode'],
  text: ({ autoscalingMode }: JsonObject) => String(autoscalingMode ?? 'unknown'),
};
// Servers omit the timeout while a service does not scale to zero, so that it is never missing.
const IDLING = {
  label: 'Scale to zero when idle',
  fields: ['idleScaling', 'idleTimeoutMinutes'],
  text: ({ idleScaling, idleTimeoutMinutes: minutes }: JsonObject) =>
    idleScaling === true ? `after ${minutes ?? '?'} min` : 'off',
};

/**
 * The requested size differs from the previewed one in a part that the request overwrites: a single
 * bound also depends on the other one. What a schedule applies does not matter.
 */
const compareSizes: Compare = (before, now, body) => {
  const own = [MEMORY, REPLICAS, IDLING].filter(({ fields }) =>
    fields.some((field) => body[field] !== undefined),
  );
  const parts = own.some((part) => part !== IDLING) ? [...own, MODE] : own;
  const partsWith = (fits: (name: string) => boolean) =>
    parts.filter(({ fields }) => fields.some((name) => isKnown(before, name) && fits(name)));
  const differences = partsWith((name) => isKnown(now, name) && before[name] !== now[name]).map(
    ({ label, text }) => ({ label, was: text(before) ?? '?', is: text(now) ?? '?' }),
  );
  const missing = partsWith((name) => name !== 'idleTimeoutMinutes' && !isKnown(now, name));
  return { differences, missing: missing.map(({ label }) => label.toLowerCase()) };
};

/** All requested values are those of the service already. */
function sameSize({ id, name }: Service, before: Snapshot | null, body: JsonObject) {
  const fields = Object.entries(body);
  const isSame = fields.every(([field, value]) => before?.fields[field] === value);
  if (!before?.wasRead || !isSame) return null;
  const values = fields.map(([field, value]) => `${sizingLabel(field)} ${settingText(value)}`);
  const schedule = scheduleWarning(before).map((text) => ` ${text}`);
  return {
    sentence: `${name} already has these values (checked just now), so nothing was requested: ${values.join(', ')}.${schedule.join('')}`,
    offers: [{ label: 'Show it', line: `service show ${id}` }],
  };
}

const NOTHING = {
  field: 'minReplicaMemoryGb',
  problem: 'is missing: set at least one field to change',
};

/** The plan limits the maximum memory, so also the minimum. */
export function ceilingProblems(
  { minReplicaMemoryGb: min }: { readonly minReplicaMemoryGb?: number | undefined },
  { plan }: Pick<FieldContext, 'plan'>,
): readonly FieldProblem[] {
  const ceiling = CEILING_GB[plan];
  if (min === undefined || min <= ceiling) return [];
  const problem = `must be at most ${ceiling} for an organization on the free plan`;
  return [{ field: 'minReplicaMemoryGb', problem }];
}

/** A single bound is compared with the last seen value of the other bound. */
function boundProblems(body: JsonObject, before: Snapshot | null) {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = { ...before?.fields, ...body };
  const both = body.minReplicaMemoryGb !== undefined && body.maxReplicaMemoryGb !== undefined;
  if (both || typeof min !== 'number' || typeof max !== 'number' || min <= max) return [];
  const isMax = body.minReplicaMemoryGb === undefined;
  const [bound, value] = isMax ? ['minimum', min] : ['maximum', max];
  const other = before?.wasRead ? `current ${bound}` : `${bound} last seen`;
  const field = isMax ? 'maxReplicaMemoryGb' : 'minReplicaMemoryGb';
  return [{ field, problem: `does not fit the ${other} (${value}): set both` }];
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

type Begins = readonly { name: string; weekdays: readonly number[]; hour: number }[];

/** The entries of the schedule that begin before the revert, each with its first begin. There, 0 is Sunday. */
function laterEntries(plan: Plan, now: Date): readonly string[] {
  const from = startsAt(plan, now);
  const until = new Date(from.getTime() + (plan.timing?.revert?.afterMs ?? 0));
  const entries = (plan.before?.volatileFields?.scheduleBegins ?? []) as Begins;
  const days = daysBetween(dayOf(from), dayOf(until));
  return entries.flatMap(({ name, weekdays, hour }) => {
    const begins = days.map((day) => new Date(Date.parse(day) + hour * HOUR_MS));
    const first = begins.find((at) => weekdays.includes(at.getUTCDay()) && at > from && at < until);
    const entry = `The scaling schedule entry “${name}” begins before the revert`;
    return first ? [`${entry} (${utcStamp(first)}): your values do not apply in it.`] : [];
  });
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
    [
      numReplicas === 1 && isPrimary !== false,
      'One replica: no failover, and some servers reject it for the first service of a warehouse.',
    ],
    [
      numReplicas !== undefined,
      'Some organizations cannot set replicas; the server then rejects the change.',
    ],
    [idleScaling === false, 'Without idling, the service runs and costs credits all the time.'],
    [idleScaling === true, 'An idle service stops; the next query waits until it has started.'],
    [timeout, 'The idle timeout applies only if scaling to zero is on.'],
    ...(before?.wasRead ? [] : horizontalProblems(body, before)).map(
      ({ field, problem }) => [true, `${sizingLabel(field)} ${problem}.`] as const,
    ),
    [before === null, 'Current size: unknown (Signalbox has not seen this service yet).'],
  ];
  return warnings.flatMap(([applies, words]) => (applies ? [words] : []));
}

const SCALES = 'this service scales its number of replicas';

/** What the server rejects while it scales the number of replicas, each of one size. */
function horizontalProblems(body: JsonObject, before: Snapshot | null): readonly FieldProblem[] {
  if (before?.fields.autoscalingMode !== 'horizontal') return [];
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = { ...before.fields, ...body };
  const bounds = ['minReplicaMemoryGb', 'maxReplicaMemoryGb'] as const;
  const field = bounds.find((name) => body[name] !== undefined);
  const replicas = { field: 'numReplicas', problem: `cannot be set: ${SCALES}` };
  return [
    ...(body.numReplicas === undefined ? [] : [replicas]),
    ...(field && min !== max
      ? [{ field, problem: `needs an equal minimum and maximum: ${SCALES}` }]
      : []),
  ];
}

/** Restores the fields that the change sends, and that the contract can send again; null if one is unknown. */
function undoLine(id: string, before: Snapshot | null, body: JsonObject) {
  const { fields, missing } = fieldsToRestore(before, body);
  if (fields.length === 0 || missing.length > 0) return null;
  const previous = fields.map(({ name }) => [name, settingText(before?.fields[name])] as const);
  const line = commandLine(serviceScale, { service: id, ...Object.fromEntries(previous) }, '');
  return { label: 'Restore the previous size', line };
}

/** Null without a read: then the previous values are seldom known, and no reason is. */
function whyNoUndo(before: Snapshot | null, body: JsonObject): string | null {
  const { fields, missing } = fieldsToRestore(before, body);
  if (!before?.wasRead || (fields.length > 0 && missing.length === 0)) return null;
  const { autoscalingMode, approximate } = before.fields;
  if (missing.some(({ word }) => word === 'replicas') && autoscalingMode === 'horizontal') {
    return 'the number of replicas varied before, and this API cannot request a range of replicas';
  }
  if (missing.some(({ name }) => name.endsWith('MemoryGb')) && approximate !== undefined) {
    return 'the server returns total memory only, so the exact memory per replica is not known';
  }
  return `the server did not return the previous value of ${missing.map(({ word }) => word).join(', ')}`;
}

/** A service that did not scale to zero had no idle timeout to restore. */
function fieldsToRestore(before: Snapshot | null, body: JsonObject) {
  const { idleScaling, idleTimeoutMinutes } = before?.fields ?? {};
  // A server forgets the timeout when scaling to zero is switched off.
  const losesTimeout =
    before?.wasRead && body.idleScaling === false && typeof idleTimeoutMinutes === 'number';
  const wasOff = idleScaling === false && body.idleScaling !== undefined;
  const fields = fieldsOf(serviceScale.args).filter(({ name }) => {
    const isSent = body[name] !== undefined;
    return name === 'idleTimeoutMinutes' ? !wasOff && (isSent || losesTimeout) : isSent;
  });
  return { fields, missing: fields.filter(({ name }) => (before?.fields[name] ?? null) === null) };
}
