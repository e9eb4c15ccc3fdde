// What Signalbox applies itself: freezes and schedules. The effect is appended together with the outcome of its
// change, so that no outcome is unknown and nothing happens twice.

import { DAY_MS } from '../base/time.ts';
import { nextOccurrence, type Occurrence, readWeeklyPlan } from '../base/weekly-times.ts';
import type { ChangeCommand } from '../commands/index.ts';
import type { Change, ChangeId } from '../domain/change.ts';
import { scopeFrom } from '../domain/freezes.ts';
import {
  type EventOf,
  evolveFreeze,
  evolveSchedule,
  type LoggedSchedule,
  type NewEvent,
} from '../domain/log-events.ts';
import { EXPIRED, SCHEDULE_DAYS, type ServiceSchedule, timesOf } from '../domain/schedules.ts';
import { inForce, type LockedLog, type Subjects } from '../log/index.ts';
import type { Job } from '../storage/index.ts';
import type { DecisionContext } from './context.ts';
import { type Effects, eventsOf, job, MESSAGES_KEPT_MS } from './moves.ts';

/** What is appended with the `succeeded` of a change; or why it fails, for people. */
export type OwnEffect =
  | (Effects & { readonly ok: true })
  | { readonly ok: false; readonly text: string };

/**
 * What an operation of Signalbox itself does, by the plan of its change and by what is in force under the lock. Its
 * events are appended with the outcome of the change, in one transaction.
 */
export async function ownEvents(
  { commands }: Pick<DecisionContext, 'commands'>,
  locked: LockedLog,
  change: Change,
): Promise<OwnEffect> {
  const own = commands.get(change.command)?.own;
  return own ? EFFECTS[own](change, locked) : failure(`This release has no ${change.command}.`);
}

type OwnOperation = NonNullable<ChangeCommand['own']>;
type Effect = (change: Change, locked: LockedLog) => Promise<OwnEffect>;

const EFFECTS: Readonly<Record<OwnOperation, Effect>> = {
  freeze: makeFreeze,
  unfreeze: liftFreeze,
  // It is in force by its own events.
  allow: async () => effect([], []),
  schedule: beginSchedule,
  'schedule pause': onSchedule(({ requester: by, reason }) => {
    return { type: 'paused', by, why: reason ?? '' };
  }),
  'schedule resume': onSchedule(({ requester: by }) => ({ type: 'resumed', by })),
  'schedule remove': onSchedule(({ requester: by }) => ({ type: 'removed', by, why: 'removed' })),
};

function failure(text: string): OwnEffect {
  return { ok: false, text };
}

function effect(events: readonly NewEvent[], jobs: readonly Job[]): OwnEffect {
  return { ok: true, events, jobs };
}

async function makeFreeze(
  { id, plan, requester: by, reason }: Change,
  { at }: LockedLog,
): Promise<OwnEffect> {
  const [from, until] = [new Date(at), new Date(String(plan.body.until))];
  if (until <= from) return failure('freeze: until has passed');
  const scope = scopeFrom(plan.body);
  const made = { change: id, by, reason: reason ?? '', scope, from, until };
  const job = { kind: 'freeze', key: id, dueAt: until.getTime() };
  return effect([{ stream: `freeze/${id}`, event: { type: 'created', ...made } }], [job]);
}

async function liftFreeze(
  { id, plan, requester: by, createdAt }: Change,
  locked: LockedLog,
): Promise<OwnEffect> {
  // The plan took the id from the freeze, which has the id of its change.
  const key = String(plan.body.lift);
  const { state: freeze } = await locked.load(`freeze/${key}`, evolveFreeze);
  if (!freeze || freeze.isLifted || freeze.until.getTime() <= locked.at) {
    return failure('freeze: the freeze has ended or was lifted');
  }
  if (freeze.lost && freeze.lost.foundAt > createdAt) {
    return failure('freeze: Slack shows more of the lost freeze than the requester saw');
  }
  const event = { type: 'lifted', change: id, by } as const;
  const job = { kind: 'freeze', key, dueAt: locked.at };
  return effect([{ stream: `freeze/${key}`, event }], [job]);
}

/** The requester is reminded this long before the end. */
const REMIND_MS = 7 * DAY_MS;

/** Puts a schedule into force, in place of the one of that service. */
async function beginSchedule(change: Change, locked: LockedLog): Promise<OwnEffect> {
  const { id, plan, requester: by } = change;
  const at = new Date(locked.at);
  const service = { id: plan.target.id, name: plan.target.name };
  const replaced = [...(await inForce(locked, 'schedule', at))].filter(
    ([, schedule]) => schedule.service.id === service.id,
  );
  const until = new Date(locked.at + SCHEDULE_DAYS * DAY_MS);
  const times = timesOf({ fields: plan.body });
  const begun = { type: 'created', change: id, by, service, ...times, until } as const;
  const removed = { type: 'removed', by, why: `replaced by ${id}` } as const;
  const events = [
    ...replaced.map(([key]) => scheduleEvent(key, removed)),
    scheduleEvent(id, begun),
  ];
  const jobs = [
    ...replaced.map(([key]) => ({ kind: 'card', key, dueAt: locked.at })),
    { kind: 'schedule', key: id, dueAt: dueAt({ ...times, until }, at).getTime() },
    { kind: 'schedule-reminder', key: id, dueAt: until.getTime() - REMIND_MS },
  ];
  return effect(events, jobs);
}

/** The next occurrence of a schedule after a time; null after its end. */
export function nextRun(
  times: Pick<ServiceSchedule, 'stop' | 'start' | 'zone' | 'until'>,
  after: Date,
): Occurrence | null {
  const next = nextOccurrence(readWeeklyPlan(times), after);
  return next && next.at < times.until ? next : null;
}

/** When a schedule has to do something next: its next occurrence after this time, but not after its end. */
export function dueAt(times: Parameters<typeof nextRun>[0], after: Date): Date {
  return nextRun(times, after)?.at ?? times.until;
}

export function scheduleEvent(id: string, event: EventOf<`schedule/${string}`>): NewEvent {
  return { stream: `schedule/${id}`, event };
}

type ScheduleEvent = EventOf<`schedule/${string}`>;

/** What people do to a schedule that is in force or paused. */
function onSchedule(eventOf: (change: Change) => ScheduleEvent): Effect {
  return async (change, locked) => {
    const { at } = locked;
    // The plan took the id from the schedule, which has the id of its change.
    const id = String(change.plan.body.schedule);
    const { state } = await locked.load(`schedule/${id}`, evolveSchedule);
    if (!state || state.isRemoved || state.until.getTime() <= at) return failure(ENDED);
    const event = eventOf(change);
    // What was due while it was paused does not run.
    const next = dueAt(state, new Date(at)).getTime();
    const resumed = event.type === 'resumed' ? [{ kind: 'schedule', key: id, dueAt: next }] : [];
    return effect([scheduleEvent(id, event)], [{ kind: 'card', key: id, dueAt: at }, ...resumed]);
  };
}

const ENDED = 'schedule: schedule has ended';

/** What is due for a freeze or a schedule, computed from its events alone, as `signalbox rebuild` needs it. */
export async function ownJobs(
  subjects: Subjects,
  stream: `freeze/${string}` | `schedule/${string}`,
  now: Date,
): Promise<readonly Job[]> {
  const [kind = '', key = ''] = stream.split('/');
  if (kind === 'schedule') return scheduleJobs(subjects, key, now);
  const { state: freeze } = await subjects.load(`freeze/${key}`, evolveFreeze);
  if (!freeze) return [];
  return [{ kind, key, dueAt: freeze.isLifted ? now.getTime() : freeze.until.getTime() }];
}

async function scheduleJobs(subjects: Subjects, key: string, now: Date): Promise<readonly Job[]> {
  const isRecent = (at: number) => now.getTime() - at < MESSAGES_KEPT_MS;
  const events = await eventsOf(subjects, `schedule/${key}`);
  const schedule = events.reduce<LoggedSchedule | null>(evolveSchedule, null);
  if (!schedule) return [];
  const { isRemoved, endedWhy, isPaused, until, since } = schedule;
  const next = isPaused ? until : dueAt(schedule, since);
  const remindAt = until.getTime() - (isRemoved ? 0 : REMIND_MS);
  const isReminded = (!isRemoved || endedWhy === EXPIRED) && isRecent(remindAt);
  return [
    ...(isRemoved ? [] : [{ kind: 'schedule', key, dueAt: next.getTime() }]),
    ...(isReminded ? [{ kind: 'schedule-reminder', key, dueAt: remindAt }] : []),
    ...events
      .filter((each) => isNoted(each) && isRecent(each.at))
      .map((each) => noteJob(key, each)),
  ];
}

/** Whether the thread of the card says something about an event of a schedule. */
export function isNoted(event: EventOf<`schedule/${string}`>): boolean {
  if (event.type === 'run') return event.missed > 0;
  return event.type === 'skipped' || (event.type === 'paused' && event.by === 'signalbox');
}

/** The note about the event of a schedule with this version. */
export function noteJob(
  schedule: string,
  { version, at }: { readonly version: number; readonly at: number },
): Job {
  return { kind: 'schedule-note', key: `${schedule}/${version}`, dueAt: at };
}

/** Pauses a schedule that runs, with a note in its thread; null if there is none. */
export async function pausedSchedule(
  locked: LockedLog,
  id: ChangeId,
  why: string,
): Promise<(Effects & { readonly schedule: LoggedSchedule }) | null> {
  const { state: schedule, version } = await locked.load(`schedule/${id}`, evolveSchedule);
  if (!schedule || schedule.isPaused || schedule.isRemoved) return null;
  if (schedule.until.getTime() <= locked.at) return null;
  const events = [scheduleEvent(id, { type: 'paused', by: 'signalbox', why })];
  const note = noteJob(id, { version: version + 1, at: locked.at });
  return { events, jobs: [job('card', id, locked.at), note], schedule };
}
