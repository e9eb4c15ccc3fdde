import { DAY_MS } from '../base/time.ts';
import { type Change, type ChangeId, isLocal, isPrivate, type Position } from '../domain/change.ts';
import { gate } from '../domain/gate.ts';
import { evolveFreeze, evolveSubscription, type NewEvent } from '../domain/log-events.ts';
import { LOST_HASH, READ_BACK_DAYS } from '../domain/place.ts';
import { startsAt } from '../domain/timing.ts';
import {
  append,
  appendProblem,
  Damaged,
  type LockedLog,
  type LostEvent,
  listChanges,
  loadChange,
  recordRestore,
  type Subjects,
  WentBack,
} from '../log/index.ts';
import { follow, hasEvents, lastEventAt, verifyAll, withoutCard } from '../log/upkeep.ts';
import { addJobs, type Job, transaction } from '../storage/index.ts';
import type {
  CardMark,
  DecisionContext,
  Mark,
  SeenMark,
  SeenThread,
  WorkflowContext,
} from './context.ts';
import {
  advance,
  type Effects,
  eventsOf,
  type Moves,
  move,
  NOTHING,
  noteMoved,
  together,
} from './moves.ts';
import { type Notice, noticeFor } from './notices.ts';
import { pausedSchedule } from './own.ts';
import { jobsFor } from './rebuild.ts';

// The thread that people saw is a memory outside the database. A mark is foreign where the log has no such event and
// has not answered it: the database has lost what people saw, or another one writes as well.

/**
 * The marks of the card and the thread of a change that the log does not have, and that it has not answered. Events of
 * the change that this one does not have yet are read.
 */
export async function foreignMarks(
  events: Subjects,
  change: Change,
  seen: readonly Mark[],
): Promise<readonly Mark[]> {
  if (seen.every(({ hash }) => change.marks.includes(hash))) return [];
  const { id, plan, parent } = change;
  const schedule = plan.timing?.schedule ?? (plan.target.kind === 'schedule' ? id : null);
  // The runs of a schedule stand in one thread.
  const known = new Set<string>();
  const runs: ChangeId[] = [];
  for (const event of schedule ? await eventsOf(events, `schedule/${schedule}`) : []) {
    known.add(event.hash);
    if (event.type === 'run') runs.push(event.change);
  }
  for (const each of new Set([id, parent, schedule, ...runs])) {
    const shown = each && (await loadChange(events, each));
    for (const hash of shown ? shown.marks : []) known.add(hash);
  }
  return seen.filter(({ hash }) => !known.has(hash));
}

interface Begun {
  readonly id: ChangeId;
  readonly thread: Promise<SeenThread | null>;
  readonly until: Date;
}

/** The last read before a claim that a press began. */
const begun = new WeakMap<DecisionContext['events'], Begun>();
const BEGUN_VALID_MS = 5_000;

/**
 * Begins the read before a claim with the lookups of the last approval, if the change then runs at once. It only tells
 * early what stops the change: what is posted or deleted after it is found by the read after the note, which nothing
 * replaces. Who presses is not known yet: one at a time, so that refused presses do not use up the limit of Slack.
 */
export function beginThreadRead({ events, messenger, now }: WorkflowContext, change: Change): void {
  const { id, card, approvals, requires, plan } = change;
  const isLast = approvals.length + 1 >= requires.count;
  const last = begun.get(events);
  if (!card || !isLast || (last && now() < last.until)) return;
  if (isLocal(change) || startsAt(plan, now()) > now()) return;
  // Where it fails, the run reads again.
  const thread = messenger.readThread(card).catch(() => null);
  begun.set(events, { id, thread, until: new Date(now().getTime() + BEGUN_VALID_MS) });
}

/** The thread of a card before a claim. Null: it was deleted. Throws where Slack does not answer. */
export async function threadBeforeClaim(
  { events, messenger, now }: WorkflowContext,
  id: ChangeId,
  card: Position,
): Promise<SeenThread | null> {
  const read = begun.get(events);
  if (read?.id !== id) return messenger.readThread(card);
  begun.delete(events);
  return (now() < read.until ? await read.thread : null) ?? messenger.readThread(card);
}

const LOST = 'the database has lost events that people saw';

/**
 * Answers the foreign ones of the marks that people saw: the change ends as stale, or as unknown where its request may
 * have left. Others go on, because their own threads protect them. Returns whether there were any.
 */
export async function answerForeign(
  context: WorkflowContext,
  known: Change,
  seen: readonly (Mark | null)[],
): Promise<boolean> {
  const { id } = known;
  const shown = seen.filter((mark) => mark !== null);
  const foreign = await foreignMarks(context.events, known, shown);
  if (foreign.length === 0) return false;
  const { result } = await append(context.events, async (locked) => {
    const change = await loadChange(locked, id);
    const marks = change ? await foreignMarks(locked, change, foreign) : [];
    if (marks.length === 0) return { events: [], result: [] };
    const loss = { changes: new Map([[id, marks]]), freezes: new Map() };
    const { moved, ...answer } = await answerLoss(context, locked, loss);
    return { ...answer, result: moved };
  });
  if (result.length === 0) return true;
  const about = { change: id, marks: foreign.length };
  context.log.warn(about, 'people saw events that the log has lost');
  for (const { before, change } of result) noteMoved(context, before, change);
  context.wake();
  return true;
}

/** What the database has lost, as far as this process or Slack knows it. */
interface Loss {
  /** Also changes that the log does not know any more. */
  readonly changes: ReadonlyMap<ChangeId, readonly Mark[]>;
  readonly freezes: ReadonlyMap<ChangeId, FoundFreeze>;
  readonly schedules?: readonly string[];
  readonly subscriptions?: readonly string[];
  /** The id of the notice about it: one with this id is posted once. */
  readonly notice?: string;
}

interface FoundFreeze {
  readonly marks: readonly Mark[];
  /** The message that shows it. */
  readonly card: Position | null;
}

interface Answer extends Effects {
  readonly moved: readonly { readonly before: Change; readonly change: Change }[];
}

/**
 * The events that answer a loss: a change ends, a schedule and a subscribed digest pause, and a lost freeze stops all
 * executions. What lost nothing goes on. The operators read it once.
 */
async function answerLoss(
  context: DecisionContext,
  locked: LockedLog,
  { changes, ...loss }: Loss,
): Promise<Answer> {
  const all: Effects[] = [];
  const moved: { before: Change; change: Change }[] = [];
  const freezes = new Map(loss.freezes);
  const schedules = new Set(loss.schedules);
  for (const [id, marks] of changes) {
    const before = await loadChange(locked, id);
    if (!before) continue;
    const moves = restored(context, locked, before, marks);
    all.push(moves);
    moved.push({ before, change: moves.change });
    const schedule = scheduleOf(before);
    if (schedule) schedules.add(schedule);
    const isFreeze = context.commands.get(before.command)?.own === 'freeze';
    if (isFreeze) freezes.set(id, { marks, card: before.card });
  }
  const stopping = new Set<string>();
  for (const [id, freeze] of freezes) {
    const found = await foundFreeze(locked, id, freeze);
    all.push(found);
    if (found.events.length > 0) stopping.add(id);
  }
  const affected: string[] = [...changes.keys()].filter((id) => !stopping.has(id));
  for (const id of schedules) {
    const paused = await pausedSchedule(locked, id as ChangeId, LOST);
    if (!paused) continue;
    all.push(paused);
    affected.push(`the schedule of ${paused.schedule.service.name} (${id})`);
  }
  for (const id of loss.subscriptions ?? []) {
    const paused = await pausedSubscription(locked, id);
    all.push(paused);
    if (paused.events.length > 0) affected.push(`the digest ${id}`);
  }
  if (affected.length > 0) all.push(noticeFor(lostNotice(affected), locked.at, loss.notice));
  return { ...together(...all), moved };
}

/** The schedule that a change runs, made, paused, resumed or removed. */
function scheduleOf({ id, plan }: Change): string | null {
  if (plan.timing?.schedule) return plan.timing.schedule;
  return plan.target.kind === 'schedule' ? String(plan.body.schedule ?? id) : null;
}

/** The events that answer marks of one change and end it, or its revert. */
function restored(
  context: DecisionContext,
  { at }: Pick<LockedLog, 'at'>,
  before: Change,
  marks: readonly Mark[],
): Moves {
  const foreign = answered('change', before.id, marks);
  const first = move(context, at, before, { type: 'restored', why: LOST, foreign });
  const ends = [
    gate(first.change, 'distrust', { now: new Date(at), why: 'restored' }),
    // It may have been cancelled, or may have run: a person decides.
    gate(first.change, 'keep', { why: 'restored' }),
  ];
  const end = ends.find((each) => !('refusal' in each));
  if (!end || 'refusal' in end) return first;
  const second = move(context, at, first.change, end);
  return { ...together(first, second), change: second.change };
}

function answered(kind: 'change' | 'freeze', id: string, marks: readonly Mark[]) {
  return marks.map(({ version, hash }) => {
    return { stream: `${kind}/${id}`, version: Math.max(version, 1), hash };
  });
}

async function pausedSubscription(locked: LockedLog, id: string) {
  const { state } = await locked.load(`subscription/${id}`, evolveSubscription);
  if (!state || state.isPaused || state.isRemoved) return NOTHING;
  const event = { type: 'paused', by: 'signalbox' } as const;
  return { events: [{ stream: `subscription/${id}`, event } as const], jobs: [] };
}

/**
 * A freeze that people saw and the log does not know: what it covers is unknown, so that nothing is executed until a
 * person decides about the marks that were found. A freeze that the log knows is in force by the log.
 */
async function foundFreeze(
  locked: LockedLog,
  id: ChangeId,
  { marks, card }: FoundFreeze,
): Promise<Effects> {
  const { state } = await locked.load(`freeze/${id}`, evolveFreeze);
  if (state?.lost === null) return NOTHING;
  const fresh = marks.filter(({ hash }) => !state?.lost?.answered.includes(hash));
  if (fresh.length === 0) return NOTHING;
  const found = { change: id, foreign: answered('freeze', id, fresh), card };
  const events: NewEvent[] = [{ stream: `freeze/${id}`, event: { type: 'found', ...found } }];
  const isKnown = state !== null && !state.isLifted;
  const notice = isKnown ? null : noticeFor(freezeNotice(id), locked.at);
  return together({ events, jobs: [] }, notice);
}

function freezeNotice(id: ChangeId): Notice {
  const text =
    `The database lost the freeze ${id}, which people saw: what it covers is unknown. ` +
    'Nothing runs until a person decides. Its card shows what it covered: if it still holds, freeze again first.';
  return {
    to: null,
    title: 'Nothing runs',
    text,
    actions: [
      { id: 'command.0', label: 'Freeze again…', value: 'change freeze' },
      { id: 'command.1', label: 'It ended', value: `change unfreeze ${id}` },
    ],
  };
}

function lostNotice(affected: readonly string[]): Notice {
  const text =
    `The database went back: ${LOST}, for example after a failover or a restore. ` +
    `Affected: ${affected.join(', ')}. What was open of it has ended, and schedules and digests are paused; ` +
    'everything else goes on. Check the state of the targets before you request a change again.';
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

/** Looks whether the log still has what this process knows. A damaged one stops its own writers. */
export async function watchLog(context: WorkflowContext): Promise<void> {
  if (appendProblem(context.events)) return;
  await withRestore(context, () => follow(context.events)).catch((error: unknown) => {
    if (!(error instanceof Damaged)) throw error;
  });
}

/** Processes whose channels have to be read again before they draw or send anything. */
const unread = new WeakSet<WorkflowContext['events']>();

/** Whether an end that was known is gone, and the channels were not read since. */
export function isUnread({ events }: Pick<WorkflowContext, 'events'>): boolean {
  return unread.has(events);
}

/** Continues a log that went back: what lost events ends, because people may have seen more than the log has. */
async function restoreLog(context: WorkflowContext): Promise<void> {
  unread.add(context.events);
  const due: Job[] = [];
  const timeline = await context.store.timeline();
  const lost = await recordRestore(context.events, timeline, async (all, locked) => {
    const { events, jobs } = await answerLoss(context, locked, lossFrom(all));
    due.push(...jobs);
    // This process may have ended what is due again. For a change, its answer asks for it.
    for (const { stream } of all)
      if (!stream.startsWith('change/')) due.push(...(await jobsFor(locked, stream, locked.at)));
    return events;
  });
  if (lost.length === 0) return;
  context.log.warn({ lost: lost.length }, 'the database went back; what it lost is recorded');
  await transaction(context.store, (tx) => addJobs(tx, ...due));
  context.wake();
}

/** Locks, presses and posts decide nothing without the change or the channel that they belong to. */
function lossFrom(lost: readonly LostEvent[]): Loss {
  const of = (kind: string) =>
    lost.flatMap(({ stream, ...mark }) => {
      const id = stream.startsWith(`${kind}/`) ? stream.slice(kind.length + 1) : null;
      return id ? [{ id: id as ChangeId, marks: [mark], card: null }] : [];
    });
  const ids = (kind: string) => of(kind).map(({ id }) => id);
  return {
    changes: new Map(of('change').map(({ id, marks }) => [id, marks])),
    freezes: new Map(of('freeze').map(({ id, ...found }) => [id, found])),
    schedules: ids('schedule'),
    subscriptions: ids('subscription'),
  };
}

const OPEN_MAX = 500;

/**
 * Reads the own messages of all channels, and the threads of open cards, and answers the marks that the log does not
 * have. Copies in direct messages are no witness, and are compared when they are drawn. To be called before the first
 * drawing: at the start, when the database may have lost something, and once a day. Throws where a channel cannot be read.
 */
export async function checkChannels(context: WorkflowContext): Promise<void> {
  const { events, messenger } = context;
  unread.delete(events);
  try {
    const since = new Date((await lastEventAt(events)) - READ_BACK_DAYS * DAY_MS);
    const open = await listChanges(events, { open: true, confirmed: true, limit: OPEN_MAX });
    const cards = open.flatMap(({ card }) => card ?? []);
    const seen = await messenger.readMarks(since, cards);
    const byChange = Map.groupBy(seen, ({ change }) => change);
    const hashes = seen.map(({ hash }) => hash);
    const known = await hasEvents(events, hashes);
    const unknown = seen.filter(({ hash }) => !known.has(hash));
    const foreign = Map.groupBy(unknown, ({ change }) => change);
    for (const id of [...foreign.keys(), ...(await withoutCard(events, [...byChange.keys()]))])
      await adoptCard(context, id, byChange.get(id));
    for (const [id, marks] of foreign) {
      const change = await loadChange(events, id);
      // Of a draft, people saw nothing: the log has lost that it was confirmed.
      if (change && !isPrivate(change)) await answerForeign(context, change, marks);
      else await answerUnknown(context, id, { marks, isOpen: change?.state === 'draft' });
    }
    for (const [id, marks] of byChange) {
      const asking = marks.filter((mark) => mark.isCard && !isOver(mark));
      const own = asking.length > 1 ? (await loadChange(events, id))?.card?.ts : null;
      if (!asking.some(({ at }) => at.ts === own)) continue;
      for (const { at } of asking) await drawOther(context, id, at);
    }
  } catch (error) {
    unread.add(events);
    throw error;
  }
}

/**
 * A card whose post the log has lost is the card of its change again, unless the one that the log knows still stands: its
 * thread is the witness, and people press there. Of several the first one is.
 */
async function adoptCard(
  context: WorkflowContext,
  id: ChangeId,
  seen: readonly SeenMark[] = [],
): Promise<void> {
  const [first, ...others] = seen
    .flatMap(({ isCard, at }) => (isCard ? [at] : []))
    .toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
  await advance(context, id, (change) => {
    const stands = [first, ...others].some((at) => at?.ts === change.card?.ts);
    return stands || isPrivate(change) || !first ? null : { type: 'card-posted', ...first };
  });
}

/** The revision of a card whose change stands on another one. */
const OTHER = 'other';
const isOver = ({ hash, revision }: CardMark) => hash.startsWith(LOST_HASH) || revision === OTHER;

/** A card that is not the card of its change asks nobody for anything: people press where the log has it. */
export async function drawOther(
  { events, messenger }: WorkflowContext,
  id: ChangeId,
  at: Position,
): Promise<void> {
  const change = await loadChange(events, id);
  if (change?.card?.ts === at.ts) return;
  // A mark that the log has: the change goes on.
  const mark = change?.card && { version: change.version, hash: change.hash, revision: OTHER };
  await messenger.drawLost(id, at, mark ?? null);
}

/**
 * A change that the log has lost completely: its messages say so, and the operators read it once. Its schedule pauses,
 * which would run it again. Of an open draft, it has lost the confirmation: the draft ends, also where its card says so
 * since an earlier loss.
 */
async function answerUnknown(
  context: WorkflowContext,
  change: ChangeId,
  { marks, isOpen }: { readonly marks: readonly SeenMark[]; readonly isOpen: boolean },
): Promise<void> {
  context.log.warn({ change }, 'people saw a change that the log has lost');
  if (!isOpen && marks.every(({ hash }) => hash.startsWith(LOST_HASH))) return;
  const cards = marks.filter(({ isCard }) => isCard);
  const isFreeze = marks.some((each) => each.isFreeze);
  const id = `lost-${change}`;
  await append(context.events, async (locked) => {
    const freeze = { marks, card: cards[0]?.at ?? null };
    const { version } = await locked.load(`notice/${id}`, () => null);
    const isTold = isFreeze || version > 0;
    const answer = await answerLoss(context, locked, {
      changes: new Map(isTold && !isOpen ? [] : [[change, marks]]),
      freezes: new Map(isFreeze ? [[change, freeze]] : []),
      schedules: isTold ? [] : marks.flatMap(({ schedule }) => schedule ?? []),
      notice: id,
    });
    return { ...answer, result: null };
  });
  context.wake();
  // The card of a freeze shows what it covers, until a person has decided.
  if (isFreeze) return;
  for (const { at } of cards) await context.messenger.drawLost(change, at, null);
}
