import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Cache } from '../base/cache.ts';
import { MINUTE_MS } from '../base/time.ts';
import { decidingRoles } from '../domain/approvals.ts';
import {
  type Change,
  type ChangeId,
  isPrivate,
  type Position,
  type RoleName,
  type UserId,
} from '../domain/change.ts';
import { gate } from '../domain/gate.ts';
import { evolveSchedule } from '../domain/log-events.ts';
import { append, loadChange, type Subjects } from '../log/index.ts';
import { addJobs, transaction } from '../storage/index.ts';
import type {
  CardMark,
  DecisionContext,
  DirectRecipients,
  Messenger,
  PostAttempt,
  ScheduleNews,
  SeenThread,
  WorkflowContext,
} from './context.ts';
import { withFollowUp } from './follow.ts';
import type { JobResult, JobTry } from './jobs.ts';
import { advance, eventsOf, job, NOTHING, type StepAnswer } from './moves.ts';
import { endHopeless, newsChangeAt, newsRevision, withNews } from './news.ts';
import { notifyOnce } from './notices.ts';
import { nextRun } from './own.ts';
import { pausedWithoutCard } from './schedules.ts';
import { answerForeign, drawOther, isUnread } from './witness.ts';

// The card of a change, in its channel and as copies in direct messages.

/** Slack accepts an answer to a press for longer, but people wait for it. */
export const DRAWN_WITHIN_MS = 3_000;
const POLL_MS = 100;

/**
 * Resolves when everyone can see a change as it is now, or after 3 s: a person reads the result of a press after
 * the card shows it. A card that does not stand yet is posted by its job alone, which is waited for. Returns the
 * change with its card.
 */
export async function afterDrawn(context: WorkflowContext, change: Change): Promise<Change> {
  const ended = new AbortController();
  const late = wait(DRAWN_WITHIN_MS, null, { ref: false, signal: ended.signal });
  const { id: key } = change;
  const drawn = drawSoon(context, change, ended.signal).catch(async (err: unknown) => {
    context.log.warn({ err, change: key }, 'card was not drawn before the answer to a press');
    // Its job tries again now, and reports what Slack refuses.
    const dueAt = context.now().getTime();
    await transaction(context.store, (tx) => addJobs(tx, job('card', key, dueAt)));
    context.wake();
    return null;
  });
  // The wait is aborted at the end.
  const card = await Promise.race([drawn, late.catch(() => null)]);
  ended.abort();
  return { ...change, card: card ?? change.card };
}

async function drawSoon(
  context: WorkflowContext,
  change: Change,
  ended: AbortSignal,
): Promise<Position | null> {
  const { id } = change;
  let current: Change | null = change;
  while (!ended.aborted) {
    if (!current || isPrivate(current)) return null;
    if (current.card) {
      await inTurn(context, id, () => drawCard(context, id, { again: false }));
      return current.card;
    }
    await wait(POLL_MS, undefined, { ref: false });
    current = await loadChange(context.events, id);
  }
  return null;
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

/** The job of a card: it is posted, or drawn as the change is now. */
export function sendCard(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const id = job.key as ChangeId;
  return inTurn(context, id, () => drawCard(context, id, job));
}

/** Slack refused a card for good: requester and operators read why, and the approvers get the card directly. */
export async function cardRefused(
  context: WorkflowContext,
  id: ChangeId,
  why: string,
): Promise<JobResult> {
  const change = await loadChange(context.events, id);
  if (!change) return 'done';
  context.log.error({ change: id, why }, 'card was refused; it is not tried again for now');
  context.measures.messageLost('card');
  const { card, requester, state, command, plan } = change;
  const isOpen = state === 'pending' && !card;
  const failed = `could not be ${card ? 'updated' : 'posted'}: ${why}.`;
  const notified = isOpen ? 'The operators and the approvers were' : 'The operators were';
  const own = `The card of “${command} ${plan.target.name}” ${failed} ${notified} notified.`;
  const next = 'Signalbox tries it again every hour while the change is open.';
  await notifyOnce(context, `${id} card ${why}`, [
    { to: null, title: 'Notice', text: `The card of change ${id} ${failed} ${next}` },
    { to: requester, title: `Change ${id}`, text: own },
  ]);
  const known = refusals.get(context.events) ?? new Cache<ChangeId, number>(REFUSED_MAX);
  refusals.set(context.events, known);
  if (!card) known.set(id, context.now().getTime());
  if (isOpen) await planCopies(context, change);
  context.wake();
  return 'done';
}

/** Posts the card of a change, or draws it as the change is now. */
async function drawCard(
  context: WorkflowContext,
  id: ChangeId,
  attempt: PostAttempt,
): Promise<JobResult> {
  // The card may stand in Slack, and the log have lost that it was posted.
  if (isUnread(context)) return dueAgain(context);
  const change = await loadChange(context.events, id);
  if (!change || isPrivate(change)) return 'done';
  const { schedule } = change.plan.timing ?? {};
  // A run stands on the card of its schedule. Only an unknown outcome needs buttons of its own.
  if (schedule && !change.card && change.state !== 'unknown') {
    return drawCard(context, schedule, { again: false });
  }
  if (change.card) return drawStanding(context, change, change.card);
  await askForCopies(context, change);
  if (wasRefused(context, id)) return 'done';
  const shown = await surrounded(context, change);
  if (await endHopeless(context, shown)) return drawCard(context, id, attempt);
  const at = await context.messenger.postCard(shown, attempt);
  const moved = await advance(context, id, (now) =>
    now.card || isPrivate(now) ? null : { type: 'card-posted', ...at },
  );
  // After a rollback, another process may have found the card that stands already, or the confirmation is lost.
  if (moved === null) await drawOther(context, id, at);
  return 'done';
}

/** A refused card is tried again by the hourly check, not at each event of its change. */
const REFUSED_FOR_MS = 50 * MINUTE_MS;
const REFUSED_MAX = 1_000;
const refusals = new WeakMap<DecisionContext['events'], Cache<ChangeId, number>>();

/** Slack refused the card of a change for now. */
export function wasRefused({ events, now }: WorkflowContext, id: ChangeId): boolean {
  const at = refusals.get(events)?.get(id);
  return at !== undefined && now().getTime() - at < REFUSED_FOR_MS;
}

/** The change with what was read of its target, and what surrounds it now. */
export async function loadShown(context: WorkflowContext, id: ChangeId): Promise<Change | null> {
  const change = await loadChange(context.events, id);
  return change && surrounded(context, change);
}

async function surrounded(context: WorkflowContext, change: Change): Promise<Change> {
  return withNews(context, await withFollowUp(context, change));
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
  let afterDrawing = (_: Change, __: SeenThread): JobResult | null => null;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const recent = readLately(context, at);
    const seen = recent ?? (await readNow(context, at));
    if (!seen) return cardDeleted(context, change.id, at);
    // The change may have moved while Slack was read, and another process have drawn that before.
    const loaded = recent && round === 0 ? change : await loadChange(context.events, change.id);
    if (!loaded) return 'done';
    const drawn = afterDrawing(loaded, seen);
    if (drawn) return drawn;
    if (await answerForeign(context, loaded, [seen.card, ...seen.notes])) return dueAgain(context);
    const asOf = context.now();
    const current = await surrounded(context, loaded);
    if (await endHopeless(context, current)) continue;
    const schedule = await scheduleNews(context, current);
    const revision = revisionOf(current, schedule);
    const shown = schedule ? [schedule.mark.hash] : current.shownBy;
    const again = newsChangeAt(current, asOf) ?? 'done';
    if (isUpToDate(shown, seen.card, revision)) return again;
    afterDrawing = (moved, { card, notes }) => {
      const areKnown = notes.every(({ hash }) => current.marks.includes(hash));
      const isAsDrawn = moved.hash === current.hash && moved.child?.state === current.child?.state;
      return areKnown && isAsDrawn && isUpToDate(shown, card, revision) ? again : null;
    };
    if (round === ROUNDS) break;
    await askForCopies(context, current);
    const place = await context.messenger.redrawCard(current, at, schedule, revision);
    if (place === 'deleted') return cardDeleted(context, change.id, at);
    if (place !== 'drawn') {
      // From now on the buttons of this reply count.
      await advance(context, change.id, ({ states = [] }) =>
        states.some(({ ts }) => ts === place.ts) ? null : { type: 'state-posted', ...place },
      );
    }
    lastReads.get(context.events)?.delete(keyOf(at));
  }
  return dueAgain(context);
}

/** A card that this process has just read is not read again before the next drawing. */
const READ_VALID_MS = 5_000;
const READS_MAX = 500;

interface Read {
  readonly seen: SeenThread;
  readonly at: number;
}
const lastReads = new WeakMap<DecisionContext['events'], Cache<string, Read>>();

function keyOf({ channel, ts }: Position): string {
  return `${channel}/${ts}`;
}

function readLately({ events }: WorkflowContext, at: Position): SeenThread | null {
  const read = lastReads.get(events)?.get(keyOf(at));
  return read && performance.now() - read.at < READ_VALID_MS ? read.seen : null;
}

async function readNow(
  { events, messenger }: WorkflowContext,
  at: Position,
): Promise<SeenThread | null> {
  const seen = await messenger.readCard(at);
  const reads = lastReads.get(events) ?? new Cache<string, Read>(READS_MAX);
  lastReads.set(events, reads);
  if (seen) reads.set(keyOf(at), { seen, at: performance.now() });
  else reads.delete(keyOf(at));
  return seen;
}

function dueAgain({ now }: WorkflowContext): Date {
  return new Date(now().getTime() + AGAIN_MS);
}

/** Whether a message with this mark shows the last event that a card shows, and what is drawn without an event. */
function isUpToDate(shown: readonly string[], mark: CardMark | null, revision: string): boolean {
  return (mark?.revision ?? NO_REVISION) === revision && shown.includes(mark?.hash ?? '');
}

/** Changes whenever the card is drawn differently without an event of the change; the mark names it as well. */
function revisionOf(change: Change, schedule: ScheduleNews | null): string {
  const { child, followUp, isOver } = change;
  const shown = [
    ...(child ? [child.state] : []),
    ...(followUp ? [followUp.revision] : []),
    ...(isOver ? ['over'] : []),
    ...newsRevision(change),
    ...(schedule ? [schedule] : []),
  ];
  return shown.length === 0 ? NO_REVISION : hash('sha256', JSON.stringify(shown)).slice(0, 12);
}

const NO_REVISION = '';

/** What became of the schedule that a change made; null for any other change. */
export async function scheduleNews(
  { events, now }: Pick<WorkflowContext, 'events' | 'now'>,
  { id, plan, state }: Change,
): Promise<ScheduleNews | null> {
  if (plan.target.kind !== 'schedule' || state !== 'succeeded') return null;
  const { state: schedule, version, hash } = await events.load(`schedule/${id}`, evolveSchedule);
  if (!schedule || !hash) return null;
  const { zone, isPaused, isRemoved, until, last } = schedule;
  const hasEnded = isRemoved || now() >= until;
  const run = last?.change ? await loadChange(events, last.change) : null;
  return {
    ...{ mark: { version, hash }, zone, isPaused, hasEnded },
    next: isPaused || hasEnded ? null : nextRun(schedule, now()),
    last: last && {
      occurrence: { action: last.verb === 'start' ? 'start' : 'stop', at: last.occurrence },
      run: run && { id: run.id, state: run.state },
      skipped: last.skipped,
    },
  };
}

/** Requests the copies of these users, to be posted or drawn. */
async function askForCopies(
  { store, now }: WorkflowContext,
  { id, copies }: Change,
  users: readonly UserId[] = copies.map(({ to }) => to),
): Promise<void> {
  if (users.length === 0) return;
  const dueAt = now().getTime();
  const jobs = users.map((user) => ({ kind: 'direct-card', key: `${id}/${user}`, dueAt }));
  await transaction(store, (tx) => addJobs(tx, ...jobs));
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
  context.log.warn({ change: id }, 'card was deleted');
  await append(context.events, async (locked) => {
    const change = await loadChange(locked, id);
    const isSchedule = change?.state === 'succeeded' && change.plan.target.kind === 'schedule';
    const isGone = isSchedule && change.card?.ts === at.ts;
    return { ...(isGone ? await pausedWithoutCard(locked, id) : NOTHING), result: null };
  });
  await advance(context, id, (change, locked) =>
    change.card?.ts === at.ts ? afterDeletion(context, locked, change) : null,
  );
  return 'done';
}

async function afterDeletion(
  { now }: WorkflowContext,
  locked: Subjects,
  change: Change,
): Promise<StepAnswer> {
  const { state, approvals } = change;
  if (state === 'executing') return null;
  const isUndecided = state === 'pending' && approvals.length === 0;
  const events = isUndecided ? await eventsOf(locked, `change/${change.id}`) : [];
  const isFirst = isUndecided && !events.some(({ type }) => type === 'card-lost');
  if (isFirst || state === 'unknown') return { type: 'card-lost' };
  return gate(change, 'distrust', { now: now(), why: 'card-deleted' });
}

/** The job of the copies of a pending card: one for each new approver. Due again when more roles may decide. */
export async function planDirectCards(
  context: WorkflowContext,
  { key }: JobTry,
): Promise<JobResult> {
  const change = await loadChange(context.events, key as ChangeId);
  if (change?.state !== 'pending' || !context.directCards.onRequest) return 'done';
  await planCopies(context, change);
  const { requires, confirmedAt } = change;
  const waitMs = requires.escalation?.afterMs ?? 0;
  const escalatesAt = new Date((confirmedAt?.getTime() ?? 0) + waitMs);
  return escalatesAt > context.now() ? escalatesAt : 'done';
}

async function planCopies(context: WorkflowContext, change: Change) {
  const users = await context.directCards.of(change);
  const missing = users.filter((user) => !copyOf(change, user));
  return askForCopies(context, change, missing);
}

function copyOf({ copies }: Change, user: UserId): Position | null {
  return copies.findLast(({ to }) => to === user) ?? null;
}

/** Posts or redraws one copy. Nothing is posted for a change that was decided meanwhile. */
export async function sendDirectCard(context: WorkflowContext, tried: JobTry): Promise<JobResult> {
  const [id = '', user = ''] = tried.key.split('/');
  const to = user as UserId;
  const change = await loadShown(context, id as ChangeId);
  if (!change) return 'done';
  const copy = copyOf(change, to);
  if (copy) return drawCopy(context, change, copy);
  if (change.state !== 'pending') return 'done';
  const at = await context.messenger.postDirectCard(change, to, tried);
  await advance(
    context,
    change.id,
    (current) => (copyOf(current, to) ? null : { type: 'copy-posted', to, ...at }),
    // The change may have moved since the copy was drawn.
    (_, { at: dueAt }) => ({ events: [], jobs: [job('direct-card', tried.key, dueAt)] }),
  );
  return 'done';
}

/** A copy is no witness: it is drawn after one read, and a deleted one is not posted again. */
async function drawCopy(
  context: WorkflowContext,
  change: Change,
  at: Position,
): Promise<JobResult> {
  const seen = await context.messenger.readCard(at);
  if (!seen) return 'done';
  if (await answerForeign(context, change, [seen.card])) return dueAgain(context);
  const revision = revisionOf(change, null);
  if (isUpToDate(change.shownBy, seen.card, revision)) return 'done';
  await context.messenger.redrawCard(change, at, null, revision);
  return 'done';
}

/** Of more approvers in one role, these many are looked up; the others read the channel. */
const MOST = 20;

interface RecipientOptions {
  readonly notify: 'channel' | 'dm' | 'both';
  /** Some active users of a role; null where Slack does not answer. */
  readonly someOf: (role: RoleName, enough: number) => Promise<readonly UserId[] | null>;
  readonly messenger: Pick<Messenger, 'absentAmong'>;
  readonly now: () => Date;
}

/**
 * Finds the users who may approve: with `dm` those who cannot see the card in its channel, with `both`
 * all, with `channel` nobody who has a card in its channel. Nobody where Slack does not answer, because the card
 * in the channel remains. Source: docs/slack.md#notifications.
 */
export function directRecipients(options: RecipientOptions): DirectRecipients {
  const { notify, someOf, messenger, now } = options;
  const of = async (change: Change) => {
    const { card, requires, requester, approvals } = change;
    if (notify === 'channel' && card) return [];
    const roles = decidingRoles(change, now());
    const found = await Promise.all(roles.map(async (role) => (await someOf(role, MOST)) ?? []));
    const all = new Set(found.flatMap((some) => some.slice(0, MOST)));
    for (const { by } of approvals) all.delete(by);
    if (!requires.self) all.delete(requester);
    const able = [...all];
    const isSeen = card !== null && !card.channel.startsWith('D');
    if (notify === 'both' || !isSeen || able.length === 0) return able;
    return (await messenger.absentAmong(card.channel, able)) ?? [];
  };
  return { onRequest: notify !== 'channel', of };
}
