import { z } from 'zod';
import {
  type BlockingFreeze,
  type ChangeId,
  EVIDENCE_GAPS,
  type ExecutionOutcome,
  FOLLOW_UP_STATES,
  type FollowUp,
  type Plan,
  type Rejection,
  type Requirement,
  type Resolution,
  type Review,
  type Snapshot,
  type StateCheck,
  TARGET_KINDS,
  type Timing,
  type UserId,
} from '../../domain/change.ts';
import { AnyJson, JsonFields, StoredInstant } from '../../storage/old/portable.ts';

const Id = z.custom<ChangeId>((value) => typeof value === 'string');
const User = z.custom<UserId>((value) => typeof value === 'string');

// Three keys of a stored plan differ from the names in the code: `beside`, `keptAsIs`, `back`.
// Loose: keys that a newer release wrote are kept, and written back with the next version.
const StoredSnapshot = z
  .looseObject({
    fields: JsonFields,
    beside: JsonFields.optional(),
    seenAt: StoredInstant,
    source: z.string(),
    wasRead: z.literal(true).optional(),
  })
  .transform(({ beside, ...rest }): Snapshot => ({ ...rest, volatileFields: beside }));

const StoredRevert = z.looseObject({ afterMs: z.number(), label: z.string(), line: z.string() });
const StoredTiming = z
  .looseObject({
    startAt: z.string().nullable(),
    back: StoredRevert.nullable(),
    schedule: Id.optional(),
  })
  .transform(({ back, ...rest }): Timing => ({ ...rest, revert: back }));

export const StoredPlan = z
  .looseObject({
    target: z.looseObject({
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
      z.looseObject({ field: z.string(), label: z.string(), before: AnyJson, after: AnyJson }),
    ),
    keptAsIs: z.array(z.string()),
    warnings: z.array(z.string()),
    gaps: z.array(z.string()).optional(),
    cost: z
      .looseObject({
        text: z.string(),
        summary: z.looseObject({ perDay: z.string(), withRange: z.string() }).optional(),
        perDay: z.number().nullable(),
        share: z.number().nullable(),
      })
      .optional(),
    timing: StoredTiming.optional(),
  })
  .transform(({ keptAsIs, ...rest }): Plan => ({ ...rest, unchangedFields: keptAsIs }));

/** The plan as the column holds it. */
export function planText({ before, unchangedFields, timing, ...rest }: Plan): string {
  const { volatileFields, ...snapshot } = before ?? {};
  const { revert, ...start } = timing ?? {};
  return JSON.stringify({
    ...rest,
    before: before && { ...snapshot, beside: volatileFields },
    keptAsIs: unchangedFields,
    timing: timing && { ...start, back: revert },
  });
}

export const StoredRequirement: z.ZodType<Requirement> = z.looseObject({
  rule: z.int(),
  to: z.string(),
  from: z.string().nullable(),
  count: z.int(),
  self: z.boolean(),
  reason: z.boolean(),
  expiresAfterMs: z.number(),
  channel: z.string().nullable(),
  // Changes of earlier releases have no value for these.
  escalation: z.looseObject({ to: z.string(), afterMs: z.number() }).nullable().default(null),
  breakGlass: z.string().nullable().default(null),
});

export const StoredRejection: z.ZodType<Rejection> = z.looseObject({
  by: User,
  at: StoredInstant,
  reason: z.string(),
});

export const StoredResolution: z.ZodType<Resolution> = z.looseObject({
  by: User,
  at: StoredInstant,
  happened: z.boolean(),
  note: z.string(),
  evidence: z
    .looseObject({
      shown: z.string(),
      shownAt: StoredInstant,
      before: z.string(),
      beforeAt: StoredInstant,
    })
    .optional(),
});

export const StoredFollowUp: z.ZodType<FollowUp> = z.looseObject({
  state: z.enum(FOLLOW_UP_STATES),
  seen: z.looseObject({ text: z.string(), at: StoredInstant }).nullable(),
  gap: z.string().nullable(),
  why: z.enum(EVIDENCE_GAPS).nullable(),
  candidates: z.array(
    z.looseObject({
      name: z.string(),
      id: z.string(),
      state: z.string().nullable(),
      createdAt: StoredInstant.nullable(),
    }),
  ),
  revision: z.int(),
});

export const StoredBlockingFreeze: z.ZodType<BlockingFreeze> = z.looseObject({
  until: StoredInstant,
  reason: z.string(),
  by: z.string().nullable(),
  made: z.looseObject({ id: Id, by: User }).optional(),
});

export const StoredStateCheck: z.ZodType<StateCheck> = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('differs'),
    differences: z.array(z.looseObject({ label: z.string(), was: z.string(), is: z.string() })),
    changedBy: z.looseObject({ id: Id, by: User, at: StoredInstant }).nullable(),
  }),
  z.looseObject({ kind: z.literal('unverified'), why: z.string() }),
]);

export const StoredReview: z.ZodType<Review> = z.looseObject({
  by: User,
  at: StoredInstant,
  note: z.string(),
});

const call = { at: StoredInstant, tookMs: z.number(), requestId: z.string().nullable() };
export const StoredEnding: z.ZodType<ExecutionOutcome> = z.discriminatedUnion('how', [
  z.looseObject({
    how: z.literal('succeeded'),
    ...call,
    reported: z.array(z.string()),
    createdId: z.string().optional(),
  }),
  z.looseObject({
    how: z.enum(['failed', 'unknown']),
    ...call,
    status: z.number().nullable(),
    text: z.string(),
  }),
]);
