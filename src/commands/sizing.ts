import type { FieldProblem } from '../base/errors.ts';
import { grouped, type Json, type JsonObject } from '../base/text.ts';
import {
  ACCEPTED_VALUES,
  type Accepted,
  type AcceptedField,
  BYOC_MEMORY_GB,
  SIZING_LABELS,
} from '../servers/accepted-values.ts';
import { IdleTimeout, MemoryGb, Replicas, Switch } from '../servers/cloud-schema.ts';
import { type FieldContext, numberChoiceField, numberField, switchField } from './arguments.ts';

const LISTED_MAX = 10;
const SHOWN_MAX = 60;

/**
 * Warnings about the values of a request body that live servers reject, or that only they accept.
 * Source: docs/accepted-values.md#create-service
 */
export function acceptanceWarnings(
  operation: keyof typeof ACCEPTED_VALUES,
  body: JsonObject,
): readonly string[] {
  const rows: readonly AcceptedField[] = ACCEPTED_VALUES[operation];
  return rows.flatMap((row) => textsAt(body, row.field).flatMap((text) => warningOf(row, text)));
}

function warningOf({ label, contract, live }: AcceptedField, text: string): readonly string[] {
  const subject =
    text.length > SHOWN_MAX
      ? `${label} of ${grouped(text.length)} characters`
      : `${label} “${text}”`;
  if (!isAccepted(live, text)) {
    return [`Live servers reject the ${subject}${acceptedInstead(live)}.`];
  }
  if (isAccepted(contract, text)) return [];
  return [`The ${subject} is not in the contract of the API; live servers accept it.`];
}

export function isAccepted({ values, longest, pattern }: Accepted, text: string): boolean {
  return (
    (values === undefined || values.includes(text)) &&
    (longest === undefined || text.length <= longest) &&
    (pattern === undefined || pattern.test(text))
  );
}

function acceptedInstead({ values, longest }: Accepted): string {
  if (values !== undefined && values.length <= LISTED_MAX)
    return `; they accept ${values.join(', ')}`;
  return longest === undefined ? '' : `; they accept at most ${grouped(longest)}`;
}

/** The texts of a field; `endpoints.protocol` is the protocol of each item. */
function textsAt(body: JsonObject, field: string): readonly string[] {
  const [name = '', part] = field.split('.');
  const value = body[name] ?? null;
  const items: readonly Json[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => (part === undefined ? item : partOf(item, part)))
    .filter((text) => typeof text === 'string');
}

function partOf(item: Json, part: string): Json | undefined {
  const fields = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  return fields.find(([field]) => field === part)?.[1];
}

const STEP_GB = 4;
const LEAST_GB = 8;
const CEILING_GB = { paid: 356, free: 120 } as const;

/** The replica sizes in GB that can be requested with the plan or the BYOC region. */
function memorySizes({ plan, given }: FieldContext): readonly number[] {
  if (given.byocId) return BYOC_MEMORY_GB.filter((size) => size <= CEILING_GB[plan]);
  const count = (CEILING_GB[plan] - LEAST_GB) / STEP_GB + 1;
  return Array.from({ length: count }, (_, index) => LEAST_GB + index * STEP_GB);
}

/** The size fields of a service, for create and scale. */
export const SIZING = {
  minReplicaMemoryGb: numberChoiceField(MemoryGb, memorySizes, {
    word: 'min',
    label: SIZING_LABELS.minReplicaMemoryGb,
  }),
  maxReplicaMemoryGb: numberChoiceField(MemoryGb, memorySizes, {
    word: 'max',
    label: SIZING_LABELS.maxReplicaMemoryGb,
  }),
  numReplicas: numberField(Replicas, {
    word: 'replicas',
    label: SIZING_LABELS.numReplicas,
    min: 1,
    max: 20,
  }),
  idleScaling: switchField(Switch, {
    word: 'idle',
    label: SIZING_LABELS.idleScaling,
    redraws: true,
  }),
  idleTimeoutMinutes: numberField(IdleTimeout, {
    word: 'idle-timeout',
    label: SIZING_LABELS.idleTimeoutMinutes,
    hint: 'Only with scaling to zero; at least 5 minutes without a query',
    min: 5,
  }),
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

/** An idle timeout applies only if the service may scale to zero. */
export function sizingApplies(field: string, { given }: FieldContext): boolean {
  return (
    field !== 'idleTimeoutMinutes' || !['off', 'no', 'false'].includes(given.idleScaling ?? '')
  );
}
