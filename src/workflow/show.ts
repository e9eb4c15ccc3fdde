import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS } from '../base/time.ts';
import { textAnswer } from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  changeTitle,
  isEnded,
  type Position,
  type UserId,
} from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { foldOf } from '../domain/fold.ts';
import { gate } from '../domain/gate.ts';
import {
  type EventOf,
  evolveSchedule,
  type LoggedSchedule,
  type Recorded,
} from '../domain/log-events.ts';
import { freezeFor } from '../domain/policy.ts';
import { EXPIRED, occurrenceText } from '../domain/schedules.ts';
import { append, listChanges, loadChange, type Subjects } from '../log/index.ts';
import { addJob, transaction } from '../storage/index.ts';
import {
  type BreakGlassEvent,
  type DecisionContext,
  type Mark,
  type PostAttempt,
  REVERT_STOP_REASONS,
  type Reminder,
  type WorkflowContext,
} from './context.ts';
import { subjectsOf } from './execute.ts';
import { withFollowUp } from './follow.ts';
import type { JobKinds, JobResult, JobTry } from './jobs.ts';
import { FIRST_REMINDER_MS, move, noteMoved } from './moves.ts';
import { endNotice, notify, sendNotice } from './notices.ts';
import { isUnchangedSince } from './request.ts';
import { currentPolicy, currentTarget } from './target.ts';
import { answerForeign, foreignMarks } from './witness.ts';

// What people read: the card, its copies and its thread, the audit channel, reminders and notices. Each is a job that
// loads the change at that moment, so that a message never shows less than the log has.

type Send = (context: WorkflowContext, job: JobTry) => Promise<JobResult>;

const SENDS: Readonly<Record<string, Send>> = {
  card: sendCard,
  thread: sendThread,
  direct: sendDirect,
  audit: sendAudit,
  'break-glass': sendBreakGlass,
  'revert-stopped': sendRevertStopped,
  'direct-cards': planDirectCards,
  'direct-card': sendDirectCard,
  reminder: remind,
  escalation: escalate,
  'follow-up': sendFollowUp,
  'unfreeze-offer': offerRevert,
  'schedule-note': sendScheduleNote,
  'schedule-reminder': remindOfSchedule,
  notice: sendNotice,
};

/** The jobs of messages. The card comes first, so that its thread and its copies find it. */
export function messageKinds(context: WorkflowContext): JobKinds {
  return Object.fromEntries(
    Object.entries(SENDS).map(([kind, send]) => [
      kind,
      {
        lane: 'messages',
        rank: kind === 'card' ? 0 : 1,
        run: (job) => send(context, job),
        giveUp: (key) => giveUp(context, kind, key),
      } satisfies JobKinds[string],
    ]),
  );
}

/** Ends the tries of a message: it is logged, counted and, except for a notice, reported. */
async function giveUp(context: WorkflowContext, kind: string, key: string): Promise<void> {
  context.log.error({ kind, key }, 'message was given up');
  context.measures.messageLost(kind);
  if (kind === 'notice') return endNotice(context, key, { type: 'given-up', why: REFUSED });
  const [subject] = key.split('/');
  const text =
    `Slack has refused a message of change ${subject} (${kind}) for 24 hours. ` +
    'Signalbox does not retry it any more. The log has the reason.';
  await notify(context, { to: null, title: 'Notice', text });
}

const REFUSED = 'Slack refused it for a day.';

/** Slack accepts an answer to a press for longer, but people wait for it. */
const DRAWN_WITHIN_MS = 3_000;
const POLL_MS = 100;

/**
 * Resolves when everyone can see a change as it is now, or after 3 s: a person is told the result of a press after
 * the card shows it. A card that does not stand yet is posted by its job alone, which is waited for.
 */
export async function afterDrawn(
  context: WorkflowContext,
  { id }: Pick<Change, 'id'>,
): Promise<void> {
  const ended = new AbortController();
  const late = wait(DRAWN_WITHIN_MS, 'late', { ref: false, signal: ended.signal });
  const drawn = drawSoon(context, id, ended.signal).catch((err: unknown) => {
    context.log.warn({ err, change: id }, 'card was not drawn before the answer to a press');
  });
  // The wait is aborted at the end.
  await Promise.race([drawn, late.catch(() => undefined)]);
  ended.abort();
}

async function drawSoon(context: WorkflowContext, id: ChangeId, ended: AbortSignal): Promise<void> {
  context.wake();
  while (!ended.aborted) {
    const change = await loadChange(context.events, id);
    if (!change || isPrivate(change)) return;
    if (change.card) {
      await inTurn(context, id, () => drawCard(context, id, { again: false }));
      return;
    }
    await wait(POLL_MS, undefined, { ref: false });
  }
}

/** A change that only its requester has seen. */
function isPrivate(change: Change): boolean {
  const { state, confirmedAt, card, parent } = change;
  if (state === 'draft') return true;
  return isEnded(change) && confirmedAt === null && card === null && parent === null;
}

const turns = new WeakMap<DecisionContext['events'], Map<ChangeId, Promise<unknown>>>();

/** Draws a card once at a time in this process: each drawing reads what the one before has left. */
function inTurn<T>({ events }: WorkflowContext, id: ChangeId, work: () => Promise<T>): Promise<T> {
  const all = turns.get(events) ?? new Map<ChangeId, Promise<unknown>>();
  turns.set(events, all);
  const before = all.get(id) ?? Promise.resolve();
  // The failure of the drawing before is reported to its caller.
  const ended = before.catch(() => undefined).then(work);
  all.set(id, ended);
  const leave = () => {
    if (all.get(id) === ended) all.delete(id);
  };
  ended.then(leave, leave);
  return ended;
}

/** The try about an hour after the first. Without its card, nobody can approve a change. */
const WARN_AT = 14;

async function sendCard(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const id = job.key as ChangeId;
  try {
    return await inTurn(context, id, () => drawCard(context, id, job));
  } catch (error) {
    if (job.attempts === WARN_AT) {
      const text =
        `The card of change ${id} could not be posted or updated for an hour. ` +
        'Signalbox retries it for 24 hours. The log has the reason.';
      await notify(context, { to: null, title: 'Notice', text });
    }
    throw error;
  }
}

/** Posts the card of a change, or draws it as the change is now. */
async function drawCard(
  context: WorkflowContext,
  id: ChangeId,
  attempt: PostAttempt,
): Promise<JobResult> {
  const change = await loadShown(context, id);
  if (!change || isPrivate(change)) return 'done';
  const { schedule } = change.plan.timing ?? {};
  // A run stands on the card of its schedule. Only an unknown outcome needs buttons of its own.
  if (schedule && !change.card && change.state !== 'unknown') {
    return drawCard(context, schedule, { again: false });
  }
  if (change.card) return drawStanding(context, change, change.card);
  await postCard(context, change, attempt);
  return 'done';
}

/** The change with what was read of its target. */
async function loadShown(context: WorkflowContext, id: ChangeId): Promise<Change | null> {
  const change = await loadChange(context.events, id);
  return change && withFollowUp(context, change);
}

async function postCard(
  context: WorkflowContext,
  change: Change,
  attempt: PostAttempt,
): Promise<void> {
  const at = await context.messenger.postCard(change, attempt);
  await append(context.events, async (locked) => {
    const current = await loadChange(locked, change.id);
    if (!current || current.card) return { events: [], result: null };
    const { events, jobs } = move(context, locked.at, current, { type: 'card-posted', ...at });
    return { events, jobs, result: null };
  });
  context.wake();
}

const ROUNDS = 3;
const AGAIN_MS = 5_000;

/**
 * Draws a card that stands in Slack. Nothing is drawn without a read: a mark that the log does not have is answered,
 * not drawn over. Drawn means that a later read showed it, because a late update of another process may come after.
 */
async function drawStanding(
  context: WorkflowContext,
  change: Change,
  at: Position,
): Promise<JobResult> {
  const subjects = await subjectsOf(context.events, change);
  let drawn: string | null = null;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const seen = await context.messenger.readThread(at);
    if (!seen) return cardDeleted(context, change.id, at);
    const marks = [...(seen.card ? [seen.card] : []), ...seen.notes];
    const foreign = await foreignMarks(context.events, subjects, marks);
    if (foreign.length > 0) {
      await answerForeign(context, change.id, foreign);
      return dueAgain(context);
    }
    const current = await loadShown(context, change.id);
    if (!current) return 'done';
    if (await isShown(context, current, seen.card, drawn)) return 'done';
    if (round === ROUNDS) break;
    await askForCopies(context, current);
    if ((await context.messenger.redrawCard(current, at)) === 'deleted') {
      return cardDeleted(context, change.id, at);
    }
    drawn = revisionOf(current);
  }
  return dueAgain(context);
}

function dueAgain({ now }: WorkflowContext): Date {
  return new Date(now().getTime() + AGAIN_MS);
}

/** Whether a message shows the change as it is. `drawn`: what was drawn a moment ago. */
async function isShown(
  { events }: Pick<WorkflowContext, 'events'>,
  change: Change,
  mark: Mark | null,
  drawn: string | null,
): Promise<boolean> {
  if (!mark || mark.version < (await drawnFrom(events, change.id))) return false;
  // What is not an event of the change has no mark.
  return drawn === null ? revisionOf(change) === NO_REVISION : drawn === revisionOf(change);
}

/** Events that a card does not show. */
const UNSEEN: readonly ChangeEvent['type'][] = ['card-posted', 'copy-posted'];

/** The version of the last event that is drawn: a card of this version is up to date. */
async function drawnFrom(events: Subjects, id: ChangeId): Promise<number> {
  const { state } = await events.load(`change/${id}`, (version: number | null, event) =>
    UNSEEN.includes(event.type) ? (version ?? 0) : event.version,
  );
  return state ?? 0;
}

/** Changes whenever the card is drawn differently without an event of the change. */
function revisionOf({ child, followUp }: Pick<Change, 'child' | 'followUp'>): string {
  return [child?.state ?? '', followUp?.revision ?? ''].join(':');
}

const NO_REVISION = revisionOf({});

async function askForCopies({ store, now }: WorkflowContext, change: Change): Promise<void> {
  if (change.copies.length === 0) return;
  const dueAt = now().getTime();
  await transaction(store, async (tx) => {
    for (const { to } of change.copies) {
      await addJob(tx, { kind: 'direct-card', key: `${change.id}/${to}`, dueAt });
    }
  });
}

/**
 * A card that nobody has decided on is posted again, once; so is one with an unknown outcome, whose buttons people
 * need and which sends nothing. Any other change that waits ends: nobody can see any more what was agreed to.
 */
async function cardDeleted(
  context: WorkflowContext,
  id: ChangeId,
  at: Position,
): Promise<JobResult> {
  const { result } = await append(context.events, async (locked) => {
    const before = await loadChange(locked, id);
    const event = before?.card?.ts === at.ts ? await afterDeletion(context, locked, before) : null;
    if (!before || !event) return { events: [], result: null };
    const { events, jobs, change } = move(context, locked.at, before, event);
    return { events, jobs, result: { before, change } };
  });
  context.log.warn({ change: id, state: result?.change.state }, 'card was deleted');
  if (result) noteMoved(context, result.before, result.change);
  context.wake();
  return 'done';
}

async function afterDeletion(
  { now }: WorkflowContext,
  locked: Subjects,
  change: Change,
): Promise<ChangeEvent | null> {
  const { state, approvals } = change;
  if (state === 'executing') return null;
  const isUndecided = state === 'pending' && approvals.length === 0;
  const lost = { type: 'card-lost' } as const;
  if (state === 'unknown') return lost;
  if (isUndecided && (await lossesOf(locked, change.id)) === 0) return lost;
  const answer = gate(change, 'distrust', { now: now(), why: 'card-deleted' });
  return 'refusal' in answer ? null : answer;
}

async function lossesOf(events: Subjects, id: ChangeId): Promise<number> {
  const { state } = await events.load(`change/${id}`, (count: number | null, event) =>
    event.type === 'card-lost' ? (count ?? 0) + 1 : (count ?? 0),
  );
  return state ?? 0;
}

const CHECKED_MAX = 500;
// Slack accepts about 50 reads and updates per minute, and cards of changes that move come first.
const SPREAD_MS = 5_000;

/** Draws the cards of open changes again, which finds deleted ones. To be called at the start and once a day. */
export async function checkCards({ events, store, now }: WorkflowContext): Promise<void> {
  const open = await listChanges(events, { open: true, confirmed: true, limit: CHECKED_MAX });
  const at = now().getTime();
  await transaction(store, async (tx) => {
    for (const [index, { id }] of open.entries()) {
      await addJob(tx, { kind: 'card', key: id, dueAt: at + index * SPREAD_MS });
    }
  });
}

/** A message about one event: the change now, and as it was after that event. */
interface Told {
  readonly change: Change;
  readonly event: Recorded<ChangeEvent>;
  readonly after: Change;
  /** The nonce of its last claim until then; null: it was never claimed. */
  readonly nonce: string | null;
}

/** `7KQ2MX/4`: the fourth event of a change; null where the log has no such event. */
async function told({ events }: WorkflowContext, key: string): Promise<Told | null> {
  const [id = '', version = ''] = key.split('/');
  const fold = foldOf(id as ChangeId);
  const { state } = await events.load(
    `change/${id}`,
    (before: Omit<Told, 'change'> | null, event): Omit<Told, 'change'> => {
      if (before && event.version > Number(version)) return before;
      const nonce = event.type === 'claimed' ? event.nonce : (before?.nonce ?? null);
      return { event, nonce, after: fold(before?.after ?? null, event) };
    },
  );
  const change = await loadChange(events, id as ChangeId);
  return state && change && state.event.version === Number(version) ? { ...state, change } : null;
}

/** The card in whose thread a change is reported: its own, or that of its schedule. */
async function threadOf({ events }: WorkflowContext, change: Change): Promise<Position> {
  const { schedule } = change.plan.timing ?? {};
  const above = !change.card && schedule ? await loadChange(events, schedule) : null;
  const card = change.card ?? above?.card;
  if (!card) throw new Error(`The card of ${change.id} was not posted yet`);
  return card;
}

/** An update names the state at the time of its event; a later state has its own update. */
function isCurrent({ change, after }: Told): boolean {
  return change.state === after.state;
}

async function sendThread(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const news = await told(context, job.key);
  if (!news || !isCurrent(news) || hasLostCard(news.change)) return 'done';
  await context.messenger.postThreadUpdate(news.change, await threadOf(context, news.change), job);
  return 'done';
}

function hasLostCard({ stopReason }: Change): boolean {
  return stopReason === 'card-deleted';
}

async function sendDirect(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const news = await told(context, job.key);
  if (!news || !isCurrent(news)) return 'done';
  const { messenger } = context;
  const { change } = news;
  if (!hasLostCard(change)) {
    await messenger.messageRequester(change, await threadOf(context, change), job);
    return 'done';
  }
  const why = 'was not run: its card was deleted. Request it again.';
  const text = `${changeTitle(change)} (${change.id}) ${why}`;
  await messenger.messageUser(change.requester, textAnswer('Not run', text));
  return 'done';
}

async function sendAudit(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const news = await told(context, job.key);
  if (!news) return 'done';
  const { event, nonce, change } = news;
  // Drawn as it was: each line is about one event.
  const shown = { ...news.after, card: change.card };
  await context.messenger.postAuditLine(shown, job, { nonce, event: breakGlassOf(event) });
  return 'done';
}

function breakGlassOf({ type }: Recorded<ChangeEvent>): BreakGlassEvent | null {
  if (type === 'break-glass') return 'used';
  return type === 'reviewed' ? 'reviewed' : null;
}

async function sendBreakGlass(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const news = await told(context, job.key);
  const event = news && breakGlassOf(news.event);
  if (!news || !event) return 'done';
  const at = await threadOf(context, news.change);
  await context.messenger.postBreakGlassUpdate(news.change, at, event, job);
  return 'done';
}

async function sendRevertStopped(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const news = await told(context, job.key);
  if (news?.event.type !== 'revert-kept') return 'done';
  const { why: kept } = news.event;
  const why = REVERT_STOP_REASONS.find((each) => each === kept) ?? 'unclear';
  const at = await threadOf(context, news.change);
  await context.messenger.postRevertStopped(news.change, at, why, job);
  return 'done';
}

async function sendFollowUp(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const [id = '', revision] = job.key.split('/');
  const change = await loadShown(context, id as ChangeId);
  // A later reading has its own message.
  if (!change?.followUp || String(change.followUp.revision) !== revision) return 'done';
  await context.messenger.postFollowUp(change, await threadOf(context, change), job);
  return 'done';
}

/** Plans a copy of a pending card for each new approver. Due again when more roles may decide. */
async function planDirectCards(context: WorkflowContext, { key }: JobTry): Promise<JobResult> {
  const { directCards, store, now } = context;
  const change = await loadChange(context.events, key as ChangeId);
  if (change?.state !== 'pending' || directCards === null) return 'done';
  const users = await directCards(change);
  const at = now().getTime();
  await transaction(store, async (tx) => {
    for (const user of users.filter((each) => !copyOf(change, each))) {
      await addJob(tx, { kind: 'direct-card', key: `${change.id}/${user}`, dueAt: at });
    }
  });
  const { requires, confirmedAt } = change;
  const escalatesAt = (confirmedAt?.getTime() ?? 0) + (requires.escalation?.afterMs ?? 0);
  if (requires.escalation === null || escalatesAt <= at) return 'done';
  return new Date(escalatesAt);
}

function copyOf({ copies }: Change, user: UserId): Position | null {
  return copies.findLast(({ to }) => to === user) ?? null;
}

/** Posts or redraws one copy. Nothing is posted for a change that was decided meanwhile. */
async function sendDirectCard(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const [id = '', user = ''] = job.key.split('/');
  const to = user as UserId;
  const change = await loadChange(context.events, id as ChangeId);
  if (!change) return 'done';
  const copy = copyOf(change, to);
  if (copy) return drawCopy(context, change, copy);
  if (change.state !== 'pending') return 'done';
  const at = await context.messenger.postDirectCard(change, to, job);
  await append(context.events, async (locked) => {
    const current = await loadChange(locked, change.id);
    if (!current || copyOf(current, to)) return { events: [], result: null };
    const { events, jobs } = move(context, locked.at, current, { type: 'copy-posted', to, ...at });
    // The change may have moved since the copy was drawn.
    const again = { kind: 'direct-card', key: job.key, dueAt: locked.at };
    return { events, jobs: [...jobs, again], result: null };
  });
  context.wake();
  return 'done';
}

/** A copy is no witness: it is drawn after one read, and a deleted one is not posted again. */
async function drawCopy(
  context: WorkflowContext,
  change: Change,
  at: Position,
): Promise<JobResult> {
  const seen = await context.messenger.readThread(at);
  if (!seen || (await isShown(context, change, seen.card, null))) return 'done';
  const marks = seen.card ? [seen.card] : [];
  const foreign = await foreignMarks(context.events, [change.id], marks);
  if (foreign.length > 0) {
    await answerForeign(context, change.id, foreign);
    return dueAgain(context);
  }
  await context.messenger.redrawCard(change, at);
  return 'done';
}

interface Reminding {
  readonly reminder: Reminder;
  /** Each wait is this many times the previous one, up to a day. */
  readonly factor: number;
  readonly most: number;
  readonly since: (change: Change) => Date | null;
}

// After 15 minutes, then less and less often, so that users keep reading them.
const REMINDERS: Readonly<Partial<Record<Change['state'], Reminding>>> = {
  pending: {
    reminder: 'waiting',
    factor: 3,
    most: 10,
    since: ({ confirmedAt }) => confirmedAt,
  },
  // The target stays locked until a user resolves the outcome.
  unknown: {
    reminder: 'unknown',
    factor: 4,
    most: 60,
    since: ({ outcome }) => outcome?.at ?? null,
  },
};

/** Reminds the people who have to act. Due again at the next reminder, until the change moves. */
async function remind(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const change = await loadChange(context.events, job.key as ChangeId);
  const reminding = change && REMINDERS[change.state];
  if (!change || !reminding) return 'done';
  const now = context.now();
  const { snoozedUntil } = change;
  if (snoozedUntil && now < snoozedUntil) return snoozedUntil;
  // Before the call, so that a slow answer of Slack does not postpone the next reminder.
  const next = nextReminder(change, reminding, now);
  const at = await threadOf(context, change);
  await context.messenger.postReminder(change, at, reminding.reminder, job);
  return next ?? 'done';
}

/** The reminder after this one, counted from the start of the state; null: there is none. */
export function nextReminder(
  change: Change,
  { factor, most, since }: Pick<Reminding, 'factor' | 'most' | 'since'>,
  now: Date,
): Date | null {
  // A delay must not cause two reminders at once.
  const earliest = now.getTime() + FIRST_REMINDER_MS / 2;
  let at = since(change)?.getTime() ?? now.getTime();
  for (let number = 1; number <= most; number += 1) {
    at += Math.min(FIRST_REMINDER_MS * factor ** (number - 1), DAY_MS);
    if (at < earliest) continue;
    // A pending change expires; an unknown outcome does not.
    const isLate = change.state === 'pending' && at >= change.expiresAt.getTime();
    return isLate ? null : new Date(at);
  }
  return null;
}

/** Asks the people who may decide as well after a while. */
async function escalate(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const change = await loadChange(context.events, job.key as ChangeId);
  if (change?.state !== 'pending' || context.now() >= change.expiresAt) return 'done';
  const at = await threadOf(context, change);
  await context.messenger.postReminder(change, at, 'escalated', job);
  return 'done';
}

/**
 * Offers a revert that a freeze blocked, once the freeze has ended. It never runs by itself later: users do not expect
 * it at another time. The offer waits for other freezes, and is left out where the target changed since.
 */
async function offerRevert(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const { events, now, messenger } = context;
  const change = await loadChange(events, job.key as ChangeId);
  if (change?.state !== 'denied' || !change.parent) return 'done';
  const { freezes } = await currentPolicy(context, events);
  const freeze = freezeFor(freezes, currentTarget(context, change.plan), now());
  if (freeze) return freeze.until;
  const parent = await loadChange(events, change.parent);
  if (!parent || !(await isUnchangedSince(context, parent))) return 'done';
  await messenger.postUnfreezeOffer(change, await threadOf(context, change), job);
  return 'done';
}

/** Reports in the thread of a schedule what became of it. */
async function sendScheduleNote(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const [id = '', version] = job.key.split('/');
  const { state } = await context.events.load(
    `schedule/${id}`,
    (before: ScheduleNews | null, event): ScheduleNews => {
      const schedule = evolveSchedule(before?.schedule ?? null, event);
      const isMeant = event.version === Number(version);
      return { schedule, event: isMeant ? event : (before?.event ?? null) };
    },
  );
  const text = state?.event && noteOf(state.event, state.schedule);
  const change = await loadChange(context.events, id as ChangeId);
  if (!text || !change) return 'done';
  await context.messenger.postThreadNote(text, await threadOf(context, change), job);
  return 'done';
}

interface ScheduleNews {
  readonly schedule: LoggedSchedule;
  readonly event: EventOf<`schedule/${string}`> | null;
}

function noteOf(
  event: EventOf<`schedule/${string}`>,
  { zone }: Pick<LoggedSchedule, 'zone'>,
): string | null {
  if (event.type === 'paused' && event.by === 'signalbox') {
    return `The schedule is paused: ${event.why}. Somebody who may request it can take it over.`;
  }
  if (event.type !== 'run' && event.type !== 'skipped') return null;
  const { verb, occurrence, missed } = event;
  const action = verb === 'start' ? verb : 'stop';
  const what = occurrenceText({ action, at: occurrence }, zone);
  const notes = [
    ...(event.type === 'skipped' ? [`Skipped the ${what}: ${event.why}.`] : []),
    ...(missed > 0 ? [`Earlier runs were missed: ${missed}.`] : []),
  ];
  return notes.length > 0 ? notes.join(' ') : null;
}

/** Says that a schedule expires soon, or has expired. One that was removed or replaced needs neither. */
async function remindOfSchedule(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const id = job.key as ChangeId;
  const { state: schedule } = await context.events.load(`schedule/${id}`, evolveSchedule);
  const change = await loadChange(context.events, id);
  if (!schedule || !change) return 'done';
  const { until, isRemoved, endedWhy } = schedule;
  if (isRemoved && endedWhy !== EXPIRED) return 'done';
  const hasExpired = isRemoved || context.now() >= until;
  const at = await threadOf(context, change);
  await context.messenger.postScheduleReminder(change, at, { until, hasExpired }, job);
  return 'done';
}
