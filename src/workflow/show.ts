import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import { PostRefused } from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  changeTitle,
  isChangeId,
  isEnded,
  isPerson,
  type Position,
} from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { foldOf } from '../domain/fold.ts';
import {
  type EventOf,
  evolveSchedule,
  type LoggedSchedule,
  type Recorded,
} from '../domain/log-events.ts';
import { freezeFor } from '../domain/policy.ts';
import { EXPIRED, occurrenceText } from '../domain/schedules.ts';
import { loadChange } from '../log/index.ts';
import type { Job } from '../storage/index.ts';
import {
  cardRefused,
  loadShown,
  planDirectCards,
  sendCard,
  sendDirectCard,
  wasRefused,
} from './cards.ts';
import { type BreakGlassEvent, REVERT_STOP_REASONS, type WorkflowContext } from './context.ts';
import type { JobKinds, JobResult, JobTry } from './jobs.ts';
import { eventsOf } from './moves.ts';
import { endNotice, endRefusedNotice, notify, notifyOnce, sendNotice } from './notices.ts';
import { isUnchangedSince } from './request.ts';
import { currentPolicy, currentTarget } from './target.ts';

// What people read: the card, its copies and its thread, the audit channel, reminders and notices. Each is a job that
// loads the change at that moment, so that a message never shows less than the log has.

/** What is said about one event of a change; where the log has no such event, nothing is. */
type SayEvent = (context: WorkflowContext, news: EventNews, job: JobTry) => Promise<void>;

const ABOUT_EVENTS: Readonly<Record<string, SayEvent>> = {
  thread: async (context, news, job) => {
    const reported = reportedOf(news);
    const at = reported && (await threadIfAny(context, reported));
    if (at) await context.messenger.postThreadUpdate(reported, at, job);
  },
  direct: async (context, news, job) => {
    const change = reportedOf(news);
    if (!change || !isPerson(change.requester)) return;
    const at = await threadIfAny(context, change);
    const shown = at ? change : { ...change, card: null };
    await context.messenger.messageRequester(shown, at, job);
  },
  // Drawn as it was: each line is about one event.
  audit: ({ messenger }, { change, after, event, nonce }, job) => {
    const about = { nonce, event: breakGlassOf(event) };
    return messenger.postAuditLine({ ...after, card: change.card }, job, about);
  },
  'break-glass': async (context, { change, event }, job) => {
    const used = breakGlassOf(event);
    if (!used) return;
    const at = await threadOf(context, change);
    await context.messenger.postBreakGlassUpdate(change, at, used, job);
  },
  'revert-stopped': async (context, { change, event }, job) => {
    if (event.type !== 'revert-kept') return;
    const why = REVERT_STOP_REASONS.find((each) => each === event.why) ?? 'unclear';
    await context.messenger.postRevertStopped(change, await threadOf(context, change), why, job);
  },
};

/** What is said about a change as it is now; a date: when it may have to be said again. */
type SayNow = (context: WorkflowContext, change: Change, job: JobTry) => Promise<Date | null>;

const ABOUT_CHANGES: Readonly<Record<string, SayNow>> = {
  /** The preview of what an agent asked for a person, in the direct messages of this person. */
  preview: async (context, { id }) => {
    const draft = await loadShown(context, id);
    const isMeant = draft?.state === 'draft' && isPerson(draft.requester);
    if (isMeant) await context.messenger.postPreview(draft);
    return null;
  },
  /** Reminds the people who have to act. Due again at the next reminder, until the change moves. */
  reminder: async (context, change, job) => {
    const moments = remindersOf(change, context.reminders);
    const [first] = moments;
    if (first === undefined) return null;
    const now = context.now().getTime();
    if (now < first) return new Date(first);
    const reminder = change.state === 'unknown' ? 'unknown' : 'waiting';
    await context.messenger.postReminder(change, await threadOf(context, change), reminder, job);
    // A delay must not cause two reminders at once.
    const next = moments.find((each) => each >= now + FIRST_REMINDER_MS / 2);
    return next === undefined ? null : new Date(next);
  },
  /** Asks the people who may decide as well after a while. */
  escalation: async (context, change, job) => {
    if (change.state !== 'pending' || context.now() >= change.expiresAt) return null;
    await context.messenger.postReminder(change, await threadOf(context, change), 'escalated', job);
    return null;
  },
  /**
   * Offers a revert that a freeze blocked, once the freeze has ended. It never runs by itself later: users do not expect
   * it at another time. The offer waits for other freezes, and is left out where the target changed since.
   */
  'unfreeze-offer': async (context, change, job) => {
    const { events, now, messenger } = context;
    if (change.state !== 'denied' || !change.parent) return null;
    const { freezes } = await currentPolicy(context, events);
    const freeze = freezeFor(freezes, currentTarget(context, change.plan), now());
    if (freeze) return freeze.until;
    const parent = await loadChange(events, change.parent);
    if (parent && (await isUnchangedSince(context, parent)))
      await messenger.postUnfreezeOffer(change, await threadOf(context, change), job);
    return null;
  },
  /** Says that a schedule expires soon, or has expired. One that was removed or replaced needs neither. */
  'schedule-reminder': async (context, change, job) => {
    const { state } = await context.events.load(`schedule/${change.id}`, evolveSchedule);
    if (!state || (state.isRemoved && state.endedWhy !== EXPIRED)) return null;
    const { until, isRemoved } = state;
    const ending = { until, hasExpired: isRemoved || context.now() >= until };
    const at = await threadOf(context, change);
    await context.messenger.postScheduleReminder(change, at, ending, job);
    return null;
  },
};

type Send = (context: WorkflowContext, job: JobTry) => Promise<JobResult>;

const sends = <Kind, Made>(kinds: Readonly<Record<string, Kind>>, as: (kind: Kind) => Made) =>
  Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, as(kind)]));

const SENDING_MS = 10_000;

const SENDS: Readonly<Record<string, Send>> = {
  card: sendCard,
  ...sends(ABOUT_EVENTS, (say) => async (context: WorkflowContext, job: JobTry) => {
    const news = await newsOf(context, job.key);
    // It may be sent at this moment.
    if (news?.event.type === 'not-sent' && news.change.state === 'executing')
      return { waitsUntil: new Date(context.now().getTime() + SENDING_MS) };
    if (news) await say(context, news, job);
    return 'done' as const;
  }),
  ...sends(ABOUT_CHANGES, (say) => async (context: WorkflowContext, job: JobTry) => {
    const change = await loadChange(context.events, job.key as ChangeId);
    return (change && (await say(context, change, job))) ?? 'done';
  }),
  'direct-cards': planDirectCards,
  'direct-card': sendDirectCard,
  'follow-up': sendFollowUp,
  'schedule-note': sendScheduleNote,
  notice: sendNotice,
};

/** The kinds of messages, by which lost ones are counted. */
export const MESSAGE_KINDS: readonly string[] = Object.keys(SENDS);

/** The jobs of messages. The card comes first, so that its thread and its copies find it. */
export function messageKinds(context: WorkflowContext): JobKinds {
  return Object.fromEntries(
    Object.entries(SENDS).map(([kind, send]) => [
      kind,
      {
        lane: 'messages',
        rank: kind === 'card' ? 0 : 1,
        run: (job) => send(context, job).catch((error) => refused(context, kind, job, error)),
        giveUp: (key) => giveUp(context, kind, key),
      } satisfies JobKinds[string],
    ]),
  );
}

/**
 * A message that Slack refused for good ends, and the operators read why; at a rate limit it waits. Where the app may
 * post nothing at all, it is retried, because a person can change that.
 */
async function refused(
  context: WorkflowContext,
  kind: string,
  { key }: JobTry,
  error: unknown,
): Promise<JobResult> {
  if (!(error instanceof PostRefused)) throw error;
  const { why, retryAfterMs, isOfApp } = error;
  if (retryAfterMs !== null) {
    return { waitsUntil: new Date(context.now().getTime() + retryAfterMs) };
  }
  if (kind === 'card') return cardRefused(context, key as ChangeId, why);
  const [subject] = key.split('/');
  const next = isOfApp ? 'retries it for 24 hours' : 'does not retry it';
  const text = `Slack refused a message of change ${subject} (${kind}): ${why}. Signalbox ${next}.`;
  if (kind !== 'notice')
    await notifyOnce(context, `${subject} ${kind} ${why}`, [{ to: null, title: 'Notice', text }]);
  if (isOfApp) throw error;
  context.log.error({ err: error, kind, key }, 'message was refused; it is not tried again');
  context.measures.messageLost(kind);
  if (kind === 'notice') await endRefusedNotice(context, key, why);
  return 'done';
}

/** Of a message that Slack has not taken for minutes the operators read, once an hour, and of a card its requester. */
export async function reportLate(
  context: WorkflowContext,
  { kind, key }: Pick<Job, 'kind' | 'key'>,
): Promise<void> {
  // A notice would report itself.
  if (kind === 'notice') return;
  const [id = ''] = key.split('/');
  const what = isChangeId(id) ? `${kind} of change ${id}` : `${kind} ${key}`;
  const retried = 'Signalbox retries it for 24 hours.';
  const text = `Slack has not taken a message for 2 minutes: ${what}. ${retried} The log has the reason.`;
  const hour = Math.floor(context.now().getTime() / HOUR_MS);
  await notifyOnce(context, `late ${hour}`, [{ to: null, title: 'Notice', text }]);
  const change = kind === 'card' ? await loadChange(context.events, id as ChangeId) : null;
  if (change?.state !== 'pending' || change.card) return;
  const own = `Nobody sees “${changeTitle(change)}” yet: Slack has not taken its card for 2 minutes. ${retried}`;
  await notifyOnce(context, `${id} late`, [
    { to: change.requester, title: `Change ${id}`, text: own },
  ]);
}

/** Ends the tries of a message: it is logged, counted and, except for a notice, reported. */
async function giveUp(context: WorkflowContext, kind: string, key: string): Promise<void> {
  context.log.error({ kind, key }, 'message was given up');
  context.measures.messageLost(kind);
  if (kind === 'notice') return endNotice(context, key, { type: 'given-up', why: UNANSWERED });
  const [subject] = key.split('/');
  const text =
    `Signalbox could not post a message of change ${subject} (${kind}) for 24 hours. ` +
    'It does not retry it any more. The log has the reason.';
  await notify(context, { to: null, title: 'Notice', text });
}

const UNANSWERED = 'Slack took it not once in a day.';

type EventNews = NonNullable<Awaited<ReturnType<typeof newsOf>>>;

/**
 * `7KQ2MX/4`: the fourth event of a change, the change now, and as it was after that event; null where the log has no
 * such event. `nonce`: of its last claim until then; null: it was never claimed.
 */
async function newsOf({ events }: WorkflowContext, key: string) {
  const [id = '', version = ''] = key.split('/');
  const all = await eventsOf(events, `change/${id}`);
  const until = all.slice(0, all.findIndex((each) => each.version === Number(version)) + 1);
  const after = until.reduce(foldOf(id as ChangeId), null);
  const event = until.at(-1);
  const claim = until.findLast(({ type }) => type === 'claimed');
  const change = await loadChange(events, id as ChangeId);
  if (!change || !after || !event) return null;
  return { change, event, after, nonce: claim?.type === 'claimed' ? claim.nonce : null };
}

/** Null: the change ended, and its card was deleted, or Slack refused it. */
async function threadIfAny(context: WorkflowContext, change: Change): Promise<Position | null> {
  const isRefused = !change.card && isEnded(change) && wasRefused(context, change.id);
  return isRefused || change.stopReason === 'card-deleted' ? null : threadOf(context, change);
}

/** The card in whose thread a change is reported: its own, or that of its schedule. */
async function threadOf({ events }: WorkflowContext, change: Change): Promise<Position> {
  const { schedule } = change.plan.timing ?? {};
  const above = !change.card && schedule ? await loadChange(events, schedule) : null;
  const card = change.card ?? above?.card;
  if (!card) throw new Error(`The card of ${change.id} was not posted yet`);
  return card;
}

/** An update names the state at the time of its event; a later state has its own update. Null: nothing is reported. */
function reportedOf({ change, after, event }: EventNews): Change | null {
  // A later cause has its own update.
  const newest = Math.max(...Object.values(change.notSent?.causes ?? {}));
  if (event.type === 'not-sent' && newest !== event.version) return null;
  // Who lowered it is news for the requester in any state, and why it was not sent until it is.
  const isWaiting = event.type === 'not-sent' && change.state === 'approved';
  if (event.type === 'narrowed' || isWaiting) return { ...after, card: change.card };
  const hasLate = ({ lateAnswer }: Change) => lateAnswer !== undefined;
  return change.state === after.state && hasLate(change) === hasLate(after) ? change : null;
}

function breakGlassOf({ type }: Recorded<ChangeEvent>): BreakGlassEvent | null {
  if (type === 'break-glass') return 'used';
  return type === 'reviewed' ? 'reviewed' : null;
}

async function sendFollowUp(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const [id = '', revision] = job.key.split('/');
  const change = await loadShown(context, id as ChangeId);
  // A later reading has its own message.
  if (!change?.followUp || String(change.followUp.revision) !== revision) return 'done';
  await context.messenger.postFollowUp(change, await threadOf(context, change), job);
  return 'done';
}

const FIRST_REMINDER_MS = 15 * MINUTE_MS;
const UNKNOWN_REMINDERS = 60;

/**
 * When people are reminded of a change, in milliseconds, the soonest first. A waiting change expires, so it has a
 * reminder at each share of its wait. An unknown outcome blocks its target until a user resolves it: after 15 minutes,
 * then less and less often, so that users keep reading them.
 */
export function remindersOf(
  { state, confirmedAt, expiresAt, outcome }: Change,
  shares: readonly number[],
): readonly number[] {
  if (state === 'pending' && confirmedAt) {
    const [from, until] = [confirmedAt.getTime(), expiresAt.getTime()];
    return shares.map((share) => from + share * (until - from));
  }
  let at = outcome?.at.getTime() ?? 0;
  return Array.from({ length: state === 'unknown' ? UNKNOWN_REMINDERS : 0 }, (_, number) => {
    at += Math.min(FIRST_REMINDER_MS * 4 ** number, DAY_MS);
    return at;
  });
}

/** Reports in the thread of a schedule what became of it. */
async function sendScheduleNote(context: WorkflowContext, job: JobTry): Promise<JobResult> {
  const [id = '', version] = job.key.split('/');
  const all = await eventsOf(context.events, `schedule/${id}`);
  const schedule = all.reduce<LoggedSchedule | null>(evolveSchedule, null);
  const event = all.find((each) => each.version === Number(version));
  const text = schedule && event && noteOf(event, schedule);
  const change = await loadChange(context.events, id as ChangeId);
  if (!text || !change) return 'done';
  await context.messenger.postThreadNote(text, await threadOf(context, change), job);
  return 'done';
}

function noteOf(
  event: EventOf<`schedule/${string}`>,
  { zone }: Pick<LoggedSchedule, 'zone'>,
): string | null {
  if (event.type === 'paused' && event.by === 'signalbox') {
    return `The schedule is paused: ${event.why}. Anyone who may request it can take it over.`;
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
