import { pastStep } from '../base/log.ts';
import type { JsonObject } from '../base/text.ts';
import { DAY_MS, MINUTE_MS } from '../base/time.ts';
import {
  type Change,
  type ChangeId,
  isEnded,
  isPrivate,
  type Refusal,
  type State,
  targetKey,
} from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { foldOf } from '../domain/fold.ts';
import type { Identity } from '../domain/gate.ts';
import type { EventOf, NewEvent, Recorded, StreamName } from '../domain/log-events.ts';
import { standingOf } from '../domain/standing.ts';
import {
  append,
  type ChangeQuery,
  type LockedLog,
  listChanges,
  loadChange,
  type Subjects,
} from '../log/index.ts';
import { addJobs, type Job, transaction } from '../storage/index.ts';
import type { DecisionContext } from './context.ts';

/** What is appended at once, and what is due because of it. */
export interface Effects {
  readonly events: readonly NewEvent[];
  readonly jobs: readonly Job[];
}

export const NOTHING: Effects = { events: [], jobs: [] };

export function together(...all: readonly (Effects | null)[]): Effects {
  return {
    events: all.flatMap((each) => each?.events ?? []),
    jobs: all.flatMap((each) => each?.jobs ?? []),
  };
}

/** Events of one decision, and what is due because of them. */
export interface Moves extends Effects {
  /** The change after them. */
  readonly change: Change;
}

/** The place of what is about to be appended: after all that the log has. */
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * The event of a change under the lock: it releases the target where the change ends, and asks for the messages and
 * the work that follow. To be called once the gate has allowed the event; `append` stores what it returns. `drawnMs`: the
 * caller draws a card that stands within this time, so that its job only follows in case this process ends before.
 */
export function move(
  { configuration }: Pick<DecisionContext, 'configuration'>,
  at: number,
  before: Change,
  event: ChangeEvent,
  drawnMs = 0,
): Moves {
  const { id } = before;
  const recorded = { ...event, configuration };
  const next = { ...recorded, at, seq: LAST, version: before.version + 1, hash: before.hash };
  const change = foldOf(id)(before, next);
  const events: NewEvent[] = [{ stream: `change/${id}`, event: recorded }];
  if (releases(before, change)) {
    const stream = `target/${targetKey(before)}` as const;
    events.push({ stream, event: { type: 'released', change: id } });
  }
  const cardAt = change.card ? at + drawnMs : at;
  return { events, jobs: jobsAfter(before, change, event, at, cardAt), change };
}

/** The first event of a change, with what is due because of it. */
export function begin(
  { configuration }: Pick<DecisionContext, 'configuration'>,
  at: number,
  id: ChangeId,
  event: Extract<ChangeEvent, { type: 'drafted' }>,
): Moves {
  const recorded = { ...event, configuration };
  const change = foldOf(id)(null, { ...recorded, at, seq: LAST, version: 1, hash: '' });
  const { parent } = change;
  const cards = parent ? [job('card', id, at), job('card', parent, at)] : [];
  const jobs = [...dueIn(change, at), ...cards];
  return { events: [{ stream: `change/${id}`, event: recorded }], jobs, change };
}

/** In these states a change holds the lock of its target. */
const HOLDING: readonly State[] = ['executing', 'unknown'];

/** The target is free once the request was not sent, or its outcome is known. */
function releases(before: Pick<Change, 'state'>, after: Pick<Change, 'state'>): boolean {
  return HOLDING.includes(before.state) && !HOLDING.includes(after.state);
}

const EXECUTION_ENDED: readonly State[] = ['succeeded', 'failed', 'unknown', 'stale', 'denied'];
const REPORTED: readonly State[] = [...EXECUTION_ENDED, 'rejected', 'expired'];

export function job(kind: string, key: string, dueAt: number): Job {
  return { kind, key, dueAt };
}

/** What is due after an event. Every job can be found again from the log: `jobsOf` does it. */
function jobsAfter(before: Change, after: Change, event: ChangeEvent, at: number, cardAt: number) {
  const { id, state, card, parent, plan } = after;
  const { schedule } = plan.timing ?? {};
  const wasPrivate = before.state === 'draft' && ['cancelled', 'expired', 'stale'].includes(state);
  if (wasPrivate) return [];
  const entered = before.state !== state;
  return [
    job('card', id, cardAt),
    ...(parent ? [job('card', parent, at)] : []),
    // The card of a schedule shows its last run, also one that has a card of its own.
    ...(schedule && (card || state === 'unknown') ? [job('card', schedule, at)] : []),
    ...messagesAfter(before, after, event, at),
    ...(entered ? dueIn(after, at) : []),
    // What is lowered may have to be decided earlier.
    ...(event.type === 'narrowed' ? [job('expire', id, after.expiresAt.getTime())] : []),
    // It waits for its card, whose thread is the witness.
    ...(event.type === 'card-posted' && state === 'approved' ? [runOf(after, at)] : []),
  ];
}

/** The messages about one event, each posted once. */
function messagesAfter(
  before: Change,
  after: Change,
  event: ChangeEvent,
  at: number,
): readonly Job[] {
  const { state, parent, plan } = after;
  const entered = before.state !== state;
  const isCancelledRevert = parent !== null && state === 'cancelled';
  // A schedule runs twice per day: its card shows a success, and nobody is notified.
  const isRoutine = plan.timing?.schedule !== undefined && state === 'succeeded';
  const isNews = entered && !isRoutine && (REPORTED.includes(state) || isCancelledRevert);
  const isReported = isNews || ['late-answer', 'revoked', 'narrowed'].includes(event.type);
  const isBreakGlass = event.type === 'break-glass' || event.type === 'reviewed';
  const isAudited = isBreakGlass || (entered && EXECUTION_ENDED.includes(state));
  // Of each cause once, however often it comes back.
  const isNewCause = Object.values(after.notSent?.causes ?? {}).includes(after.version);
  const unsentAt = isNewCause ? toldAt(after, event, at) : null;
  const kinds = [
    ...(isReported || unsentAt !== null ? ['thread', 'direct'] : []),
    ...(isBreakGlass ? ['break-glass'] : []),
    ...(isAudited ? ['audit'] : []),
    ...(event.type === 'revert-kept' ? ['revert-stopped'] : []),
  ];
  return kinds.map((kind) => job(kind, `${after.id}/${after.version}`, unsentAt ?? at));
}

/** Causes that last until a person removes them. */
const LASTING: readonly string[] = ['private-address', 'no-command'];

/** When people read why a change is not sent: at once, unless it may be sent within a minute after all. */
function toldAt({ notSent, notBefore }: Change, event: ChangeEvent, at: number): number {
  const minuteEnd = (notSent?.since.getTime() ?? at) + MINUTE_MS;
  const isLong = notBefore !== null && notBefore.getTime() >= minuteEnd;
  const isLasting = 'cause' in event && LASTING.includes(event.cause ?? '');
  return isLong || isLasting ? at : Math.max(at, minuteEnd);
}

/** What a change in this state waits for. */
function dueIn(change: Change, at: number): readonly Job[] {
  const { id, state, expiresAt, lease, revertAt, frozenBy, parent, requires } = change;
  switch (state) {
    case 'draft':
      // Its requester did not ask in Slack, and has to see it there.
      return [
        job('expire', id, expiresAt.getTime()),
        ...(change.via ? [job('preview', id, at)] : []),
      ];
    case 'pending':
      return [
        job('expire', id, expiresAt.getTime()),
        job('direct-cards', id, at),
        job('reminder', id, at),
        ...(requires.escalation ? [job('escalation', id, at + requires.escalation.afterMs)] : []),
      ];
    case 'approved':
      return [job('expire', id, expiresAt.getTime()), runOf(change, at)];
    case 'executing':
      return [job('lost', id, lease?.until.getTime() ?? at)];
    case 'unknown':
      return [job('reminder', id, at), job('follow', id, at)];
    case 'succeeded':
      return [...(revertAt ? [job('revert', id, at)] : []), job('follow', id, at)];
    case 'denied':
      // A revert that a freeze blocked is offered once the freeze has ended.
      return parent && frozenBy ? [job('unfreeze-offer', id, frozenBy.until.getTime())] : [];
    default:
      return [];
  }
}

/** The claim of an approved change. */
export function runOf({ id, notBefore }: Change, at: number): Job {
  return job('run', id, Math.max(at, notBefore?.getTime() ?? at));
}

/** Messages about older events were delivered or given up. */
export const MESSAGES_KEPT_MS = DAY_MS;

/**
 * What is due for a change, computed from its events alone, as `signalbox rebuild` needs it: its work, its card, and
 * the messages about the events of the last day.
 */
export async function jobsOf(subjects: Subjects, id: ChangeId, now: Date): Promise<readonly Job[]> {
  const events = await eventsOf(subjects, `change/${id}`);
  const fold = foldOf(id);
  const messages: Job[] = [];
  let change: Change | null = null;
  for (const event of events) {
    const before: Change | null = change;
    const after = fold(before, event);
    const isRecent = now.getTime() - event.at < MESSAGES_KEPT_MS;
    if (before && isRecent) messages.push(...messagesAfter(before, after, event, event.at));
    change = after;
  }
  if (!change) return [];
  const since = (change.outcome?.at ?? change.confirmedAt ?? change.createdAt).getTime();
  // Its card shows its end. A card that was drawn today is drawn again by then.
  const until = standingOf(change)?.until;
  const isOld = !isEnded(change) || now.getTime() - since >= MESSAGES_KEPT_MS;
  return [
    ...(isPrivate(change) ? [] : [job('card', id, now.getTime()), ...messages]),
    ...dueIn(change, since),
    ...(until && until > now && isOld ? [job('card', id, until.getTime())] : []),
  ];
}

/** All events of a subject, the oldest first; none where the bodies were pruned. */
export async function eventsOf<Name extends StreamName>(
  subjects: Subjects,
  stream: Name,
): Promise<readonly Recorded<EventOf<Name>>[]> {
  type All = readonly Recorded<EventOf<Name>>[];
  const { state } = await subjects.load<Name, All>(stream, (before, event) => [
    ...(before ?? []),
    event,
  ]);
  return state ?? [];
}

/** An id that no change has yet. */
export async function unusedId(
  { newId }: Pick<DecisionContext, 'newId'>,
  locked: Subjects,
): Promise<ChangeId> {
  for (;;) {
    const id = newId();
    const { version } = await locked.load(`change/${id}`, () => null);
    if (version === 0) return id;
  }
}

/** The roles of an identity and the group lookups behind it, as evidence of an event. */
export function identityFacts(identity: Identity | null): JsonObject {
  if (!identity?.ok) return {};
  const groups = identity.evidence.groups.map((group) => ({ ...group }));
  return { roles: [...identity.actor.roles], groups };
}

/** What happens to a change, or why nothing does. */
export type StepAnswer = ChangeEvent | { readonly refusal: Refusal } | null;

type Advanced = Record<'before' | 'change', Change>;

/**
 * One step of one change: `ask` answers under the lock, usually with the gate's answer, and `also` returns what is
 * appended with it. Returns the change before and after, the refusal, or null where nothing happened.
 */
export async function advance(
  context: DecisionContext,
  id: ChangeId,
  ask: (change: Change, locked: LockedLog) => StepAnswer | Promise<StepAnswer>,
  also?: (change: Change, locked: LockedLog) => Effects | null | Promise<Effects | null>,
): Promise<Advanced | Refusal | null> {
  const { result } = await append<Advanced | Refusal | null>(context.events, async (locked) => {
    const before = await loadChange(locked, id);
    const answer = before && (await ask(before, locked));
    if (!before || !answer) return { events: [], result: null };
    if ('refusal' in answer) return { events: [], result: answer.refusal };
    const moves = move(context, locked.at, before, answer);
    const more = await also?.(moves.change, locked);
    return { ...together(moves, more ?? null), result: { before, change: moves.change } };
  });
  if (result === null || typeof result === 'string') return result;
  noteMoved(context, result.before, result.change);
  context.wake();
  return result;
}

/** Counts, logs and traces what was appended, and tells other changes of the target. To be called after the commit. */
export function noteMoved(
  context: Pick<DecisionContext, 'measures' | 'log' | 'events' | 'store' | 'now' | 'wake'>,
  before: Pick<Change, 'state'> | null,
  change: Change,
): void {
  const { id, command, state } = change;
  if (before?.state === state) return;
  context.measures.moved(command, state);
  const from = before?.state;
  context.log.info({ change: id, command, from: from ?? null, to: state }, 'change moved');
  const about = { 'signalbox.change': id, 'signalbox.command': command };
  const facts = { ...about, 'signalbox.from': from, 'signalbox.to': state };
  pastStep({ name: `change ${state}`, facts }, 0);
  if (isPrivate(change)) return;
  // What becomes of a freeze concerns the changes of all that it covers.
  const isFreeze = change.plan.target.kind === 'freeze';
  if (isFreeze && state !== 'succeeded') return;
  const of = isFreeze ? {} : { targets: [targetKey(change)], except: id };
  const isFree = before !== null && releases(before, change);
  // Without it, their cards are drawn again within an hour, and they are claimed some seconds later.
  redrawOpen(context, of, isFree).catch((err: unknown) => {
    context.log.warn({ err, change: id }, 'other changes of its target were not redrawn');
  });
}

const REDRAWN_MAX = 500;
/** Slack accepts about 50 reads and updates per minute, and cards of changes that move come first. */
const AT_ONCE = 20;
const SPREAD_MS = 5_000;

/**
 * Draws the cards of open changes again, because of what surrounds them: those of some targets, or of all, for example
 * after a reload. Where the target is free now, its approved changes are claimed.
 */
export async function redrawOpen(
  { events, store, now, wake }: Pick<DecisionContext, 'events' | 'store' | 'now' | 'wake'>,
  of: Pick<ChangeQuery, 'targets' | 'except'> = {},
  isFree = false,
): Promise<void> {
  const query = { ...of, open: true, confirmed: true, limit: REDRAWN_MAX } as const;
  const others = await listChanges(events, query);
  if (others.length === 0) return;
  const at = now().getTime();
  const jobs = others.flatMap((each, index) => [
    job('card', each.id, at + Math.max(0, index - AT_ONCE) * SPREAD_MS),
    ...(isFree && each.state === 'approved' ? [runOf(each, at)] : []),
  ]);
  await transaction(store, (tx) => addJobs(tx, ...jobs));
  wake();
}
