import { DAY_MS } from '../base/time.ts';
import type { Change, ChangeId } from '../domain/change.ts';
import { foldOf } from '../domain/fold.ts';
import { gate } from '../domain/gate.ts';
import { endsStream, type NewEvent } from '../domain/log-events.ts';
import {
  append,
  Damaged,
  hasEvents,
  type LockedLog,
  type LostEvent,
  loadChange,
  recordRestore,
  type Subjects,
  WentBack,
} from '../log/index.ts';
import { verifyAll } from '../log/upkeep.ts';
import { addJob, type Job, transaction } from '../storage/index.ts';
import type { DecisionContext, Mark, SeenMark, WorkflowContext } from './context.ts';
import { type Moves, move, noteMoved } from './moves.ts';
import { noticeFor } from './notices.ts';
import { pauseAfterLoss } from './schedules.ts';

// The thread that people saw is a memory outside the database. A mark is foreign where the log has no such event and
// has not answered it: the database has lost what people saw, or another one writes as well.

/** The marks that are events of none of these changes, and that none of them has answered. */
export async function foreignMarks(
  events: Subjects,
  changes: readonly ChangeId[],
  seen: readonly Mark[],
): Promise<readonly Mark[]> {
  if (seen.length === 0) return [];
  const known = new Set<string>();
  for (const id of changes) {
    for (const hash of await knownTo(events, id)) known.add(hash);
  }
  return seen.filter(({ hash }) => !known.has(hash));
}

/** The hashes of the events of a change, and those of lost events that it has answered. */
async function knownTo(events: Subjects, id: ChangeId): Promise<readonly string[]> {
  const { state } = await events.load(`change/${id}`, (hashes: readonly string[] | null, event) => {
    const answered =
      event.type === 'restored' || event.type === 'stale' ? (event.foreign ?? []) : [];
    return [...(hashes ?? []), event.hash, ...answered.map(({ hash }) => hash)];
  });
  return state ?? [];
}

const LOST = 'the database has lost events that people saw';

/** Answers foreign marks: the change ends as stale, or as unknown where its request may have left. */
export async function answerForeign(
  context: WorkflowContext,
  id: ChangeId,
  foreign: readonly Mark[],
): Promise<void> {
  const { result } = await append(context.events, async (locked) => {
    const before = await loadChange(locked, id);
    const marks = await foreignMarks(locked, [id], foreign);
    if (!before || marks.length === 0) return { events: [], result: null };
    const moves = restored(context, locked, before, marks);
    const notice = noticeFor(lostNotice([id]), locked.at);
    const paused = await pauseAfterLoss(locked);
    const stopped = isFreeze(before) ? await endApproved(context, locked) : NOTHING;
    const all = [moves, paused, stopped, notice];
    const events = all.flatMap((each) => each.events);
    const jobs = all.flatMap((each) => each.jobs);
    return { events, jobs, result: { before, moves } };
  });
  if (!result) return;
  context.log.warn(
    { change: id, marks: foreign.length },
    'people saw events that the log has lost',
  );
  noteMoved(context, result.before, result.moves.change);
  context.wake();
}

/** The events that answer marks of one change and end it. */
function restored(
  context: DecisionContext,
  { at }: Pick<LockedLog, 'at'>,
  before: Change,
  marks: readonly Mark[],
): Moves {
  const stream = `change/${before.id}`;
  const foreign = marks.map(({ version, hash }) => ({
    stream,
    version: Math.max(version, 1),
    hash,
  }));
  const answer = { type: 'restored', why: LOST, foreign } as const;
  const first = move(context, at, before, answer);
  const end = gate(first.change, 'distrust', { now: new Date(at), why: 'restored' });
  if ('refusal' in end) return first;
  const second = move(context, at, first.change, end);
  return {
    events: [...first.events, ...second.events],
    jobs: [...first.jobs, ...second.jobs],
    change: second.change,
  };
}

const NOTHING = { events: [], jobs: [] };

function isFreeze({ plan }: Change): boolean {
  return plan.target.kind === 'freeze';
}

/**
 * Ends what was approved, where a lost event may be that of a freeze: what the freeze covered is unknown, and no
 * other thread shows it. People decide again.
 */
async function endApproved(
  context: DecisionContext,
  locked: LockedLog,
  except: readonly string[] = [],
): Promise<Pick<Moves, 'events' | 'jobs'>> {
  const streams = await locked.loadAll('change', (isOpen: boolean | null, { type }) =>
    endsStream('change', type) ? false : (isOpen ?? true),
  );
  const all: Pick<Moves, 'events' | 'jobs'>[] = [];
  for (const [stream, { state: isOpen }] of streams) {
    const id = stream.slice('change/'.length) as ChangeId;
    const change = isOpen && !except.includes(id) ? await loadChange(locked, id) : null;
    if (change?.state === 'approved') all.push(restored(context, locked, change, []));
  }
  const events = all.flatMap((each) => each.events);
  return { events, jobs: all.flatMap((each) => each.jobs) };
}

function lostNotice(changes: readonly string[]) {
  const list = changes.length > 0 ? ` Affected: ${changes.join(', ')}.` : '';
  const text =
    `The database went back: ${LOST}, for example after a failover or a restore.${list} ` +
    'Open changes of that kind have ended, and all schedules are paused. Check the state of their targets before you request them again.';
  return { to: null, title: 'Notice', text };
}

/**
 * Runs work on the log. Where the database went back, what this process knows is recorded as lost first, and the work
 * is tried once more.
 */
export async function withRestore<T>(context: WorkflowContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WentBack)) throw error;
    await restoreLog(context);
    return work();
  }
}

/**
 * What follows an error of the log that no caller can handle: a log that went back continues with `restored`; a
 * damaged one executes nothing until a complete verification succeeds. Any other error is left to the caller.
 */
export async function mendLog(context: WorkflowContext, error: unknown): Promise<void> {
  if (error instanceof WentBack) await restoreLog(context);
  if (!(error instanceof Damaged)) return;
  const { ok } = await verifyAll(context.events);
  if (ok) context.log.warn('the log was damaged for a while, and is intact now');
}

/** Continues a log that went back: the changes that lost events end, because people may have seen more than it has. */
async function restoreLog(context: WorkflowContext): Promise<void> {
  const due: Job[] = [];
  const lost = await recordRestore(context.events, await timeline(context), (all, locked) =>
    endLost(context, all, locked, due),
  );
  if (lost.length === 0) return;
  context.log.warn({ lost: lost.length }, 'the database went back; what it lost is recorded');
  await transaction(context.store, async (tx) => {
    for (const job of due) await addJob(tx, job);
  });
  context.wake();
}

async function endLost(
  context: WorkflowContext,
  lost: readonly LostEvent[],
  locked: LockedLog,
  due: Job[],
): Promise<readonly NewEvent[]> {
  const events: NewEvent[] = [];
  const ids: string[] = [];
  let mayBeFreeze = false;
  for (const { stream, version, hash } of lost) {
    const [kind, id = ''] = stream.split('/');
    mayBeFreeze ||= kind === 'freeze';
    if (kind !== 'change') continue;
    ids.push(id);
    const change = await loadChange(locked, id as ChangeId);
    mayBeFreeze ||= change === null || isFreeze(change);
    if (!change) continue;
    const moves = restored(context, locked, change, [{ version, hash }]);
    events.push(...moves.events);
    due.push(...moves.jobs);
  }
  const paused = await pauseAfterLoss(locked);
  const notice = noticeFor(lostNotice(ids), locked.at);
  const stopped = mayBeFreeze ? await endApproved(context, locked, ids) : NOTHING;
  due.push(...paused.jobs, ...stopped.jobs, ...notice.jobs);
  return [...events, ...paused.events, ...stopped.events, ...notice.events];
}

/** The timeline of PostgreSQL, which a promotion changes; null on SQLite. */
export function timeline({ store }: Pick<DecisionContext, 'store'>): Promise<number | null> {
  return store.timeline();
}

/** Older messages are about changes that have ended long ago. */
const SCANNED_DAYS = 31;

/**
 * Reads the own messages of all channels and answers the marks that the log does not have. To be called before the
 * first drawing: at the start, on a new timeline, and once a day. Throws where a channel cannot be read.
 */
export async function checkChannels(context: WorkflowContext): Promise<void> {
  const since = new Date(context.now().getTime() - SCANNED_DAYS * DAY_MS);
  const seen = await context.messenger.readMarks(since);
  const known = await hasEvents(
    context.events,
    seen.map(({ hash }) => hash),
  );
  const unknown = seen.filter(({ hash }) => !known.has(hash));
  for (const [id, marks] of Map.groupBy(unknown, ({ change }) => change)) {
    const { state } = await context.events.load(`change/${id}`, foldOf(id));
    if (state) await answerForeign(context, id, marks);
    else await drawLost(context, id, marks);
  }
}

/** A change that the log has lost completely: its messages say so, and the operators read it once. */
async function drawLost(
  context: WorkflowContext,
  change: ChangeId,
  marks: readonly SeenMark[],
): Promise<void> {
  context.log.warn({ change }, 'people saw a change that the log has lost');
  const id = `lost-${change}`;
  await append(context.events, async (locked) => {
    const recorded = await locked.load(`notice/${id}`, (_: object | null, event) => event);
    if (recorded.version > 0) return { events: [], result: null };
    const paused = await pauseAfterLoss(locked);
    const notice = noticeFor(lostNotice([change]), locked.at, id);
    const all = [paused, await endApproved(context, locked), notice];
    const events = all.flatMap((each) => each.events);
    return { events, jobs: all.flatMap((each) => each.jobs), result: null };
  });
  for (const { at, isCard } of marks) if (isCard) await context.messenger.drawLost(change, at);
}
