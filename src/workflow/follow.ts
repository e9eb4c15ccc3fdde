// Follows the target of a sent change by optional reads, until it is settled: for the card, and where a reading proves
// that a request without an answer was applied, to settle its outcome.

import { MINUTE_MS } from '../base/time.ts';
import type { CommandContext, Progress, SettledRule } from '../commands/index.ts';
import {
  type Change,
  type ChangeId,
  type EvidenceGap,
  type FollowUp,
  targetKey,
} from '../domain/change.ts';
import { gate } from '../domain/gate.ts';
import { evolveFreeze } from '../domain/log-events.ts';
import { isInForce, standingOf } from '../domain/standing.ts';
import { loadChange, type Subjects } from '../log/index.ts';
import type { EndpointReading, ServiceReading } from '../servers/cloud-readings.ts';
import { appliedScaling } from '../servers/facts.ts';
import type { UnknownRead } from '../servers/optional-reads.ts';
import { addJobs, transaction } from '../storage/index.ts';
import type { WorkflowContext } from './context.ts';
import type { JobResult } from './jobs.ts';
import { advance, eventsOf } from './moves.ts';
import { readFollowUp, saveFollowUp } from './store.ts';
import { targetChanges } from './target.ts';

const FIRST: FollowUp = {
  state: 'open',
  seen: null,
  gap: null,
  why: null,
  candidates: [],
  revision: 1,
};

/** The job of a sent change whose target the optional reads show, where the configuration has them. */
export async function followTarget(context: WorkflowContext, id: ChangeId): Promise<JobResult> {
  const { events, store, now } = context;
  if (!context.discoversServices) return 'done';
  const change = await loadChange(events, id);
  const rule = change && context.commands.get(change.command)?.settled;
  // When the outcome was recorded.
  const since = (change?.resolution ?? change?.outcome)?.at;
  if (!change || !rule || !since) return 'done';
  const before = await readFollowUp(store, id);
  if (!before) {
    // The card no longer says that the API does not report the end.
    await show(context, change, null, FIRST);
    return new Date(now().getTime() + waitMs(change, now().getTime() - since.getTime()));
  }
  if (before.state !== 'open') return 'done';
  if (!isFollowed(change, rule)) {
    // A person resolved it: nothing is left to follow, or it is unknown which object was created.
    await transaction(store, (tx) => saveFollowUp(tx, id, { ...before, state: 'closed' }));
    return 'done';
  }
  return readOnce(context, change, { rule, since, before });
}

/** Reads the target, settles an unknown outcome that the reading proves, and keeps it for the card. */
async function readOnce(
  context: WorkflowContext,
  change: Change,
  { rule, since, before }: { rule: SettledRule; since: Date; before: FollowUp },
): Promise<JobResult> {
  const { events, store, now } = context;
  const { id } = change;
  const askedAt = now();
  const all = await eventsOf(events, `change/${id}`);
  // When the request was claimed last: it was sent after that.
  const claimedAt = all.findLast(({ type }) => type === 'claimed')?.at;
  const sentAt = claimedAt === undefined ? since : new Date(claimedAt);
  const { cloud } = context.commandContext().reads;
  const reading = await readFollowed(cloud, change, rule, sentAt);
  const readAt = now();
  const soon = new Date(readAt.getTime() + FIRST_MS);
  const current = await loadChange(events, id);
  // Read before the outcome was recorded, or before the change moved.
  if (askedAt < since || current?.version !== change.version) return soon;
  const why = await settleFromReading(context, change, rule, reading);
  if (why === 'moved') return soon;
  const shown = shownAfter(change, before, { reading, readAt, since });
  const revision = before.revision + 1;
  if (why === 'settled') {
    const settled = { ...shown, why: null, state: why, revision };
    await transaction(store, (tx) => saveFollowUp(tx, id, settled));
    return 'done';
  }
  const ageMs = askedAt.getTime() - since.getTime();
  const isSuperseded = await wasSuperseded(context, change, rule, since);
  const state = isSuperseded ? 'superseded' : stateAfter(change, reading, ageMs);
  const next: FollowUp = { ...shown, state, why: reading.known ? why : before.why };
  const isNew = JSON.stringify(before) !== JSON.stringify(next);
  await show(context, change, before, isNew ? { ...next, revision } : next);
  if (state !== 'open') return 'done';
  const isLong = !reading.known && isRefused(reading);
  return new Date(readAt.getTime() + (isLong ? LONGEST_WAIT_MS : waitMs(change, ageMs)));
}

function isFollowed({ state, outcome }: Change, { wasOpen }: SettledRule): boolean {
  const isLostCreation = !wasOpen && state === 'succeeded' && outcome?.how !== 'succeeded';
  return ['succeeded', 'unknown'].includes(state) && !isLostCreation;
}

const FIRST_MS = 5_000;
/** The longest time between two readings. */
const LONGEST_WAIT_MS = 10 * MINUTE_MS;
/** An accepted change is followed for this time. */
const FOLLOW_MS = 30 * MINUTE_MS;

/**
 * When the target is read again: after 5 s, then each 10 s in the first minute, then each 30 s; an unknown outcome until it
 * is resolved, after half an hour each 10 minutes.
 */
function waitMs({ state }: Change, ageMs: number): number {
  if (ageMs < FIRST_MS) return FIRST_MS;
  if (ageMs < MINUTE_MS) return 10_000;
  return state === 'unknown' && ageMs >= FOLLOW_MS ? LONGEST_WAIT_MS : 30_000;
}

/** One reading of the target of a change. */
type TargetReading = Awaited<ReturnType<typeof readFollowed>>;

/** The server refuses this read, so that another attempt does not help. */
function isRefused({ gap }: UnknownRead): boolean {
  return ['off', 'refused', 'no-route'].includes(gap);
}

type CloudReads = CommandContext['reads']['cloud'];

const LONGEST_REASON = 200;

/** Reads the target of a sent change; for a creation without an answer, what it may have created. */
async function readFollowed(reads: CloudReads, change: Change, rule: SettledRule, sentAt: Date) {
  const { plan, organization } = change;
  // Each reading is sent: a cached one may be older than the request.
  const how = { fresh: true, organization };
  const id = followedId(change, rule);
  const isService = rule.reads === 'service';
  if (id === null) {
    const read = isService ? await reads.services(how) : await reads.endpoints(plan.target.id, how);
    if (!read.known) return read;
    const candidates = candidatesIn(read.value.map(listed), plan, sentAt);
    return { known: true, progress: createdProgress(rule, candidates.length), candidates } as const;
  }
  const read = isService
    ? await reads.service(id, how)
    : await reads.endpoint(plan.target.id, id, how);
  if (!read.known) return read;
  const { value } = read;
  const fields = 'currentScaling' in value ? { ...value, applied: appliedScaling(value) } : value;
  return { known: true, progress: rule.judge(fields, plan.body), candidates: [] } as const;
}

/** The id of what is read; null for a creation without an answer. */
function followedId({ plan, outcome }: Change, { wasOpen }: SettledRule): string | null {
  if (wasOpen) return plan.target.id;
  return outcome?.how === 'succeeded' ? (outcome.createdId ?? null) : null;
}

/** The part of a listed service or endpoint that is compared and shown. `createdAt`: as the server sent it. */
function listed(each: ServiceReading | EndpointReading) {
  const { id } = each;
  return 'description' in each
    ? { id, name: each.description, state: each.status, createdAt: null, type: each.type }
    : { id, name: each.name, state: each.state, createdAt: each.createdAt, type: null };
}

// The clocks of the server and of the database may differ.
const CLOCK_SKEW_MS = 60_000;
const MOST_SHOWN = 5;
const LONGEST_NAME = 100;

/**
 * What an unanswered creation may have created: entries with the requested name, created since the
 * send or at an unknown time. Whether one of them is it, a person decides.
 */
function candidatesIn(
  all: readonly ReturnType<typeof listed>[],
  { body: { name, description, type } }: Change['plan'],
  sentAt: Date,
): FollowUp['candidates'] {
  const wanted = sameName(name ?? description);
  const from = sentAt.getTime() - CLOCK_SKEW_MS;
  return all
    .filter((each) => sameName(each.name) === wanted && (type === undefined || each.type === type))
    .map(({ id, name: called, state, createdAt }) => ({
      name: (called ?? '').slice(0, LONGEST_NAME),
      id: id.slice(0, LONGEST_NAME),
      state: state?.slice(0, LONGEST_NAME) ?? null,
      createdAt: instantOf(createdAt),
    }))
    .filter(({ createdAt }) => !createdAt || createdAt.getTime() >= from)
    .slice(0, MOST_SHOWN);
}

function sameName(name: unknown): string {
  return String(name).trim().toLowerCase();
}

function instantOf(text: string | null): Date | null {
  const at = new Date(text ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** What a list shows of a creation. An empty list does not prove that nothing was created. */
function createdProgress({ reads: thing }: SettledRule, found: number): Progress {
  const since = 'since the request was sent';
  const none = `no ${thing} with this name was created ${since}; it may still appear`;
  return { is: 'unknown', text: found === 0 ? none : `created with this name ${since}` };
}

/** What is shown of a target after a reading: a value with the time at which it was first read; beside buttons, a recent one. */
function shownAfter(
  { state }: Change,
  before: FollowUp,
  { reading, readAt, since }: { reading: TargetReading; readAt: Date; since: Date },
): FollowUp {
  if (!reading.known) return { ...before, gap: reading.why.slice(0, LONGEST_REASON) };
  const { progress, candidates } = reading;
  const isSame = before.seen?.text === progress.text && before.seen.at >= since;
  const isOld =
    state === 'unknown' && readAt.getTime() - (before.seen?.at.getTime() ?? 0) >= LONGEST_WAIT_MS;
  const seen = isSame && !isOld ? before.seen : { text: progress.text, at: readAt };
  return { ...before, seen, candidates, gap: null };
}

/** `moved`: the change is not as it was when it was read. */
type Settlement = 'settled' | 'moved' | EvidenceGap;

/**
 * Resolves an unknown outcome where the reading proves that the request was applied. Otherwise returns why it does not;
 * null for any other state, and for a reading that says nothing.
 */
async function settleFromReading(
  context: WorkflowContext,
  change: Change,
  rule: SettledRule,
  reading: TargetReading,
): Promise<Settlement | null> {
  if (change.state !== 'unknown' || !reading.known) return null;
  const { progress } = reading;
  let settlement: Settlement = 'moved';
  const result = await advance(context, change.id, async (current, locked) => {
    if (current.version !== change.version) return null;
    const before = readBefore(current);
    const others = before ? await sentSince(locked, current, before.seenAt) : [];
    const gap = evidenceGap(current, rule, progress, others.length > 0);
    if (gap === null && before) {
      const { text } = rule.judge(before.fields, current.plan.body);
      const shown = { shown: progress.text, shownAt: new Date(locked.at) };
      const note = 'The target shows what was requested, and did not before.';
      const reading = { ...shown, before: text, beforeAt: before.seenAt };
      return gate(current, 'settle', { note, reading });
    }
    settlement = gap ?? 'before-unknown';
    return null;
  });
  return result !== null && typeof result !== 'string' ? 'settled' : settlement;
}

/**
 * The values that were read for the preview and again right before the send; null if one of these
 * reads is missing, so that nothing can be compared.
 */
function readBefore({ plan, stateCheck }: Pick<Change, 'plan' | 'stateCheck'>) {
  const { before } = plan;
  return before?.wasRead && stateCheck?.kind !== 'unverified' ? before : null;
}

/**
 * Why a reading does not prove that an unanswered request was applied; null: it does. The target
 * shows exactly what was requested, did not before the send, and nothing else was sent since.
 * A reading never proves that a request was not applied.
 */
function evidenceGap(
  change: Change,
  rule: SettledRule,
  progress: Progress,
  hasOtherSent: boolean,
): EvidenceGap | null {
  if (!rule.wasOpen) return 'creation';
  const before = readBefore(change);
  const fields = before && { ...before.volatileFields, ...before.fields };
  const wasOpen = fields && rule.wasOpen(fields, change.plan.body);
  if (progress.is !== 'settled') {
    return progress.hasBegun && wasOpen ? 'under-way' : 'not-as-requested';
  }
  if (wasOpen === null) return 'before-unknown';
  if (!wasOpen) return 'was-so-before';
  return hasOtherSent ? 'changed-since' : null;
}

/** The commands of other changes of the target that may have been sent since a time. */
async function sentSince(
  subjects: Subjects,
  { id, organization, plan }: Pick<Change, 'id' | 'organization' | 'plan'>,
  since: Date,
): Promise<readonly string[]> {
  const commands: string[] = [];
  for (const holding of await targetChanges(subjects, targetKey({ organization, plan }))) {
    if (holding.change === id || holding.since < since) continue;
    const other = await loadChange(subjects, holding.change);
    // A request without an outcome may have been sent; one that was returned was not.
    if (other && (other.outcome || other.state === 'executing')) commands.push(other.command);
  }
  return commands;
}

/** A newer change of the same service explains what is read from now on. */
async function wasSuperseded(
  { events, commands }: WorkflowContext,
  change: Change,
  rule: SettledRule,
  since: Date,
): Promise<boolean> {
  const id = followedId(change, rule);
  if (change.state !== 'succeeded' || rule.reads !== 'service' || id === null) return false;
  const service = { ...change.plan.target, kind: 'service', id } as const;
  const of = { ...change, plan: { ...change.plan, target: service } };
  const sent = await sentSince(events, of, since);
  return sent.some((command) => commands.get(command)?.settled?.reads === 'service');
}

function stateAfter({ state }: Change, reading: TargetReading, ageMs: number): FollowUp['state'] {
  // Read until it is resolved, because a person needs what is known now.
  if (state === 'unknown') return 'open';
  if (!reading.known && isRefused(reading)) return 'unreadable';
  const is = reading.known ? reading.progress.is : 'unknown';
  if (is === 'settled' || is === 'failed') return is;
  return ageMs >= FOLLOW_MS ? 'given-up' : 'open';
}

const REPORTED: readonly FollowUp['state'][] = ['settled', 'failed', 'given-up'];

/** Keeps what is shown, redraws the card with new values, and reports the last one in its thread. */
async function show(
  { store, now, log, wake }: WorkflowContext,
  { id, plan }: Change,
  before: FollowUp | null,
  after: FollowUp,
): Promise<void> {
  const isNew = after.revision !== before?.revision;
  // A schedule runs twice per day: its card shows a success.
  const isRoutine = plan.timing?.schedule !== undefined && after.state === 'settled';
  const isReported = isNew && !isRoutine && REPORTED.includes(after.state);
  const dueAt = now().getTime();
  await transaction(store, async (tx) => {
    await saveFollowUp(tx, id, after);
    if (isNew) await addJobs(tx, { kind: 'card', key: id, dueAt });
    if (isReported) {
      await addJobs(tx, { kind: 'follow-up', key: `${id}/${after.revision}`, dueAt });
    }
  });
  if (isReported) log.info({ change: id, followUp: after.state }, 'change followed to its end');
  if (isNew) wake();
}

/** The change with what was read of its target since the send, for what is shown. */
export async function withFollowUp(
  { store, events, now }: Pick<WorkflowContext, 'store' | 'events' | 'now'>,
  change: Change,
): Promise<Change> {
  if (change.plan.target.kind === 'freeze') {
    const { state: freeze } = await events.load(`freeze/${change.id}`, evolveFreeze);
    return freeze ? { ...change, isOver: freeze.isLifted || freeze.until <= now() } : change;
  }
  const standing = standingOf(change);
  if (standing) return { ...change, isOver: standing.left === 0 || !isInForce(change, now()) };
  const followUp = change.outcome && (await readFollowUp(store, change.id));
  return followUp ? { ...change, followUp } : change;
}
