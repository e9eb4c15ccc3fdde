// What happens to a change, as the log stores it. Dates are ISO text in the log and `Date` here.

import { z } from 'zod';
import {
  AcceptedCall,
  At,
  BlockingFreeze,
  ChangeKey,
  Evidence,
  type ExecutionOutcome,
  Fields,
  LateAnswer,
  OtherCall,
  Plan,
  PostedAt,
  Request,
  StateCheck,
  User,
  type UserId,
  Verdict,
  Via,
} from './change.ts';

export const Id = z.string().min(1);
/** A mark of a lost history that people may still see, and that the event answers. */
export const AnsweredMark = z.object({ stream: Id, version: z.int().positive(), hash: Id });

/** What may stand on every event: the press that was decided, the lookups behind it, the configuration. */
const Recorded = {
  press: Id.optional(),
  evidence: Fields.optional(),
  configuration: Id.optional(),
};
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape, ...Recorded });

const By = { by: User };
const Ending = { nonce: Id, answeredAt: At };
const Resolver = z.custom<UserId | 'signalbox'>((by) => typeof by === 'string' && by !== '');
const Stopped = {
  why: z.string(),
  frozenBy: BlockingFreeze.optional(),
  stateCheck: StateCheck.optional(),
};

export const ChangeEvent = z.discriminatedUnion('type', [
  event('drafted', {
    ...Request,
    /** What it inherits from the change with which it was approved; null: nothing. */
    inherits: z
      .object({
        confirmedAt: At.nullable(),
        approvals: z.array(Verdict).readonly(),
        breakGlass: Verdict.extend({ reason: z.string() }).nullable(),
      })
      .nullable(),
  }),
  /** `approvals`: those of the standing approval by which it runs. */
  event('confirmed', { ...By, approvals: z.array(Verdict).readonly().optional() }),
  event('card-posted', PostedAt),
  /** The card was deleted before anybody had approved: it is posted again. */
  event('card-lost', {}),
  /** A reply with the state and the buttons of a card that Slack does not let be edited any more. */
  event('state-posted', PostedAt),
  /** A copy of the card in the direct messages of a user. */
  event('copy-posted', { to: User, ...PostedAt }),
  /** `digest`: of the plan that the person saw. */
  event('approved', { ...By, digest: Id }),
  /** The approval of a narrower plan, which replaces the one with the digest `wider`. */
  event('narrowed', { ...By, plan: Plan, digest: Id, wider: Id }),
  event('rejected', { ...By, reason: z.string() }),
  /** `via`: the agent that withdrew its own request. */
  event('cancelled', { ...By, via: Via.optional() }),
  event('break-glass', { ...By, reason: z.string() }),
  event('reviewed', { ...By, note: z.string() }),
  event('claimed', {
    by: Id,
    nonce: Id,
    attempt: z.int().positive(),
    until: At,
    stateCheck: StateCheck.optional(),
  }),
  /** `cause`: of which kind `why` is. */
  event('not-sent', { nonce: Id, why: z.string(), cause: Id.optional(), notBefore: At }),
  event('succeeded', { ...Ending, ...AcceptedCall.shape }),
  event('failed', { ...Ending, ...OtherCall.shape }),
  event('unknown', { ...Ending, ...OtherCall.shape }),
  /** What the process that sent a request learned after its outcome had become unknown: evidence, no authority. */
  event('late-answer', { nonce: Id, ...LateAnswer }),
  event('resolved', {
    by: Resolver,
    as: z.enum(['succeeded', 'failed']),
    note: z.string(),
    reading: Evidence.optional(),
  }),
  event('expired', {}),
  event('denied', Stopped),
  event('stale', { ...Stopped, foreign: z.array(AnsweredMark).readonly().optional() }),
  /** The log lost events of the change, whose marks people may have seen. */
  event('restored', { why: z.string(), foreign: z.array(AnsweredMark).readonly() }),
  /** A change was confirmed that runs by this standing approval. */
  event('used', { ...By, change: ChangeKey }),
  /** This standing approval ends before its time. */
  event('revoked', { by: Resolver }),
  event('revert-planned', { child: ChangeKey }),
  /** Signalbox does not revert it: only a person can. */
  event('revert-kept', { why: Id }),
  /** Its password was opened to be shown (null), was shown, or Slack did not confirm that. */
  event('revealed', { ...By, shown: z.boolean().nullable() }),
]);
export type ChangeEvent = z.infer<typeof ChangeEvent>;

/** What the answer to an attempt says that came after its change became `unknown`; null for any other event. */
export function lateAnswer(nonce: string, event: ChangeEvent) {
  const type = 'late-answer' as const;
  switch (event.type) {
    case 'not-sent':
      return { type, nonce, as: event.type, answeredAt: null, status: null, text: event.why };
    case 'succeeded': {
      const { answeredAt, reported, createdId } = event;
      const text = [...reported, ...(createdId ? [`id ${createdId}`] : [])].join(', ');
      return { type, nonce, as: event.type, answeredAt, status: null, text: text || 'no details' };
    }
    case 'failed':
    case 'unknown': {
      const { type: as, answeredAt, status, text } = event;
      return { type, nonce, as, answeredAt, status, text };
    }
    default:
      return null;
  }
}

/** The event that ends an execution so. */
export function endingEvent(
  nonce: string,
  { at: answeredAt, ...outcome }: ExecutionOutcome,
): ChangeEvent {
  const { how: type, ...answer } = outcome;
  // The compiler does not see that the answer is the one of this type.
  return { type, nonce, answeredAt, ...answer } as ChangeEvent;
}

/** The lease of the sender has ended without a recorded answer. Whether it stopped or waits still, nobody saw. */
export function noAnswer(at: Date): ExecutionOutcome {
  const text = 'No answer was recorded in time.';
  return { how: 'unknown', at, tookMs: 0, requestId: null, status: null, text };
}
