// What happens to a change, as the log stores it. Dates are ISO text in the log and `Date` here.

import { z } from 'zod';
import type { Json, JsonObject } from '../base/text.ts';
import type { ChangeId, ChannelId, Plan, Requirement, UserId } from './change.ts';
import { TARGET_KINDS } from './change.ts';

export const Id = z.string().min(1);
export const Fields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const AnyJson = z.custom<Json>((value) => value !== undefined);
export const User = z.custom<UserId>((value) => typeof value === 'string' && value !== '');
export const ChangeKey = z.custom<ChangeId>((value) => typeof value === 'string' && value !== '');
const Channel = z.custom<ChannelId>((value) => typeof value === 'string' && value !== '');
/** A date, or its ISO text. */
export const At = z.preprocess(
  (value) => (typeof value === 'string' ? new Date(value) : value),
  z.date(),
);
export const PostedAt = { channel: Channel, ts: Id };
/** A mark of a lost history that people may still see, and that the event answers. */
export const AnsweredMark = z.object({ stream: Id, version: z.int().positive(), hash: Id });

const Snapshot = z.object({
  fields: Fields,
  volatileFields: Fields.optional(),
  seenAt: At,
  source: z.string(),
  wasRead: z.literal(true).optional(),
});

const Timing = z.object({
  startAt: z.string().nullable(),
  revert: z
    .object({
      afterMs: z.number(),
      label: z.string(),
      line: z.string(),
      until: z.string().optional(),
    })
    .nullable(),
  schedule: ChangeKey.optional(),
});

const StoredPlan: z.ZodType<Plan> = z.object({
  target: z.object({
    kind: z.enum(TARGET_KINDS),
    id: z.string(),
    name: z.string(),
    tags: z.array(z.string()).nullable(),
    warehouse: z.string().nullable(),
    discovered: z.literal(true).optional(),
  }) as z.ZodType<Plan['target']>,
  args: Fields,
  sends: z.string(),
  body: Fields,
  before: Snapshot.nullable(),
  rows: z.array(
    z.object({ field: z.string(), label: z.string(), before: AnyJson, after: AnyJson }),
  ),
  unchangedFields: z.array(z.string()),
  warnings: z.array(z.string()),
  gaps: z.array(z.string()).optional(),
  cost: z
    .object({
      text: z.string(),
      summary: z.object({ perDay: z.string(), withRange: z.string() }).optional(),
      perDay: z.number().nullable(),
      share: z.number().nullable(),
    })
    .optional(),
  timing: Timing.optional(),
});

const StoredRequirement: z.ZodType<Requirement> = z.object({
  rule: z.int(),
  to: z.string(),
  from: z.string().nullable(),
  count: z.int().nonnegative(),
  self: z.boolean(),
  reason: z.boolean(),
  expiresAfterMs: z.number(),
  channel: z.string().nullable(),
  escalation: z.object({ to: z.string(), afterMs: z.number() }).nullable(),
  breakGlass: z.string().nullable(),
});

const Verdict = z.object({ by: User, at: At });
const Frozen = z.object({
  until: At,
  reason: z.string(),
  by: z.string().nullable(),
  made: z.object({ id: ChangeKey, by: User.nullable() }).optional(),
});
const Difference = z.object({ label: z.string(), was: z.string(), is: z.string() });
const ChangedBy = z.object({ id: ChangeKey, by: User, at: At });
const StateCheck = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('differs'),
    differences: z.array(Difference).readonly(),
    changedBy: ChangedBy.nullable(),
  }),
  z.object({ kind: z.literal('unverified'), why: z.string() }),
]);
const Evidence = z.object({
  shown: z.string(),
  shownAt: At,
  before: z.string(),
  beforeAt: At,
});
const Call = { answeredAt: At, tookMs: z.number(), requestId: z.string().nullable() };
const Unanswered = { ...Call, status: z.number().nullable(), text: z.string() };

/** What may stand on every event: the press that was decided, the lookups behind it, the configuration. */
const Recorded = {
  press: Id.optional(),
  evidence: Fields.optional(),
  configuration: Id.optional(),
};
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape, ...Recorded });

const By = { by: User };
const Stopped = { why: z.string(), frozenBy: Frozen.optional(), stateCheck: StateCheck.optional() };

export const ChangeEvent = z.discriminatedUnion('type', [
  event('drafted', {
    organization: z.string(),
    requester: User,
    command: Id,
    reason: z.string().nullable(),
    plan: StoredPlan,
    digest: Id,
    requires: StoredRequirement,
    origin: Channel.nullable(),
    expiresAt: At,
    notBefore: At.nullable(),
    /** The change that it reverts. */
    parent: ChangeKey.nullable(),
    /** What it inherits from the change with which it was approved; null: nothing. */
    inherits: z
      .object({
        confirmedAt: At.nullable(),
        approvals: z.array(Verdict).readonly(),
        breakGlass: Verdict.extend({ reason: z.string() }).nullable(),
      })
      .nullable(),
  }),
  event('confirmed', By),
  event('card-posted', PostedAt),
  /** The card was deleted before anybody had approved: it is posted again. */
  event('card-lost', {}),
  /** A copy of the card in the direct messages of a user. */
  event('copy-posted', { to: User, ...PostedAt }),
  event('approved', { ...By, digest: Id }),
  event('rejected', { ...By, reason: z.string() }),
  event('cancelled', By),
  event('break-glass', { ...By, reason: z.string() }),
  event('reviewed', { ...By, note: z.string() }),
  event('snoozed', { ...By, until: At }),
  event('claimed', {
    by: Id,
    nonce: Id,
    attempt: z.int().positive(),
    until: At,
    stateCheck: StateCheck.optional(),
  }),
  event('not-sent', { nonce: Id, why: z.string(), notBefore: At }),
  event('succeeded', {
    nonce: Id,
    ...Call,
    reported: z.array(z.string()).readonly(),
    createdId: z.string().optional(),
  }),
  event('failed', { nonce: Id, ...Unanswered }),
  event('unknown', { nonce: Id, ...Unanswered }),
  event('resolved', {
    by: z.custom<UserId | 'signalbox'>((value) => typeof value === 'string' && value !== ''),
    as: z.enum(['succeeded', 'failed']),
    note: z.string(),
    reading: Evidence.optional(),
  }),
  event('expired', {}),
  event('denied', Stopped),
  event('stale', { ...Stopped, foreign: z.array(AnsweredMark).readonly().optional() }),
  /** The log lost events of the change, whose marks people may have seen. */
  event('restored', { why: z.string(), foreign: z.array(AnsweredMark).readonly() }),
  event('revert-planned', { child: ChangeKey }),
  /** Signalbox does not revert it: only a person can. */
  event('revert-kept', { why: Id }),
  /** Its password was opened to be shown (null), was shown, or Slack did not confirm that. */
  event('revealed', { ...By, shown: z.boolean().nullable() }),
]);
export type ChangeEvent = z.infer<typeof ChangeEvent>;
