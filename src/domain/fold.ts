// A change is a fold of its events. Evolving never refuses: `gate` decided before the event was recorded.

import { HOUR_MS } from '../base/time.ts';
import type {
  Change,
  ExecutionOutcome,
  Refusal,
  Resolution,
  Review,
  StateCheck,
  UserId,
} from './change.ts';

/** The end of a change that was not sent: the request no longer fits, or it is not permitted now. */
export interface Stopped extends Pick<Change, 'frozenBy' | 'stateCheck'> {
  readonly type: 'stopped';
  readonly as: 'stale' | 'denied';
  readonly why: Refusal;
}

/** What happened to a change. */
export type ChangeEvent =
  | { readonly type: 'confirmed' }
  | { readonly type: 'approved'; readonly by: UserId }
  | { readonly type: 'break-glass-used'; readonly by: UserId; readonly reason: string }
  | { readonly type: 'rejected'; readonly by: UserId; readonly reason: string }
  | { readonly type: 'cancelled'; readonly by: UserId }
  | { readonly type: 'expired' }
  | Stopped
  | {
      readonly type: 'claimed';
      readonly lease: NonNullable<Change['lease']>;
      readonly stateCheck: StateCheck | undefined;
    }
  /** Nothing was executed, so that the change can be claimed again, with all checks. */
  | { readonly type: 'not-sent'; readonly notBefore: Date }
  | { readonly type: 'finished'; readonly outcome: ExecutionOutcome }
  | { readonly type: 'resolved'; readonly resolution: Resolution }
  /** The log does not show what happened to the open change. */
  | { readonly type: 'distrusted'; readonly why: 'restored' | 'gap-accepted' }
  | { readonly type: 'revert-abandoned' }
  | { readonly type: 'snoozed' }
  | { readonly type: 'reviewed'; readonly review: Review };

/** An event and when it happened. */
export type RecordedEvent<Event> = Event & { readonly at: Date };

/** Returns the change after an event. Every event increases the version. */
export function evolve(change: Change, event: RecordedEvent<ChangeEvent>): Change {
  return { ...change, ...fieldsAfter(change, event), version: change.version + 1 };
}

function fieldsAfter(change: Change, event: RecordedEvent<ChangeEvent>): Partial<Change> {
  const { at } = event;
  switch (event.type) {
    case 'confirmed':
      return confirmed(change, at);
    case 'approved':
      return oneApproval(change, event.by, at);
    case 'break-glass-used': {
      const { by, reason } = event;
      const confirmedAt = change.confirmedAt ?? at;
      return { ...readyToRun(change, at), confirmedAt, breakGlass: { by, at, reason } };
    }
    case 'rejected':
      return { rejection: { by: event.by, at, reason: event.reason }, state: 'rejected' };
    case 'cancelled':
      return { cancelledBy: event.by, state: 'cancelled' };
    case 'expired':
      return { state: 'expired' };
    case 'stopped': {
      const { type: _type, at: _at, as: state, why: stopReason, ...found } = event;
      return { stopReason, ...found, state };
    }
    case 'claimed':
      return { lease: event.lease, stateCheck: event.stateCheck, state: 'executing' };
    case 'not-sent':
      return { lease: null, notBefore: event.notBefore, state: 'approved' };
    case 'finished':
      return finished(change, event.outcome);
    case 'resolved':
      return resolved(change, event.resolution);
    case 'distrusted':
      return { lease: null, stopReason: event.why, state: 'stale' };
    case 'revert-abandoned':
      return { revertAt: null };
    case 'snoozed':
      return {};
    case 'reviewed':
      return { review: event.review };
  }
}

function confirmed(change: Change, at: Date): Partial<Change> {
  if (change.requires.count === 0) return { ...readyToRun(change, at), confirmedAt: at };
  const startAt = scheduledStart(change);
  const expiresAt = after(at, change.requires.expiresAfterMs);
  // An approval after the scheduled time would run the change at another time, and one after its end not at all.
  const decideBy = earliest(expiresAt, startAt, revertMoment(change));
  return { confirmedAt: at, expiresAt: decideBy, state: 'pending' };
}

/** With enough approvals the change is approved. */
function oneApproval(change: Change, by: UserId, at: Date): Partial<Change> {
  const approvals = [...change.approvals, { by, at }];
  const isEnough = approvals.length >= change.requires.count;
  return isEnough ? { ...readyToRun(change, at), approvals } : { approvals };
}

/** A timed change may start this late, in milliseconds; later, users do not expect it any more. */
export const START_GRACE_MS = HOUR_MS;

/** A timed change waits for its start, and expires if it cannot start soon after it. */
function readyToRun(change: Change, at: Date): Partial<Change> {
  const startAt = scheduledStart(change);
  const latest = startAt
    ? after(startAt, START_GRACE_MS)
    : change.state === 'draft'
      ? after(at, change.requires.expiresAfterMs)
      : change.expiresAt;
  const expiresAt = latest && earliest(latest, revertMoment(change));
  return { expiresAt, notBefore: startAt, state: 'approved' };
}

/** The scheduled time of a change; null: it runs once approved. */
export function scheduledStart({ plan }: Pick<Change, 'plan'>): Date | null {
  const startAt = plan.timing?.startAt;
  return startAt ? new Date(startAt) : null;
}

function finished(change: Change, outcome: ExecutionOutcome): Partial<Change> {
  const revertAt = outcome.how === 'succeeded' ? revertTime(change, outcome.at) : null;
  return { lease: null, outcome, revertAt, state: outcome.how };
}

function resolved(change: Change, resolution: Resolution): Partial<Change> {
  const { happened } = resolution;
  // Counted from the request: an unknown outcome must not extend the time until the revert.
  const revertAt = happened && change.outcome ? revertTime(change, change.outcome.at) : null;
  return { resolution, revertAt, state: happened ? 'succeeded' : 'failed' };
}

/** Returns when the revert is due, counted from `at`; null for a change without a revert. */
function revertTime({ plan }: Pick<Change, 'plan'>, at: Date): Date | null {
  const revert = plan.timing?.revert;
  return revert ? (revertMoment({ plan }) ?? after(at, revert.afterMs)) : null;
}

/** The moment at which a change ends that was requested until then; null for any other change. */
function revertMoment({ plan }: Pick<Change, 'plan'>): Date | null {
  const until = plan.timing?.revert?.until;
  return until === undefined ? null : new Date(until);
}

function earliest(first: Date, ...others: readonly (Date | null)[]): Date {
  return others.reduce<Date>((least, each) => (each && each < least ? each : least), first);
}

function after(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
