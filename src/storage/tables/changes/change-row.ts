import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type BrokenGlass,
  type Change,
  type ChangeId,
  type ChannelId,
  type Ending,
  type FrozenBy,
  type Plan,
  type Position,
  type Rejection,
  type Requirement,
  type Resolution,
  type Review,
  type Target,
  targetKey,
  type UserId,
  type Verdict,
} from '../../../changes/change.ts';
import { canonical } from '../../../changes/plan-digest.ts';
import { Any, decode, JsonFields, StoredInstant, toDate, toText } from '../../engine/portable.ts';
import type { ChangeTable } from '../schema.ts';

// The mapped type makes a kind that is new in the domain fail to compile here.
const KINDS = {
  service: 'service',
  alert: 'alert',
  'new service': 'new service',
  freeze: 'freeze',
} as const;
const Kind = z.enum(KINDS satisfies { [K in Target['kind']]: K });
const Id = z.custom<ChangeId>((value) => typeof value === 'string');
const User = z.custom<UserId>((value) => typeof value === 'string');

const StoredPlan: z.ZodType<Plan> = z.strictObject({
  target: z.strictObject({
    kind: Kind,
    id: z.string(),
    name: z.string(),
    tags: z.array(z.string()).nullable(),
    warehouse: z.string().nullable(),
  }),
  args: JsonFields,
  sends: z.string(),
  body: JsonFields,
  before: z
    .strictObject({
      fields: JsonFields,
      beside: JsonFields.optional(),
      seenAt: StoredInstant,
      source: z.string(),
    })
    .nullable(),
  rows: z.array(z.strictObject({ field: z.string(), label: z.string(), before: Any, after: Any })),
  keptAsIs: z.array(z.string()),
  warnings: z.array(z.string()),
  cost: z
    .strictObject({
      text: z.string(),
      perDay: z.number().nullable(),
      share: z.number().nullable(),
    })
    .optional(),
  timing: z
    .strictObject({
      startAt: z.string().nullable(),
      back: z.strictObject({ afterMs: z.number(), label: z.string(), line: z.string() }).nullable(),
    })
    .optional(),
});

const StoredRequirement: z.ZodType<Requirement> = z.strictObject({
  rule: z.int(),
  to: z.string(),
  from: z.string().nullable(),
  count: z.int(),
  self: z.boolean(),
  reason: z.boolean(),
  expiresAfterMs: z.number(),
  channel: z.string().nullable(),
  // What was stored before there were these says nothing of them.
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

const StoredFreeze: z.ZodType<FrozenBy> = z.strictObject({
  until: StoredInstant,
  reason: z.string(),
  by: z.string().nullable(),
  made: z.strictObject({ id: Id, by: User }).optional(),
});

const StoredGlass: z.ZodType<BrokenGlass> = StoredRejection;

const StoredReview: z.ZodType<Review> = z.strictObject({
  by: User,
  at: StoredInstant,
  note: z.string(),
});

const answer = { at: StoredInstant, tookMs: z.number(), requestId: z.string().nullable() };
const StoredEnding: z.ZodType<Ending> = z.discriminatedUnion('how', [
  z.strictObject({ how: z.literal('succeeded'), ...answer, reported: z.array(z.string()) }),
  z.strictObject({
    how: z.enum(['failed', 'unknown']),
    ...answer,
    status: z.number().nullable(),
    text: z.string(),
  }),
]);

/** Every column but those of the card, which moves without the change moving. */
export type ChangeRow = Omit<ChangeTable, 'card_channel' | 'card_ts' | 'card_version'>;

export function changeRow(change: Change): ChangeRow {
  const { plan, requires } = change;
  return {
    id: change.id,
    command: change.command,
    call_class: callClass(plan),
    target_key: targetKey(plan.target),
    plan: JSON.stringify(plan),
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
    back_at: toText(change.backAt),
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
    stopped: change.stopped,
    frozen_by: change.frozenBy ? JSON.stringify(change.frozenBy) : null,
    ending: change.ending && JSON.stringify(change.ending),
    resolution: change.resolution && JSON.stringify(change.resolution),
    broken_glass: change.brokenGlass && JSON.stringify(change.brokenGlass),
    review: change.review && JSON.stringify(change.review),
    ended_at: toText((change.resolution ?? change.ending)?.at ?? null),
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
    stopped: row.stopped,
    ...(row.frozen_by && { frozenBy: decode(StoredFreeze, row.frozen_by, name) }),
    ending: read(StoredEnding, row.ending),
    resolution: read(StoredResolution, row.resolution),
    brokenGlass: read(StoredGlass, row.broken_glass),
    review: read(StoredReview, row.review),
    createdAt: toDate(row.created_at),
    confirmedAt: toDate(row.confirmed_at),
    expiresAt: toDate(row.expires_at),
    notBefore: toDate(row.not_before),
    backAt: toDate(row.back_at),
    parent: row.parent,
    lease: leaseFrom(row.lease_owner, toDate(row.lease_until)),
    origin: row.origin,
    card: cardFrom(row.card_channel, row.card_ts),
  };
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
  if (!method.success) throw new Error(`A plan must say how it is sent, and this says: ${sends}`);
  return CALL_CLASSES[method.data];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
