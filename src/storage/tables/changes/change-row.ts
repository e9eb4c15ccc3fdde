import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type BlockingFreeze,
  type Change,
  type ChangeId,
  type ChannelId,
  type ExecutionOutcome,
  type Plan,
  type Position,
  type Rejection,
  type Requirement,
  type Resolution,
  type Review,
  type Snapshot,
  TARGET_KINDS,
  type Timing,
  targetKey,
  type UserId,
  type Verdict,
} from '../../../changes/change.ts';
import { canonical } from '../../../changes/plan-digest.ts';
import {
  AnyJson,
  decode,
  JsonFields,
  StoredInstant,
  toDate,
  toText,
} from '../../engine/portable.ts';
import type { ChangeTable } from '../schema.ts';

const Id = z.custom<ChangeId>((value) => typeof value === 'string');
const User = z.custom<UserId>((value) => typeof value === 'string');

// Three keys of a stored plan differ from the names in the code: `beside`, `keptAsIs`, `back`.
const StoredSnapshot = z
  .strictObject({
    fields: JsonFields,
    beside: JsonFields.optional(),
    seenAt: StoredInstant,
    source: z.string(),
  })
  .transform(({ beside, ...rest }): Snapshot => ({ ...rest, volatileFields: beside }));

const StoredRevert = z.strictObject({ afterMs: z.number(), label: z.string(), line: z.string() });
const StoredTiming = z
  .strictObject({ startAt: z.string().nullable(), back: StoredRevert.nullable() })
  .transform(({ startAt, back }): Timing => ({ startAt, revert: back }));

const StoredPlan = z
  .strictObject({
    target: z.strictObject({
      kind: z.enum(TARGET_KINDS),
      id: z.string(),
      name: z.string(),
      tags: z.array(z.string()).nullable(),
      warehouse: z.string().nullable(),
    }),
    args: JsonFields,
    sends: z.string(),
    body: JsonFields,
    before: StoredSnapshot.nullable(),
    rows: z.array(
      z.strictObject({ field: z.string(), label: z.string(), before: AnyJson, after: AnyJson }),
    ),
    keptAsIs: z.array(z.string()),
    warnings: z.array(z.string()),
    cost: z
      .strictObject({
        text: z.string(),
        perDay: z.number().nullable(),
        share: z.number().nullable(),
      })
      .optional(),
    timing: StoredTiming.optional(),
  })
  .transform(({ keptAsIs, ...rest }): Plan => ({ ...rest, unchangedFields: keptAsIs }));

function planText({ before, unchangedFields, timing, ...rest }: Plan): string {
  const { volatileFields, ...snapshot } = before ?? {};
  return JSON.stringify({
    ...rest,
    before: before && { ...snapshot, beside: volatileFields },
    keptAsIs: unchangedFields,
    timing: timing && { startAt: timing.startAt, back: timing.revert },
  });
}

const StoredRequirement: z.ZodType<Requirement> = z.strictObject({
  rule: z.int(),
  to: z.string(),
  from: z.string().nullable(),
  count: z.int(),
  self: z.boolean(),
  reason: z.boolean(),
  expiresAfterMs: z.number(),
  channel: z.string().nullable(),
  // Changes of earlier releases have no value for these.
  escalation: z.strictObject({ to: z.string(), afterMs: z.number() }).nullable().default(null),
  breakGlass: z.string().nullable().default(null),
});

const StoredRejection: z.ZodType<Rejection> = z.strictObject({
  by: User,
  at: StoredInstant,
  reason: z.string(),
});

const StoredResolution: z.ZodType<Resolution> = z.strictObject({
  by: User,
  at: StoredInstant,
  happened: z.boolean(),
  note: z.string(),
});

const StoredFreeze: z.ZodType<BlockingFreeze> = z.strictObject({
  until: StoredInstant,
  reason: z.string(),
  by: z.string().nullable(),
  made: z.strictObject({ id: Id, by: User }).optional(),
});

const StoredReview: z.ZodType<Review> = z.strictObject({
  by: User,
  at: StoredInstant,
  note: z.string(),
});

const call = { at: StoredInstant, tookMs: z.number(), requestId: z.string().nullable() };
const StoredEnding: z.ZodType<ExecutionOutcome> = z.discriminatedUnion('how', [
  z.strictObject({ how: z.literal('succeeded'), ...call, reported: z.array(z.string()) }),
  z.strictObject({
    how: z.enum(['failed', 'unknown']),
    ...call,
    status: z.number().nullable(),
    text: z.string(),
  }),
]);

/** All columns except those of the card, which is updated without a new version. */
export type ChangeRow = Omit<ChangeTable, 'card_channel' | 'card_ts' | 'card_version'>;

export function changeRow(change: Change): ChangeRow {
  const { plan, requires } = change;
  return {
    id: change.id,
    command: change.command,
    call_class: callClass(plan),
    target_key: targetKey(plan.target),
    plan: planText(plan),
    digest: change.digest,
    before_hash: plan.before && sha256(canonical(plan.before.fields)),
    requester: change.requester,
    reason: change.reason,
    requires: JSON.stringify(requires),
    policy_hash: sha256(canonical({ ...requires })),
    state: change.state,
    version: change.version,
    ...verdictColumns(change),
    created_at: toText(change.createdAt),
    confirmed_at: toText(change.confirmedAt),
    expires_at: toText(change.expiresAt),
    back_at: toText(change.revertAt),
    parent: change.parent,
    not_before: toText(change.notBefore),
    lease_owner: change.lease?.owner ?? null,
    lease_until: toText(change.lease?.until ?? null),
    origin: change.origin,
  };
}

function verdictColumns(change: Change) {
  return {
    rejection: change.rejection && JSON.stringify(change.rejection),
    cancelled_by: change.cancelledBy,
    stopped: reasonText(change.stopReason),
    frozen_by: change.frozenBy ? JSON.stringify(change.frozenBy) : null,
    ending: change.outcome && JSON.stringify(change.outcome),
    resolution: change.resolution && JSON.stringify(change.resolution),
    broken_glass: change.breakGlass && JSON.stringify(change.breakGlass),
    review: change.review && JSON.stringify(change.review),
    ended_at: toText((change.resolution ?? change.outcome)?.at ?? null),
  };
}

export function changeFrom(row: ChangeTable, approvals: readonly Verdict[]): Change {
  const name = `change ${row.id}`;
  const read = <T>(schema: z.ZodType<T>, text: string | null): T | null =>
    text === null ? null : decode(schema, text, name);
  return {
    id: row.id,
    command: row.command,
    requester: row.requester,
    reason: row.reason,
    plan: decode(StoredPlan, row.plan, name),
    digest: row.digest,
    requires: decode(StoredRequirement, row.requires, name),
    state: row.state,
    version: row.version,
    approvals,
    rejection: read(StoredRejection, row.rejection),
    cancelledBy: row.cancelled_by,
    stopReason: reasonFrom(row.stopped),
    ...(row.frozen_by && { frozenBy: decode(StoredFreeze, row.frozen_by, name) }),
    outcome: read(StoredEnding, row.ending),
    resolution: read(StoredResolution, row.resolution),
    breakGlass: read(StoredRejection, row.broken_glass),
    review: read(StoredReview, row.review),
    createdAt: toDate(row.created_at),
    confirmedAt: toDate(row.confirmed_at),
    expiresAt: toDate(row.expires_at),
    notBefore: toDate(row.not_before),
    revertAt: toDate(row.back_at),
    parent: row.parent,
    lease: leaseFrom(row.lease_owner, toDate(row.lease_until)),
    origin: row.origin,
    card: cardFrom(row.card_channel, row.card_ts),
  };
}

// Refusals that the column holds under the name of release 1.0.
const STORED_REASONS: Readonly<Record<string, string>> = {
  'audit-mismatch': 'not-told',
  'target-changed': 'target-moved',
};

function reasonText(reason: string | null): string | null {
  return reason && (STORED_REASONS[reason] ?? reason);
}

function reasonFrom(text: string | null): string | null {
  const renamed = Object.entries(STORED_REASONS).find(([, stored]) => stored === text);
  return renamed?.[0] ?? text;
}

function leaseFrom(owner: string | null, until: Date | null): Change['lease'] {
  return owner !== null && until ? { owner, until } : null;
}

function cardFrom(channel: ChannelId | null, ts: string | null): Position | null {
  return channel !== null && ts !== null ? { channel, ts } : null;
}

const CALL_CLASSES = { PATCH: 'patch', POST: 'post', PUT: 'put' } as const;

function callClass({ sends }: Plan): ChangeTable['call_class'] {
  const method = z.enum(['PATCH', 'POST', 'PUT']).safeParse(sends.split(' ')[0]);
  if (!method.success)
    throw new Error(`The plan must begin with PATCH, POST or PUT, not: ${sends}`);
  return CALL_CLASSES[method.data];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
