// A change is a fold of its events. Evolving never refuses: `gate` decided before the event was recorded.

import { HOUR_MS } from '../base/time.ts';
import {
  AcceptedCall,
  agentId,
  type Change,
  type ChangeId,
  type ExecutionOutcome,
  OtherCall,
  type UserId,
} from './change.ts';
import type { ChangeEvent } from './change-events.ts';
import type { Recorded } from './log-events.ts';
import { coversPlan } from './narrow.ts';

/** Returns the function that adds the events of this change, in their order; before the first one there is none. */
export function foldOf(id: ChangeId) {
  return (change: Change | null, event: Recorded<ChangeEvent>): Change => {
    const { version, hash, seq } = event;
    if (event.type === 'drafted') return drafted(id, event);
    if (!change) throw new Error(`The first event of ${id} is ${event.type}, not drafted`);
    const shownBy = UNSEEN.includes(event.type) ? [...change.shownBy, hash] : [hash];
    const endedSeq = ENDS.includes(event.type) ? seq : change.endedSeq;
    const answered = 'foreign' in event ? (event.foreign ?? []) : [];
    const marks = [...change.marks, hash, ...answered.map((mark) => mark.hash)];
    return { ...change, ...fieldsAfter(change, event), version, hash, shownBy, marks, endedSeq };
  };
}

/** Events that a card does not show. */
const UNSEEN: readonly ChangeEvent['type'][] = ['card-posted', 'state-posted', 'copy-posted'];
const ENDS: readonly ChangeEvent['type'][] = ['succeeded', 'failed', 'unknown', 'resolved'];

type EventOf<Type extends ChangeEvent['type']> = Recorded<Extract<ChangeEvent, { type: Type }>>;

function drafted(id: ChangeId, event: EventOf<'drafted'>): Change {
  const { organization, requester, command, reason, plan, digest, requires } = event;
  const { expiresAt, notBefore, parent, inherits, via, words, requestKey, standing } = event;
  return {
    ...(standing && { standing }),
    ...{ via, words, requestKey },
    ...{ id, organization, requester, command, reason, plan, digest, requires, parent },
    ...{ expiresAt, notBefore, version: event.version, hash: event.hash },
    ...{ shownBy: [event.hash], marks: [event.hash], plannedSeq: event.seq, endedSeq: null },
    state: inherits ? 'approved' : 'draft',
    approvals: inherits?.approvals ?? [],
    breakGlass: inherits?.breakGlass ?? null,
    confirmedAt: inherits?.confirmedAt ?? null,
    createdAt: new Date(event.at),
    attempts: 0,
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    outcome: null,
    resolution: null,
    review: null,
    revertAt: null,
    lease: null,
    card: null,
    copies: [],
  };
}

function fieldsAfter(
  change: Change,
  event: Exclude<Recorded<ChangeEvent>, { type: 'drafted' }>,
): Partial<Change> {
  const at = new Date(event.at);
  switch (event.type) {
    case 'confirmed': {
      const { approvals } = event;
      // People decide about it instead.
      if (!approvals) return { ...confirmed(change, at), standing: undefined };
      return { ...readyToRun(change, at), confirmedAt: at, approvals };
    }
    case 'card-posted':
      return { card: { channel: event.channel, ts: event.ts } };
    case 'card-lost':
      return { card: null, states: [] };
    case 'state-posted':
      return { states: [...(change.states ?? []), { channel: event.channel, ts: event.ts }] };
    case 'copy-posted': {
      const { to, channel, ts } = event;
      return { copies: [...change.copies, { to, channel, ts }] };
    }
    case 'approved':
      // Of another plan than this one or a wider one, it counts for nothing.
      return coversPlan(change, event.digest) ? oneApproval(change, event.by, at) : {};
    case 'narrowed':
      return narrowed(change, event, at);
    case 'break-glass': {
      const { by, reason } = event;
      const alone = { breakGlass: { by, at, reason }, standing: undefined };
      return { ...readyToRun(change, at), confirmedAt: change.confirmedAt ?? at, ...alone };
    }
    case 'rejected':
      return { rejection: { by: event.by, at, reason: event.reason }, state: 'rejected' };
    case 'cancelled':
      return { cancelledBy: event.via ? agentId(event.via.agent) : event.by, state: 'cancelled' };
    case 'expired':
      return { state: 'expired' };
    case 'stale':
    case 'denied': {
      const { why: stopReason, frozenBy, stateCheck } = event;
      const found = { ...(frozenBy && { frozenBy }), ...(stateCheck && { stateCheck }) };
      return { stopReason, ...found, state: event.type, lease: null };
    }
    case 'claimed': {
      const { by: owner, until, stateCheck, nonce, attempt: attempts } = event;
      return { lease: { owner, until, nonce }, attempts, stateCheck, state: 'executing' };
    }
    case 'not-sent': {
      // An older release recorded no cause but the sentence.
      const { why, cause = why, notBefore, version } = event;
      const { since = at, causes = {} } = change.notSent ?? {};
      const notSent = { why, since, causes: { [cause]: version, ...causes } };
      return { lease: null, notBefore, notSent, state: 'approved' };
    }
    case 'succeeded':
    case 'failed':
      return finished(change, outcomeOf(event));
    case 'unknown':
      return { ...finished(change, outcomeOf(event)), unanswered: event.nonce };
    case 'late-answer': {
      const { as, answeredAt, status, text } = event;
      return { lateAnswer: { as, answeredAt, status, text }, unanswered: undefined };
    }
    case 'resolved': {
      const { by, note, reading } = event;
      const happened = event.as === 'succeeded';
      const resolution = { by, at, happened, note, ...(reading && { evidence: reading }) };
      // Counted from the request: an unknown outcome must not extend the time until the revert.
      const revertAt = happened && change.outcome ? revertTime(change, change.outcome.at) : null;
      return { resolution, revertAt, state: event.as };
    }
    case 'used': {
      const { by, change: used, version, hash } = event;
      return { uses: [...(change.uses ?? []), { change: used, by, at, version, hash }] };
    }
    case 'revoked':
      return { revoked: { by: event.by, at } };
    case 'revert-planned':
      return { child: { id: event.child, state: 'approved' } };
    case 'revert-kept':
      return { revertAt: null };
    case 'reviewed':
      return { review: { by: event.by, at, note: event.note } };
    case 'restored':
      return {};
    case 'revealed':
      return event.shown === true ? { passwordShown: true } : {};
  }
}

function outcomeOf(event: EventOf<'succeeded' | 'failed' | 'unknown'>): ExecutionOutcome {
  const { answeredAt: at } = event;
  return event.type === 'succeeded'
    ? { how: event.type, at, ...AcceptedCall.parse(event) }
    : { how: event.type, at, ...OtherCall.parse(event) };
}

function confirmed(change: Change, at: Date): Partial<Change> {
  if (change.requires.count === 0) return { ...readyToRun(change, at), confirmedAt: at };
  return { confirmedAt: at, expiresAt: decideBy(change, at), state: 'pending' };
}

/** An approval after the scheduled time would run the change at another time, and one after its end not at all. */
function decideBy(change: Change, confirmedAt: Date): Date {
  const expiresAt = after(confirmedAt, change.requires.expiresAfterMs);
  return earliest(expiresAt, scheduledStart(change), revertMoment(change));
}

/** The approvals of the wider plan cover the narrower one, and this person's is one more. */
function narrowed(change: Change, event: EventOf<'narrowed'>, at: Date): Partial<Change> {
  const { by, plan, digest, version } = event;
  const wider = { plan: change.plan, digest: change.digest };
  const narrowings = [...(change.narrowings ?? []), { by, at, version, wider }];
  const expiresAt = decideBy({ ...change, plan }, change.confirmedAt ?? at);
  const less = { plan, digest, narrowings, expiresAt };
  return { ...less, ...oneApproval({ ...change, ...less }, by, at) };
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
