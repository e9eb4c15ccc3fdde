import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError, type ApiErrorKind, InvalidRequest } from '../base/errors.ts';
import type { CurrentState } from '../commands/index.ts';
import { PostRefused } from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  changeTitle,
  type ExecutionOutcome,
  isLocal,
  nameWithin,
  type Position,
  targetKey,
} from '../domain/change.ts';
import { type ClaimFacts, gate } from '../domain/gate.ts';
import { evolveHolders, evolvePress, type NewEvent } from '../domain/log-events.ts';
import { isInForce } from '../domain/standing.ts';
import { plainWords } from '../domain/words.ts';
import {
  activeConfiguration,
  append,
  type LockedLog,
  listChanges,
  loadChange,
  type Subjects,
} from '../log/index.ts';
import { learnServices } from '../servers/facts.ts';
import type { SendResult } from '../servers/sent.ts';
import { releaseJobs, transaction } from '../storage/index.ts';
import type { AttemptMark, SeenThread, WorkflowContext } from './context.ts';
import type { JobKind, JobResult } from './jobs.ts';
import { advance, type Moves, move, NOTHING, noteMoved, together } from './moves.ts';
import { notifyOnce } from './notices.ts';
import { ownEvents } from './own.ts';
import {
  afterRefusedRun,
  mayPassLock,
  pausedWithoutCard,
  scheduleFacts,
  settledByOpposite,
} from './schedules.ts';
import { storeSecret } from './secret.ts';
import { identitiesOf } from './standing.ts';
import { changedSincePlan, compareTarget, currentTarget, ruleFacts } from './target.ts';
import { answerForeign, isUnread, threadBeforeClaim, withRestore } from './witness.ts';

/** Three times the longest API call, so that a slow process keeps its lease. */
const LEASE_MS = 120_000;
/** Gathered facts older than this are gathered again before they are used. */
const FACTS_VALID_MS = 30_000;
const TOO_OLD = 'checks of a claim took too long; nothing is sent';
const RETRY_MS = 10_000;
const NO_CARD_RETRY_MS = 1_000;

/** The job of an approved change: decides again with fresh facts, claims, asks the witness, sends once. */
export function runKind(context: WorkflowContext): JobKind {
  const unread: Unread = new Map();
  return {
    lane: 'runs',
    retryMs: () => RETRY_MS,
    // Nothing runs later than its expiry, which ends the change.
    run: ({ key }) => run(context, key as ChangeId, unread),
  };
}

async function run(context: WorkflowContext, id: ChangeId, unread: Unread): Promise<JobResult> {
  const change = await loadChange(context.events, id);
  if (change?.state === 'executing') return storeKnown(context, change);
  if (change?.state !== 'approved') return 'done';
  const now = context.now();
  if (change.notBefore && now < change.notBefore) return change.notBefore;
  if (isUnread(context)) return new Date(now.getTime() + RETRY_MS);
  const card = await witnessOf(context, change);
  // Slack is read once before the claim, so that its outage makes no events.
  const thread = card && !isLocal(change) ? await threadBeforeClaim(context, id, card) : 'none';
  if (thread !== 'none' && !(await isTrusted(context, change, thread))) return 'done';
  if (!(await isUseShown(context, change))) return new Date(now.getTime() + RETRY_MS);
  const gathered = { ...(await gather(context, change, unread)), card };
  const claim = await claimOnce(context, id, gathered);
  if (claim instanceof Date) return claim;
  unread.delete(id);
  if (claim !== null && card) await sendWitnessed(context, claim, card, gathered.validUntil);
  return 'done';
}

/** The card whose thread is the witness: that of the change, or of the schedule of which it is a run. */
async function witnessOf(context: WorkflowContext, change: Change): Promise<Position | null> {
  const { schedule } = change.plan.timing ?? {};
  if (!schedule) return change.card;
  return (await loadChange(context.events, schedule))?.card ?? null;
}

/** Whether the thread stands, and shows nothing that the log does not have. What it shows else is answered. */
async function isTrusted(
  context: WorkflowContext,
  change: Change,
  thread: SeenThread | null,
): Promise<boolean> {
  if (!thread) {
    await distrustDeleted(context, change.id);
    return false;
  }
  return !(await answerForeign(context, change, [thread.card, ...thread.notes]));
}

/**
 * Whether the thread of the standing approval shows the use of a change, so that the log cannot give it back unnoticed.
 * Where it shows what the log has lost, the standing approval has ended, and the gate refuses the change.
 */
async function isUseShown(
  context: WorkflowContext,
  { id, standing: by }: Change,
): Promise<boolean> {
  const standing = by ? await loadChange(context.events, by) : null;
  const use = standing?.uses?.find((each) => each.change === id);
  if (!standing || !use || !isInForce(standing, context.now())) return true;
  const { card } = standing;
  if (!card) return false;
  const isShown = async () => {
    const thread = await context.messenger.readThread(card);
    const isTrue = await isTrusted(context, standing, thread);
    return !isTrue || thread?.notes.some(({ hash }) => hash === use.hash) === true;
  };
  if (await isShown()) return true;
  const { version, hash } = use;
  await context.messenger.postSending(standing, card, { version, hash, nonce: id });
  return isShown();
}

/** The card was deleted after people had decided: nobody can see any more what they agreed to. */
async function distrustDeleted(context: WorkflowContext, id: ChangeId): Promise<void> {
  const facts = { now: context.now(), why: 'card-deleted' } as const;
  const ask = (change: Change) => gate(change, 'distrust', facts);
  await advance(context, id, ask, ({ plan: { timing } }, locked) =>
    timing?.schedule ? pausedWithoutCard(locked, timing.schedule) : null,
  );
}

/** What was gathered right before a claim, before its transaction. */
type Gathered = Awaited<ReturnType<typeof gather>> & { readonly card: Position | null };

/** A membership reading at most this old serves the claim. */
const READING_VALID_MS = 10_000;

async function gather(context: WorkflowContext, change: Change, unread: Unread) {
  const now = context.now();
  const since = new Date(now.getTime() - READING_VALID_MS);
  const users = [change.requester, ...change.approvals.map(({ by }) => by)];
  const isDiscovered = currentTarget(context, change.plan).discovered === true;
  const [identities, state, services] = await Promise.all([
    identitiesOf(context, users, { fresh: true, since }),
    // Compared with its preview; null where that was not read.
    compareTarget(context, change),
    // What the directory says about a discovered service may be some minutes old.
    isDiscovered ? context.verifyServices(change.organization) : context.services(),
  ]);
  return {
    ...{ identities, state, services },
    validUntil: new Date(now.getTime() + FACTS_VALID_MS),
    // The target could not be read yet, so that nothing is sent now.
    mustReadAgain: mustReadAgain(unread, change.id, state, context.now()),
  };
}

/** A change that this process may send: `claimed` was committed, and the commit was answered. */
interface Claim {
  readonly change: Change;
  readonly mark: AttemptMark;
  /** The time of this process, in milliseconds since its start: clocks of machines are not compared. */
  readonly claimedAt: number;
}

/** `Date`: nothing could be decided now, so that the claim is repeated then. Null: there is nothing to send. */
async function claimOnce(
  context: WorkflowContext,
  id: ChangeId,
  gathered: Gathered,
): Promise<Claim | Date | null> {
  const nonce = randomUUID();
  const claimedAt = performance.now();
  const { result, events } = await append<Claimed | Date | null>(context.events, (locked) =>
    decideClaim(context, locked, id, nonce, gathered),
  );
  if (result === null || result instanceof Date) return result;
  const { before, change, isSent } = result;
  noteMoved(context, before, change);
  context.wake();
  if (!isSent) return null;
  const stream = `change/${id}`;
  const appended = events.findLast((each) => each.stream === stream);
  if (!appended) throw new Error(`The claim of ${id} was not appended`);
  const { version, hash } = appended;
  return { change, mark: { version, hash, nonce }, claimedAt };
}

/** `isSent`: whether a request has to be sent now. */
type Claimed = Readonly<Record<'before' | 'change', Change> & { isSent: boolean }>;

async function decideClaim(
  context: WorkflowContext,
  locked: LockedLog,
  id: ChangeId,
  nonce: string,
  gathered: Gathered,
) {
  const change = await loadChange(locked, id);
  if (!change) return { events: [], result: null };
  const facts = await claimFacts(context, locked, change, nonce, gathered);
  const answer = gate(change, 'claim', facts);
  if ('waits' in answer) {
    const { waits } = answer;
    // The other ones are usual, or have lines of their own.
    if (waits === 'facts-too-old') context.log.warn({ change: id }, TOO_OLD);
    const isShort = waits === 'no-card' || waits === 'press-unanswered';
    const ms = isShort ? NO_CARD_RETRY_MS : RETRY_MS;
    return { events: [], result: new Date(context.now().getTime() + ms) };
  }
  if ('refusal' in answer) {
    const { refusal, ends } = answer;
    if (!ends) return { events: [], result: null };
    const stateCheck =
      refusal === 'target-changed' ? await differenceOf(locked, change, gathered) : null;
    const moves = move(context, locked.at, change, { ...ends, ...(stateCheck && { stateCheck }) });
    const after = await afterRefusedRun(locked, change, refusal);
    const result = { before: change, change: moves.change, isSent: false };
    return { ...together(moves, after), result };
  }
  const evidence = { groups: groupsOf(gathered.identities) };
  const claimed = move(context, locked.at, change, { ...answer, evidence });
  const over = await mayPassLock(locked, change);
  const taken: NewEvent = {
    stream: `target/${targetKey(change)}`,
    event: { type: 'taken', change: id, over },
  };
  const events = [...claimed.events, taken];
  if (isLocal(change)) return applyOwn(context, locked, change, { ...claimed, events }, nonce);
  return {
    events,
    jobs: claimed.jobs,
    result: { before: change, change: claimed.change, isSent: true },
  };
}

async function claimFacts(
  context: WorkflowContext,
  locked: LockedLog,
  change: Change,
  nonce: string,
  { validUntil, identities, state, mustReadAgain, services, card }: Gathered,
): Promise<ClaimFacts> {
  const facts = await ruleFacts({ ...context, services: () => services }, locked, change);
  const active = await activeConfiguration(locked);
  const presses = await locked.loadAll(`press/${change.id}`, evolvePress);
  return {
    ...facts,
    ...{ validUntil, identities, mustReadAgain },
    mayExecute: active === null || active.configuration === context.configuration,
    isAnswered: [...presses.values()].every(({ state: press }) => press?.isAnswered ?? true),
    hasCard: card !== null,
    schedule: await scheduleFacts(locked, change),
    standing: change.standing ? await loadChange(locked, change.standing) : null,
    // A decision about the freeze itself runs.
    isStopped: facts.isStopped && change.plan.target.kind !== 'freeze',
    differs: state?.kind === 'differs',
    lock: await lockOf(locked, change),
    claim: { by: context.instance, nonce, until: new Date(locked.at + LEASE_MS) },
    // It is sent although its target could not be read.
    stateCheck: state?.kind === 'unread' ? { kind: 'unverified', why: state.why } : undefined,
  };
}

async function lockOf(locked: LockedLog, change: Change): Promise<ClaimFacts['lock']> {
  const { state: holders } = await locked.load(`target/${targetKey(change)}`, evolveHolders);
  const others = (holders ?? []).filter((each) => each !== change.id);
  if (others.length > 0 && (await mayPassLock(locked, change)) === null) return 'held by another';
  return (await changedSincePlan(locked, change)) ? 'changed since the preview' : 'free';
}

/** How the target differs, and the change in Signalbox that explains it. */
async function differenceOf(locked: Subjects, change: Change, { state }: Gathered) {
  const changedBy = await changedSincePlan(locked, change);
  const differences = state?.kind === 'differs' ? state.differences : [];
  return { kind: 'differs', differences, changedBy } as const;
}

function groupsOf(identities: Gathered['identities']) {
  const groups = [...identities.values()].flatMap((identity) =>
    identity.ok ? identity.evidence.groups : [],
  );
  return [...new Map(groups.map((group) => [group.id, { ...group }])).values()];
}

/** A change of Signalbox itself: claim, effect and outcome are one append, so that no outcome is unknown. */
async function applyOwn(
  context: WorkflowContext,
  locked: LockedLog,
  before: Change,
  claimed: Moves,
  nonce: string,
) {
  const own = await ownEvents(context, locked, claimed.change);
  const now = new Date(locked.at);
  const call = { at: now, tookMs: 0, requestId: null };
  const outcome: ExecutionOutcome = own.ok
    ? { how: 'succeeded', ...call, reported: [] }
    : { how: 'failed', ...call, status: null, text: own.text };
  const ending = gate(claimed.change, 'finish', { nonce, outcome });
  if ('refusal' in ending) throw new Error(`${before.id} could not end: ${ending.refusal}`);
  const ended = move(context, locked.at, claimed.change, ending);
  const result = { before, change: ended.change, isSent: false };
  // Nothing is sent, so that no job of the claim is due.
  const begun = { ...NOTHING, events: claimed.events };
  return { ...together(begun, own.ok ? own : null, ended), result };
}

/** Attempts whose request may have left, with their answers until these are stored. */
const begun = new Map<string, AttemptResult | null>();

/** The request is sent only if the thread shows this attempt first, and nothing that the log does not have before it. */
async function sendWitnessed(
  context: WorkflowContext,
  claim: Claim,
  card: Position,
  sendBefore: Date,
): Promise<void> {
  const problem = await witnessProblem(context, claim, card);
  if (problem !== null) return recordResult(context, claim, notSent('thread', problem));
  const elapsed = performance.now() - claim.claimedAt;
  if (context.now() >= sendBefore || elapsed >= FACTS_VALID_MS) {
    context.log.warn({ change: claim.change.id }, TOO_OLD);
    return recordResult(context, claim, notSent('process', 'The checks took too long.'));
  }
  context.measures.sent(context.now().getTime() - readyAt(claim.change).getTime());
  begun.set(claim.mark.nonce, null);
  const result = await send(context, claim.change);
  await recordResult(context, claim, result);
  context.refreshDirectory();
}

/** When it could have been sent at the earliest. */
function readyAt({ approvals, notBefore, confirmedAt, createdAt }: Change): Date {
  const last = approvals.at(-1)?.at ?? confirmedAt ?? createdAt;
  return notBefore && notBefore > last ? notBefore : last;
}

/** Why nothing may be sent; null: the thread agrees with the log. */
async function witnessProblem(
  context: WorkflowContext,
  { change, mark }: Claim,
  card: Position,
): Promise<string | null> {
  try {
    // A lost answer says nothing: the thread shows whether the note was posted.
    await context.messenger.postSending(change, card, mark).catch(async (err: unknown) => {
      context.log.warn({ err, change: change.id }, 'note before a request got no answer');
      if (err instanceof PostRefused && err.retryAfterMs === null)
        await reportUnsent(context, change, err.why);
    });
    const thread = await context.messenger.readThread(card);
    if (!thread) return 'The card was deleted.';
    const own = thread.notes.findIndex(({ nonce }) => nonce === mark.nonce);
    if (own < 0) return 'Slack does not show the note of this attempt.';
    const before = [thread.card, ...thread.notes.slice(0, own)];
    // The log may have lost since then what was claimed.
    const logged = (await loadChange(context.events, change.id)) ?? change;
    const isForeign = await answerForeign(context, logged, before);
    return isForeign ? 'The thread shows events that the database has lost.' : null;
  } catch (err) {
    context.log.warn({ err, change: change.id }, 'thread of the card could not be used');
    return 'The thread of its card could not be used.';
  }
}

async function reportUnsent(context: WorkflowContext, change: Change, why: string): Promise<void> {
  const text = `“${changeTitle(change)}” (${change.id}) waits: Slack refuses the note before its request: ${why}.`;
  await notifyOnce(context, `${change.id} note ${why}`, [
    { to: null, title: 'Notice', text },
    { to: change.requester, title: `Change ${change.id}`, text },
  ]);
}

type AttemptResult =
  | { readonly kind: 'ended'; readonly ending: ExecutionOutcome; readonly sent: SendResult | null }
  | (Unsent & { readonly kind: 'not-sent'; readonly retryAfterMs: number });

/** `why` is a sentence, and `cause` its kind. */
type Unsent = Readonly<Record<'cause' | 'why', string>>;

const FIRST_HAND_BACK_MS = 10_000;
const LONGEST_HAND_BACK_MS = 300_000;
// Also after the lease, which ends as an unknown outcome: a late answer is evidence.
const RECORD_RETRIES_MS = [0, 200, 1_000, 3_000, 10_000, ...Array<number>(240).fill(15_000)];

function notSent(cause: string, why: string, retryAfterMs = FIRST_HAND_BACK_MS): AttemptResult {
  return { kind: 'not-sent', cause, why, retryAfterMs };
}

/** Failures that come in turn while one thing is wrong: they are one cause. */
const SAME_CAUSE: readonly (readonly ApiErrorKind[])[] = [
  ['rate-limit', 'budget', 'paused'],
  ['no-connection', 'no-name'],
];

async function send(context: WorkflowContext, change: Change): Promise<AttemptResult> {
  const command = context.commands.get(change.command);
  if (!command?.send) {
    return notSent('no-command', `This release has no command ${change.command}.`);
  }
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const { target, body } = change.plan;
    // With the key of the organization that was approved, whatever the directory says by now.
    const sent = await command.send(target, body, context.commandContext(change.organization));
    return succeeded(sent, context.now(), took());
  } catch (err) {
    context.log.warn({ err, change: change.id }, 'request did not succeed');
    return settle(context, change, resultOf(err, context.now(), took()));
  }
}

function succeeded(sent: SendResult, at: Date, tookMs: number): AttemptResult {
  const { requestId, reported, createdId } = sent;
  const ending = { how: 'succeeded', at, tookMs, requestId, reported } as const;
  return { kind: 'ended', ending: { ...ending, ...(createdId && { createdId }) }, sent };
}

/** A fresh read may show that a request without an answer was applied, or that one with a conflict was not. */
async function settle(
  context: WorkflowContext,
  change: Change,
  result: AttemptResult,
): Promise<AttemptResult> {
  if (result.kind !== 'ended' || result.ending.how !== 'unknown') return result;
  const { ending } = result;
  const { id } = change;
  const unread = (err: unknown) => {
    context.log.warn({ err, change: id }, 'target could not be read after an unknown outcome');
    return null;
  };
  const now = ending.status === 409 && (await compareTarget(context, change).catch(unread));
  // A conflict after which the target is as it was: the request did not fit, and was not applied.
  if (now && now.kind === 'same') return { ...result, ending: { ...ending, how: 'failed' } };
  const read = context.commands.get(change.command)?.verifyOutcome;
  const { target, body } = change.plan;
  const sent = await read?.(target, body, context.commandContext()).catch(unread);
  return sent ? succeeded(sent, context.now(), ending.tookMs) : result;
}

function resultOf(error: unknown, at: Date, tookMs: number): AttemptResult {
  const about = { at, tookMs, requestId: null, status: null };
  if (error instanceof InvalidRequest) {
    const broken = error.problems.map(({ field, problem }) => `${plainWords(field)} ${problem}`);
    return ended('failed', { ...about, text: `Signalbox did not send it: ${broken.join('; ')}.` });
  }
  if (!(error instanceof ApiError)) {
    // A defect of Signalbox after the claim: the request may have been sent.
    const text = 'An internal error occurred while the request was being sent.';
    return ended('unknown', { ...about, text });
  }
  const { requestId, status, serverText, sentence, kind, retryAfterMs } = error;
  if (error.effect === 'not-sent') {
    const [cause = kind] = SAME_CAUSE.find((all) => all.includes(kind)) ?? [];
    return notSent(cause, sentence, retryAfterMs ?? undefined);
  }
  const how = error.effect === 'refused' ? 'failed' : 'unknown';
  return ended(how, { at, tookMs, text: serverText ?? sentence, requestId, status });
}

function ended(
  how: 'failed' | 'unknown',
  facts: Omit<ExecutionOutcome & { how: 'failed' }, 'how'>,
): AttemptResult {
  return { kind: 'ended', ending: { how, ...facts }, sent: null };
}

// Without a stored outcome, users would have to check the target, so that storing it is retried.
async function recordResult(
  context: WorkflowContext,
  claim: Claim,
  result: AttemptResult,
): Promise<void> {
  const { id } = claim.change;
  if (begun.has(claim.mark.nonce)) begun.set(claim.mark.nonce, result);
  for (const [tries, pauseMs] of RECORD_RETRIES_MS.entries()) {
    await wait(pauseMs);
    try {
      await withRestore(context, () => store(context, claim, result));
      if (begun.has(claim.mark.nonce)) begun.set(claim.mark.nonce, null);
      if (result.kind === 'not-sent') context.measures.permitReturned();
      return;
    } catch (err) {
      const level = tries === 0 ? 'warn' : 'debug';
      context.log[level]({ err, change: id }, 'outcome could not be stored; it is tried again');
    }
  }
  throw new Error(
    `The outcome of ${id} could not be stored. Its lease ends, and it becomes unknown.`,
  );
}

async function store(context: WorkflowContext, claim: Claim, result: AttemptResult): Promise<void> {
  const { id } = claim.change;
  const { nonce } = claim.mark;
  if (result.kind === 'ended' && result.sent) await storeReply(context, claim.change, result.sent);
  const state = result.kind === 'ended' ? result.sent?.learned?.fields.state : undefined;
  await advance(
    context,
    id,
    // After the lease the change is `unknown`, which a late answer does not overrule: it is added.
    (change) => endingOf(context, change, nonce, result),
    (change, locked) => settledByOpposite(context, locked, change, state),
  );
}

function endingOf(context: WorkflowContext, change: Change, nonce: string, result: AttemptResult) {
  if (result.kind === 'ended') return gate(change, 'finish', { nonce, outcome: result.ending });
  const ms = handBackMs(change.attempts, result.retryAfterMs);
  const notBefore = new Date(context.now().getTime() + ms);
  const { cause, why } = result;
  return gate(change, 'return', { nonce, cause, why, notBefore });
}

/** Each claim and each return is an event of the log, so that the waits grow. */
function handBackMs(attempt: number, requestedMs: number): number {
  if (attempt <= 1) return requestedMs;
  const grownMs = FIRST_HAND_BACK_MS * 2 ** (attempt - 1);
  return Math.max(requestedMs, Math.min(grownMs, LONGEST_HAND_BACK_MS));
}

/** What the reply taught, and its password. Repeating it has no effect. */
async function storeReply(
  context: WorkflowContext,
  change: Change,
  sent: SendResult,
): Promise<void> {
  const { learned, secret } = sent;
  if (!learned && !secret) return;
  await transaction(context.store, async (tx) => {
    const source = `reply to ${change.command}`;
    const about = { source, seenAt: context.now(), organizationId: change.organization };
    // A reply without a name leaves that of the target.
    const name = nameWithin(change.plan.target, learned?.name ?? '');
    if (learned) await learnServices(tx, [{ ...learned, ...about, name }]);
    if (secret) await storeSecret(tx, context, change, secret);
  });
}

/**
 * What this process knows of its own claim: the answer that it holds, or, where the commit of the claim got no answer,
 * that it sent nothing.
 */
async function storeKnown(context: WorkflowContext, change: Change): Promise<JobResult> {
  const { lease } = change;
  if (lease?.owner !== context.instance) return 'done';
  const mark = { version: change.version, hash: change.hash, nonce: lease.nonce };
  const claim = { change, mark, claimedAt: performance.now() };
  const unsent = notSent('process', 'The commit before the request was not confirmed.');
  const known = begun.has(lease.nonce) ? begun.get(lease.nonce) : unsent;
  if (known) await store(context, claim, known);
  return 'done';
}

/** The job of a change that does not run in time. */
export function expireKind(context: WorkflowContext): JobKind {
  return {
    lane: 'background',
    run: async ({ key }) => {
      const id = key as ChangeId;
      const ending = await advance(context, id, (change) =>
        gate(change, 'expire', { now: context.now() }),
      );
      if (ending !== 'too-early') return 'done';
      return (await loadChange(context.events, id))?.expiresAt ?? 'done';
    },
  };
}

/** The job of a claim whose lease has ended: the request may have arrived, so that it is never sent again. */
export function lostKind(context: WorkflowContext): JobKind {
  return {
    lane: 'background',
    run: async ({ key }) => {
      const id = key as ChangeId;
      const claimed = await loadChange(context.events, id);
      const until = claimed?.lease?.until;
      if (claimed?.state === 'executing' && until && context.now() >= until) {
        await storeKnown(context, claimed);
      }
      const ending = await advance(context, id, (change) =>
        gate(change, 'lose', { now: context.now(), isOver: false }),
      );
      return ending === 'too-early' && until ? until : 'done';
    },
  };
}

/**
 * Ends all executions of the process before, and lets its jobs run again. To be called at the start, before anything
 * is claimed, and only where the database proves that this process is the only one.
 */
export async function takeOver(context: WorkflowContext): Promise<void> {
  const query = { states: ['executing'], limit: EXECUTING_MAX } as const;
  const executing = await listChanges(context.events, query);
  await transaction(context.store, releaseJobs);
  const facts = { now: context.now(), isOver: true };
  for (const { id } of executing)
    await advance(context, id, (change) => gate(change, 'lose', facts));
}

const EXECUTING_MAX = 1_000;

/** For how long a failed optional read delays a change. */
const PATIENCE_MS = 120_000;

/**
 * Since when this process could not read the targets of its changes. Another process or a restart
 * begins again, which only delays the change.
 */
type Unread = Map<ChangeId, number>;

/** Whether the read has to be repeated before the change may be sent without it. */
function mustReadAgain(
  unread: Unread,
  id: ChangeId,
  state: CurrentState | null,
  now: Date,
): boolean {
  if (state?.kind !== 'unread' || state.isOff) return false;
  const first = unread.get(id) ?? now.getTime();
  unread.set(id, first);
  return now.getTime() - first < PATIENCE_MS;
}
