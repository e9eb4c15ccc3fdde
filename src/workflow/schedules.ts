import type { Json } from '../base/text.ts';
import { dayOf, instantAt, localDay, MINUTE_MS } from '../base/time.ts';
import { occurrencesBetween, readWeeklyPlan } from '../base/weekly-times.ts';
import { decidedChanges } from '../commands/index.ts';
import { oneLineOf } from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  type Refusal,
  type Target,
  targetKey,
} from '../domain/change.ts';
import { inheritChange } from '../domain/draft.ts';
import { START_GRACE_MS } from '../domain/fold.ts';
import { type ClaimFacts, gate, type Skipped } from '../domain/gate.ts';
import {
  type EventOf,
  evolveHolders,
  evolveSchedule,
  type LoggedSchedule,
} from '../domain/log-events.ts';
import { EXPIRED, type ScheduleService, scheduleCommandLine } from '../domain/schedules.ts';
import { wordOf } from '../domain/words.ts';
import {
  append,
  inForce,
  type LockedLog,
  loadChange,
  type NewEvents,
  type Subjects,
} from '../log/index.ts';
import type { DecisionContext, WorkflowContext } from './context.ts';
import type { JobResult } from './jobs.ts';
import {
  begin,
  type Effects,
  eventsOf,
  job,
  type Moves,
  move,
  NOTHING,
  noteMoved,
  together,
  unusedId,
} from './moves.ts';
import { noticeFor } from './notices.ts';
import { dueAt, isNoted, nextRun, noteJob, pausedSchedule, scheduleEvent } from './own.ts';
import { type PlannedLine, planLine } from './request.ts';
import { currentPolicy, currentTarget, targetChanges } from './target.ts';

/** Lists the schedules of services. `own.ts` puts them into force, pauses and removes them. */
export function createScheduleService({ events, people, now }: DecisionContext): ScheduleService {
  const all = async () =>
    [...(await inForce(events, 'schedule', now())).values()]
      .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      .map((schedule) => {
        return { ...schedule, next: schedule.isPaused ? null : nextRun(schedule, now()) };
      });
  return {
    all,
    of: async (id) => (await all()).find(({ service }) => service.id === id) ?? null,
    zoneOf: (by) => people.zoneOf(by),
  };
}

/** The job of a schedule: its next occurrence becomes a change, or is skipped with a note; at its end it expires. */
export async function runSchedule(context: WorkflowContext, id: ChangeId): Promise<JobResult> {
  const { events, now } = context;
  const { state: schedule } = await events.load(`schedule/${id}`, evolveSchedule);
  const approved = await loadChange(events, id);
  if (!schedule || !approved || schedule.isRemoved) return 'done';
  const due = dueRun(schedule, now());
  const run = due && { ...due, planned: await planRun(context, approved, due) };
  const { result } = await append(events, (locked) => recordRun(context, locked, approved, run));
  if (result.run) noteMoved(context, null, result.run);
  context.wake();
  return result.next;
}

type DueRun = NonNullable<ReturnType<typeof dueRun>>;

/** The last occurrence that is due: earlier ones were missed. Those up to `since` were handled. */
function dueRun(schedule: LoggedSchedule, now: Date) {
  const { isPaused, since, until, zone } = schedule;
  if (isPaused) return null;
  const last = new Date(Math.min(now.getTime(), until.getTime()));
  const due = occurrencesBetween(readWeeklyPlan(schedule), since, last);
  const occurrence = due.at(-1);
  return occurrence ? { occurrence, missed: due.length - 1, zone, since } : null;
}

const GONE = 'Signalbox does not know the service any more';

/** Plans the change of an occurrence from the current state of the service, or says why it is skipped. */
async function planRun(
  context: WorkflowContext,
  approved: Change,
  { occurrence, zone }: DueRun,
): Promise<PlannedLine | string> {
  const service: Target = { ...approved.plan.target, kind: 'service' };
  const target = currentTarget(context, { ...approved.plan, target: service });
  const { events, now } = context;
  const { at, action } = occurrence;
  const midnight = instantAt(localDay(at, zone), '00:00', zone);
  const key = targetKey({ organization: approved.organization, plan: { target } });
  const run = { schedule: approved.id, command: `service ${action}` };
  const holders = await holdersOf(events, key);
  // The opposite of an unknown run may run.
  const unknown = holders.find((one) => one.state === 'unknown' && !isOpposite(one, run));
  const facts = {
    ...{ now: now(), at, target, unknown: unknown?.id ?? null },
    policy: await currentPolicy(context, events),
    changedBy: await manualChangeSince(events, key, midnight),
    changedElsewhere: await wasChangedElsewhere(context, target, midnight),
  };
  const answer = gate(null, 'run', facts);
  if (answer !== 'allowed') return wordsOf(answer);
  const planned = await planLine(context, `${run.command} ${target.id}`, target);
  if (!planned) return GONE;
  const { before } = planned.plan;
  const isDone = planned.command.noEffect?.(planned.args, before);
  return isDone ? `the service is ${wordOf(String(before?.fields.state))} already` : planned;
}

async function holdersOf(subjects: Subjects, key: string): Promise<readonly Change[]> {
  const { state } = await subjects.load(`target/${key}`, evolveHolders);
  const all = (state ?? []).map((id) => loadChange(subjects, id as ChangeId));
  return (await Promise.all(all)).filter((each) => each !== null);
}

/** Whether the holder is the run of the same schedule in the other direction. */
function isOpposite(
  { plan, command }: Change,
  run: { readonly schedule: ChangeId; readonly command: string },
): boolean {
  return plan.timing?.schedule === run.schedule && command !== run.command;
}

/** The last change of the target that was sent since a time and is no run of a schedule. */
async function manualChangeSince(
  events: Subjects,
  key: string,
  since: Date,
): Promise<ChangeId | null> {
  const sent = (await targetChanges(events, key)).filter((each) => each.since >= since);
  for (const { change: id } of sent.toReversed()) {
    const change = await loadChange(events, id);
    // With an unknown outcome, the request may have been applied.
    const isSent = change?.state === 'succeeded' || change?.state === 'unknown';
    if (change && isSent && !change.plan.timing?.schedule) return change.id;
  }
  return null;
}

const REASON_MAX = 100;

function wordsOf(skipped: Skipped): string {
  switch (skipped.skips) {
    case 'late':
      return 'Signalbox could not run it within an hour';
    case 'frozen':
      return `a freeze holds (${oneLineOf(skipped.freeze.reason, REASON_MAX)})`;
    case 'outcome-unknown':
      return `the outcome of change ${skipped.change} is unknown`;
    case 'changed':
      return `a person changed the service on that day (${skipped.change})`;
    case 'changed-elsewhere':
      return 'the service was changed outside Signalbox on that day';
  }
}

/** By the activity log, where it can be read. The schedule does not depend on it. */
async function wasChangedElsewhere(
  { commandContext, now }: WorkflowContext,
  { id: serviceId, organization }: Target,
  since: Date,
): Promise<boolean> {
  const period = { from_date: dayOf(since), to_date: dayOf(now()) };
  const how = { fresh: true, ...(organization && { organization: organization.id }) };
  const read = await commandContext().reads.cloud.activities(period, how);
  if (!read.known) return false;
  return decidedChanges(read.value).some(
    ({ createdAt, serviceId: of, isOwnKey }) =>
      of === serviceId && !isOwnKey && Date.parse(createdAt ?? '') >= since.getTime(),
  );
}

/** Decides again under the lock, because people and other processes may have acted meanwhile. */
async function recordRun(
  context: WorkflowContext,
  locked: LockedLog,
  approved: Change,
  planned: PlannedRun | null,
): Promise<NewEvents<{ readonly next: JobResult; readonly run: Change | null }>> {
  const { id } = approved;
  const { at } = locked;
  const { state: schedule, version } = await locked.load(`schedule/${id}`, evolveSchedule);
  if (!schedule || schedule.isRemoved) return { events: [], result: { next: 'done', run: null } };
  const { isPaused, since, until } = schedule;
  const isCurrent = !isPaused && planned?.since.getTime() === since.getTime();
  const handled = isCurrent ? await handle(context, locked, approved, planned, version + 1) : null;
  const run = handled?.run ?? null;
  if (at >= until.getTime()) {
    const expired = scheduleEvent(id, { type: 'removed', by: 'signalbox', why: EXPIRED });
    const jobs = [job('card', id, at), job('schedule-reminder', id, at)];
    return { ...together(handled, { events: [expired], jobs }), result: { next: 'done', run } };
  }
  // Not from now on: another occurrence may have become due while this one was planned.
  const from = isCurrent ? planned.occurrence.at : since;
  // A paused schedule only waits for its end.
  return { ...together(handled), result: { next: isPaused ? until : dueAt(schedule, from), run } };
}

interface PlannedRun extends DueRun {
  readonly planned: PlannedLine | string;
}

async function handle(
  context: WorkflowContext,
  locked: LockedLog,
  approved: Change,
  { occurrence: { action: verb, at: occurrence }, missed, planned }: PlannedRun,
  version: number,
): Promise<Effects & { readonly run: Change | null }> {
  const { id: schedule } = approved;
  const { at } = locked;
  const about = { verb, occurrence, missed };
  const recorded = (event: EventOf<`schedule/${string}`>): Effects => {
    const notes = isNoted(event) ? [noteJob(schedule, { version, at })] : [];
    const jobs = [job('card', schedule, at), ...notes];
    return { events: [scheduleEvent(schedule, event)], jobs };
  };
  if (typeof planned === 'string')
    return { ...recorded({ type: 'skipped', why: planned, ...about }), run: null };
  const timing = { startAt: occurrence.toISOString(), revert: null, schedule };
  const run = inheritChange(approved, {
    ...{ command: planned.command.name, plan: { ...planned.plan, timing }, parent: null },
    ...{ notBefore: occurrence, expiresAt: new Date(occurrence.getTime() + START_GRACE_MS) },
  });
  const begun = begin(context, at, await unusedId(context, locked), run);
  const { id: change } = begun.change;
  return { ...together(begun, recorded({ type: 'run', change, ...about })), run: begun.change };
}

/** The schedule of a run, for its claim; `unknown`: there is none. Null for any other change. */
export async function scheduleFacts(
  subjects: Subjects,
  { plan }: Change,
): Promise<ClaimFacts['schedule']> {
  const id = plan.timing?.schedule;
  if (!id) return null;
  const { state } = await subjects.load(`schedule/${id}`, evolveSchedule);
  return state ?? 'unknown';
}

/** A run may pass the lock of its schedule's own unknown run this long after the lease of that run. */
const PASS_AFTER_MS = 10 * MINUTE_MS;

/**
 * The unknown run of the same schedule whose lock the opposite run passes; null if there is none: a stop with an
 * unknown outcome does not prevent the start of the next morning.
 */
export async function mayPassLock(locked: LockedLog, change: Change): Promise<ChangeId | null> {
  const { schedule } = change.plan.timing ?? {};
  if (!schedule) return null;
  const holders = (await holdersOf(locked, targetKey(change))).filter(({ id }) => id !== change.id);
  for (const holder of holders) {
    const isOwn = isOpposite(holder, { schedule, command: change.command });
    if (!isOwn || holder.state !== 'unknown') return null;
    if (locked.at < (await leaseEnd(locked, holder.id)) + PASS_AFTER_MS) return null;
  }
  return holders.at(-1)?.id ?? null;
}

/** What a server reports only where the command changed something: the opposite was the state before. */
const CHANGED: Readonly<Record<string, string>> = {
  'service start': 'starting',
  'service stop': 'stopping',
};

/**
 * The events that settle the unknown run whose lock this run has passed: the server's answer to this run proves that the
 * unknown one was applied. Null: it proves nothing, so that people answer.
 */
export async function settledByOpposite(
  context: DecisionContext,
  locked: LockedLog,
  run: Change,
  state: Json | undefined,
): Promise<Moves | null> {
  if (state === undefined || state !== CHANGED[run.command]) return null;
  const events = await eventsOf(locked, `target/${targetKey(run)}`);
  const taken = events
    .filter((each) => each.type === 'taken')
    .findLast(({ change }) => change === run.id);
  const unknown = taken?.over ? await loadChange(locked, taken.over as ChangeId) : null;
  if (!unknown) return null;
  const note = `the server answered “${state}” to the next run, ${run.id}`;
  const settled = gate(unknown, 'settle', { note });
  return 'refusal' in settled ? null : move(context, locked.at, unknown, settled);
}

/** When the lease of the last claim of a change ended. */
async function leaseEnd(subjects: Subjects, id: ChangeId): Promise<number> {
  const claims = (await eventsOf(subjects, `change/${id}`)).filter(
    (each) => each.type === 'claimed',
  );
  return claims.at(-1)?.until.getTime() ?? Number.POSITIVE_INFINITY;
}

/** Refusals that will not pass, continued from “because”. */
const LASTING: Readonly<Partial<Record<Refusal, string>>> = {
  deactivated: 'its requester is deactivated in Slack',
  guest: 'its requester is a guest now',
  bot: 'its requester is no person',
  'other-workspace': 'its requester left the workspace',
  'unlisted-workspace': 'its requester left the workspaces that Signalbox serves',
  'no-rule': 'no rule of the policy permits its runs any more',
  'not-a-requester': 'its requester does not have the role of its rule any more',
  'approvals-missing': 'its approvals do not satisfy its rule any more',
  'not-listed': 'its rule does not permit services that the configuration omits',
  never: 'the policy prohibits its runs',
};

/**
 * What is appended with the end of a run that was refused: a refusal that will not pass pauses the schedule, and the
 * operators read it once.
 */
export async function afterRefusedRun(
  locked: LockedLog,
  { plan }: Change,
  refusal: Refusal,
): Promise<Effects> {
  const id = plan.timing?.schedule;
  const why = LASTING[refusal];
  return id && why ? toTakeOver(locked, id, why) : NOTHING;
}

/** Pauses a schedule whose card was deleted: nobody sees its runs any more. Its thread can say nothing. */
export async function pausedWithoutCard(locked: LockedLog, id: ChangeId): Promise<Effects> {
  const { events, jobs } = await toTakeOver(locked, id, 'its card was deleted');
  return { events, jobs: jobs.filter(({ kind }) => kind === 'notice') };
}

/** Pauses a schedule, which the operators read once, with a button. */
async function toTakeOver(locked: LockedLog, id: ChangeId, why: string): Promise<Effects> {
  const paused = await pausedSchedule(locked, id, why);
  if (!paused) return NOTHING;
  const { schedule } = paused;
  const text = `The schedule of ${schedule.service.name} (${id}) is paused: ${why}. A person who may request it can take it over.`;
  const value = scheduleCommandLine(schedule);
  const actions = [{ id: 'command.0', label: 'Take over', value }];
  const notice = noticeFor({ to: null, title: 'Schedule paused', text, actions }, locked.at);
  return together(paused, notice);
}
