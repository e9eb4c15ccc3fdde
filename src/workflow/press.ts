import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { during, traceHere } from '../base/log.ts';
import { spanText } from '../base/text.ts';
import { MINUTE_MS } from '../base/time.ts';
import {
  type Actor,
  type Change,
  type ChangeId,
  isPerson,
  type Plan,
  type Refusal,
  type State,
  type UserId,
  VERBS,
  type Verb,
} from '../domain/change.ts';
import { createDenial, type Denial, gate, type Identity, isPermitting } from '../domain/gate.ts';
import { INCIDENT_VERBS } from '../domain/incidents.ts';
import { evolvePress, type LoggedPress } from '../domain/log-events.ts';
import type { Place } from '../domain/place.ts';
import { append, Damaged, KeyProblem, type LockedLog, loadChange } from '../log/index.ts';
import { databaseProblem } from '../storage/index.ts';
import { denialOfVerb, nameAlternatives, refusalOfVerb } from './authorize.ts';
import { afterDrawn, DRAWN_WITHIN_MS } from './cards.ts';
import type { DecisionContext, Mark, ReceivedPress, ReplyTo, WorkflowContext } from './context.ts';
import type { JobKind, JobResult } from './jobs.ts';
import { showHome } from './lists.ts';
import { type Effects, identityFacts, move, NOTHING, noteMoved, runOf, together } from './moves.ts';
import { blockingFreeze, outlookFacts } from './news.ts';
import { noticeFor } from './notices.ts';
import {
  becomesPlace,
  foreignPlace,
  isOlderState,
  isPlace,
  isPostedAt,
  LoggedPlace,
} from './places.ts';
import { countAttempts, type RateLimitStatus } from './rates.ts';
import { planNarrower } from './request.ts';
import { lookUpStanding, standingFacts, usedBy } from './standing.ts';
import { pressFacts } from './target.ts';
import { answerForeign, beginThreadRead, withRestore } from './witness.ts';

/** A press that decides, as Slack delivered it: nothing of it is checked yet. */
interface Pressed {
  /** Slack's id of the interaction: a repeated delivery is the same press. */
  readonly key: string;
  readonly verb: Verb | IncidentVerb;
  /** The id of the change or of the anomaly, as the button carries it. It grants no permission. */
  readonly change: string;
  readonly by: UserId;
  /** The reason or the note. */
  readonly text: string;
  /** What an approver filled in to approve less. */
  readonly given?: Readonly<Record<string, string>>;
  /** `post`: the name of the message with the button of an anomaly, as that message says it. */
  readonly place: Place & { readonly post?: string | null };
  /** The mark of the message with the button; null where the payload had none. */
  readonly seen: Mark | null;
  readonly replyTo: ReplyTo;
}

type IncidentVerb = (typeof INCIDENT_VERBS)[number];

/** `again`: the press was received before. A press above the rate limit is never handled. */
export type Receipt = RateLimitStatus | 'again';

/**
 * Stores a press. It resolves after the commit and before Slack gets its answer, because Slack never sends a press
 * again. The job of the press decides.
 */
export async function receivePress(context: WorkflowContext, pressed: Pressed): Promise<Receipt> {
  const { key, change, by, verb, text, place, seen, given } = pressed;
  const stream = `press/${change}/${key}` as const;
  const mark = seen && `${seen.version}.${seen.hash}`;
  const filled = given && { given: { ...given } };
  const at = { place: { ...place }, seen: mark };
  const event = { type: 'pressed', verb, by, text, ...at, ...filled } as const;
  // A repeated delivery is not counted.
  const known = await withRestore(context, () => context.events.load(stream, evolvePress));
  if (known.state) return 'again';
  const limited = await countAttempts(context, 'press', by);
  if (limited !== 'ok') return limited;
  const { result } = await withRestore(context, () =>
    append<Receipt>(context.events, async (locked) => {
      if ((await locked.load(stream, evolvePress)).state) return { events: [], result: 'again' };
      const job = { kind: 'press', key: `${change}/${key}`, dueAt: locked.at };
      return { events: [{ stream, event }], jobs: [job], result: 'ok' };
    }),
  );
  if (result === 'ok') remember(context, pressed);
  context.wake();
  return result;
}

/** Why nothing can be stored now, as a sentence; null for any other error. */
export function storingProblem(error: unknown): string | null {
  if (databaseProblem(error) !== null) return 'Signalbox cannot use its database';
  const isUnverified = error instanceof Damaged || error instanceof KeyProblem;
  return isUnverified ? 'Signalbox cannot verify its log' : null;
}

/** What this process alone knows about a press: where its answer goes, and the trace that its handling continues. */
interface RememberedPress {
  readonly press: ReceivedPress;
  readonly trace: ReturnType<typeof traceHere>;
}

const replies = new WeakMap<DecisionContext['events'], Map<string, RememberedPress>>();
/** Slack accepts an answer to a press for this time. */
const REPLY_MS = 30 * MINUTE_MS;

/** Where the answer goes is known to this process alone: a response URL is never stored. */
function remember(
  { events, now }: WorkflowContext,
  { key, by, replyTo }: Pick<Pressed, 'key' | 'by' | 'replyTo'>,
): void {
  const known = replies.get(events) ?? new Map<string, RememberedPress>();
  replies.set(events, known);
  const at = now();
  for (const [each, { press }] of known) {
    if (at.getTime() - press.at.getTime() > REPLY_MS) known.delete(each);
  }
  known.set(key, { press: { key, at, by, replyTo }, trace: traceHere() });
}

/** After a restart, the answer goes to the channel of the message. */
function receivedOf({ events }: WorkflowContext, { key, press }: StoredPress): ReceivedPress {
  const known = replies.get(events)?.get(key);
  if (known) return known.press;
  const { by, pressedAt: at } = press;
  const place = placeOf(press);
  const [channel, thread] =
    place.kind === 'message' ? [place.at.channel, place.thread] : [null, null];
  const nowhere = { url: null, user: by, channel, ts: null, thread };
  return { key, at, by, replyTo: { ...nowhere, replaces: false, home: false } };
}

/** Whether a stored press was answered, by this or another process. */
export async function isHandled(
  { events }: Pick<DecisionContext, 'events'>,
  change: string,
  key: string,
): Promise<boolean> {
  const { state } = await events.load(`press/${change}/${key}`, evolvePress);
  return state?.isAnswered ?? true;
}

interface PressedForm extends Pick<Pressed, 'by' | 'text' | 'given'> {
  readonly change: ChangeId;
  readonly verb: Verb;
}

const TOO_LATE: readonly Refusal[] = ['expired', 'already-decided', 'not-unknown'];

/**
 * The state because of which a filled form comes too late, or what is wrong with its values; null if it may still count.
 * It decides nothing: the stored press does.
 */
export async function formProblem(
  context: WorkflowContext,
  { change: id, verb, by, text, given }: PressedForm,
): Promise<State | readonly FieldProblem[] | null> {
  const change = await loadChange(context.events, id);
  const refusal = change && refusalOfVerb(context, verb, change, { by, identity: null, text });
  if (refusal && TOO_LATE.includes(refusal)) return refusal === 'expired' ? refusal : change.state;
  if (!change || refusal || !given) return null;
  const planned = await planNarrower(context, change, given, { by, isEstimated: false });
  return planned.ok ? null : planned.problems;
}

const RETRY_MS = 5_000;

/** The job of a press: decides and records, then shows the outcome to everyone and answers the user. */
export function pressKind(context: WorkflowContext): JobKind {
  return {
    lane: 'presses',
    retryMs: () => RETRY_MS,
    traceOf: (key) => replies.get(context.events)?.get(key.slice(key.indexOf('/') + 1))?.trace,
    run: async ({ key: jobKey }) => {
      const cut = jobKey.indexOf('/');
      // The id of the change was checked when the press was received.
      const [id, key] = [jobKey.slice(0, cut) as ChangeId, jobKey.slice(cut + 1)];
      const stream = `press/${id}/${key}` as const;
      const { state: press } = await context.events.load(stream, evolvePress);
      if (!press || press.isAnswered) return 'done';
      const stored = { id, key, stream, press };
      const incidentVerb = INCIDENT_VERBS.find((each) => each === press.verb);
      if (incidentVerb) return handleIncident(context, stored, incidentVerb);
      const about = { change: id, user: press.by, what: `press ${press.verb}` };
      return during(about, () => handle(context, stored));
    },
  };
}

interface StoredPress {
  readonly id: ChangeId;
  readonly key: string;
  readonly stream: `press/${string}`;
  readonly press: LoggedPress;
}

/** The card may be faster than its event. */
const PLACE_WITHIN_MS = 30_000;
/**
 * A decision whose lookups fail is tried again for this time: it was acknowledged. After it, for example of a stop,
 * nothing runs by this press any more.
 */
const LOOKUP_WITHIN_MS = 15 * MINUTE_MS;

/** When a press is handled again, because what it needs may come; null: it has waited long enough. */
function againFor(
  { now }: WorkflowContext,
  { pressedAt }: LoggedPress,
  what: 'place' | 'lookup',
): Date | null {
  const [withinMs, retryMs] =
    what === 'place' ? [PLACE_WITHIN_MS, 1_000] : [LOOKUP_WITHIN_MS, RETRY_MS];
  const at = now().getTime();
  return at - pressedAt.getTime() < withinMs ? new Date(at + retryMs) : null;
}

async function handle(context: WorkflowContext, stored: StoredPress): Promise<JobResult> {
  const { id, press } = stored;
  const verb = VERBS.find((each) => each === press.verb);
  const change = await loadChange(context.events, id);
  const refuse = (early: Refusal, identity: Identity | null = null) =>
    decide(context, stored, verb ?? 'approve', { early, identity });
  if (!verb || !change) return refuse('not-found');
  const place = placeOf(press);
  if (!(await isPlace(context, change, place))) {
    const again = place.kind === 'message' ? againFor(context, press, 'place') : null;
    if (!again) return refuse('foreign-place');
    if (!(await becomesPlace(context, change, place))) return again;
  }
  if (isOlderState(change, place)) return refuse('older-state');
  if (await answerForeign(context, change, [markOf(press.seen)])) return refuse('restored');
  // State, expiry, self-approval and duplicates are checked before the membership lookup, as if the
  // user had every role.
  const early = refusalOfVerb(context, verb, change, { ...press, identity: null });
  if (early) return refuse(early);
  if (verb === 'approve') beginThreadRead(context, change);
  const how = { fresh: verb !== 'cancel', since: press.pressedAt };
  const identity = await context.people.identify(press.by, how);
  const by = identity.ok ? await knownAs(context, change, identity.actor) : null;
  if (!by) return refuse(identity.ok ? 'lookup-failed' : identity.refusal, identity);
  const isLate = againFor(context, press, 'lookup') === null;
  if (isLate && isPermitting(verb)) return refuse('not-in-time', identity);
  const lookUp = (fresh = true) => context.people.identify(change.requester, { fresh });
  const requester = isPermitting(verb) ? await lookUp(false) : null;
  const own = { ...stored, press: { ...press, by } };
  const standing =
    verb === 'confirm' ? await lookUpStanding(context, change, identity, press.pressedAt) : null;
  const known = { early: null, identity, requester, lookUp, standing };
  if (verb !== 'narrow') return decide(context, own, verb, known);
  const narrower = await planNarrower(context, change, press.given ?? {}, own.press);
  if (!narrower.ok) return refuse('wider', identity);
  return decide(context, own, verb, { ...known, narrower: { ...narrower, of: change.digest } });
}

/** The id by which a change knows this person already, else the own one: nobody counts twice. Null: not looked up. */
async function knownAs(
  { people }: Pick<WorkflowContext, 'people'>,
  { requester, approvals, breakGlass }: Change,
  { id, ids = [id] }: Actor,
): Promise<UserId | null> {
  const pressed = [...approvals, ...(breakGlass ? [breakGlass] : [])];
  const known = [requester, ...pressed.map(({ by }) => by)];
  const named = known.find((each) => ids.includes(each));
  if (named) return named;
  // The ids of one person begin with different letters.
  for (const each of known.filter((other) => isPerson(other) && other[0] !== id[0])) {
    const other = await people.identify(each, { fresh: false });
    if (other.ok && other.actor.ids?.includes(id)) return each;
    if (!other.ok && other.refusal === 'lookup-failed') return null;
  }
  return id;
}

function markOf(seen: string | null): Mark | null {
  const [version = '', hash = ''] = seen?.split('.') ?? [];
  return hash ? { version: Number(version), hash } : null;
}

/** What is known before the change is read under the lock. */
interface Known {
  /** Why the press is refused, whatever the change says; null: the gate decides. */
  readonly early: Refusal | null;
  /** Null: not looked up. */
  readonly identity: Identity | null;
  /** The requester of a change that may run after the press. */
  readonly requester?: Identity | null;
  /** Looks the requester up, where the change could not run by what is cached. Missing: that was done. */
  readonly lookUp?: () => Promise<Identity>;
  /** Of a confirmation by a standing approval, its approvers; null or missing: there is none. */
  readonly standing?: ReadonlyMap<UserId, Identity> | null;
  /** The plan with less, and the digest of the plan that it lowers. */
  readonly narrower?: { readonly plan: Plan; readonly of: string };
}

interface Decided {
  readonly denial: Denial | null;
  readonly before: Change | null;
  readonly change: Change | null;
  /** The person saw and approved a wider plan than the change has. */
  readonly sawMore: boolean;
}

/** Decides and records in one append, then answers the user. A press that was answered meanwhile stays as it is. */
async function decide(
  context: WorkflowContext,
  stored: StoredPress,
  verb: Verb,
  known: Known,
): Promise<JobResult> {
  const { id, key, stream, press } = stored;
  const { result } = await append<Decided | 'look-up' | Date | null>(
    context.events,
    async (locked) => {
      if ((await locked.load(stream, evolvePress)).state?.isAnswered ?? true) {
        return { events: [], result: null };
      }
      const before = await loadChange(locked, id);
      // Another approver lowered it meanwhile: what this one filled in is planned again.
      const isOld = known.narrower && before && known.narrower.of !== before.digest;
      if (isOld) return { events: [], result: context.now() };
      const answer = await answerTo(context, locked, before, press, known);
      if (answer === 'look-up') return { events: [], result: answer };
      const evidence = identityFacts(known.identity);
      const refusal = 'refusal' in answer ? answer.refusal : null;
      // Of the person, or of an approver of the standing approval.
      const again = refusal === 'lookup-failed' ? againFor(context, press, 'lookup') : null;
      if (again) return { events: [], result: again };
      const caused = 'refusal' in answer ? answer.ends : { ...answer, evidence };
      const moves =
        before && caused
          ? move(context, locked.at, before, { ...caused, press: key }, DRAWN_WITHIN_MS)
          : null;
      const used =
        before && 'type' in answer ? await usedBy(context, locked, before, answer) : NOTHING;
      const change = moves?.change ?? before;
      const pressed = { verb, by: press.by };
      const denial = refusal && denialOfVerb(context, { refusal, change, press: pressed });
      const about = { what: `${press.verb} on change ${id}`, by: press.by, place: placeOf(press) };
      const news =
        refusal === 'foreign-place'
          ? noticeFor(foreignPlace(about), locked.at)
          : lateEnd(context, stored, denial, locked.at);
      const event = { type: 'answered', what: press.verb, refusal, evidence } as const;
      // A change is not claimed while a press of it is not answered.
      const waits = change?.state === 'approved' ? [runOf(change, locked.at)] : [];
      const own = { events: [{ stream, event }], jobs: waits };
      const approved = 'type' in answer && answer.type === 'approved' ? answer.digest : null;
      const sawMore = approved !== null && approved !== before?.digest;
      return { ...together(moves, used, own, news), result: { denial, before, change, sawMore } };
    },
  );
  if (result === null) return 'done';
  if (result instanceof Date) return result;
  if (result === 'look-up') {
    const { lookUp, ...others } = known;
    return decide(context, stored, verb, { ...others, requester: (await lookUp?.()) ?? null });
  }
  const { denial, before, change, sawMore } = result;
  if (change && before) noteMoved(context, before, change);
  context.wake();
  if (denial || !change) return deny(context, stored, verb, denial ?? createDenial('not-found'));
  return tell(context, stored, change, (shown) => {
    return { ok: true, verb, change: shown ?? change, ...(sawMore && { sawMore }) };
  });
}

/** A press that waits longer than this is answered by a message that is sent until Slack takes it. */
const SOON_MS = MINUTE_MS;

/** The end of a press that waited for its lookups: its user may not look at the private answer any more. */
function lateEnd(
  context: DecisionContext,
  { id, press: { by, pressedAt } }: StoredPress,
  denial: Denial | null,
  at: number,
): Effects {
  const waitedMs = at - pressedAt.getTime();
  if (waitedMs < SOON_MS) return NOTHING;
  const [title, end] = denial
    ? ['Not recorded', 'did not count.']
    : ['Recorded', 'is recorded only now.'];
  const text = `Your press of ${spanText(waitedMs)} ago on change ${id} ${end}`;
  const line = denial ? [' ', ...context.messenger.refusalLine(denial)] : [];
  return noticeFor({ to: by, title: `${title} (${id})`, text, line }, at);
}

async function answerTo(
  context: WorkflowContext,
  locked: LockedLog,
  before: Change | null,
  press: LoggedPress,
  { early, identity, requester = null, lookUp, narrower, standing: known = null }: Known,
): Promise<ReturnType<typeof gate<Verb>> | 'look-up'> {
  if (early || !before || !identity) return { refusal: early ?? 'not-found', ends: null };
  const verb = press.verb as Verb;
  const outlook = isPermitting(verb)
    ? await outlookFacts(context, locked, before, requester)
    : undefined;
  const isRefused = outlook !== undefined && gate(before, 'outlook', outlook) !== 'open';
  if (lookUp && isRefused) return 'look-up';
  const seen = markOf(press.seen)?.version ?? null;
  const standing = await standingFacts(context, locked, before, known);
  const own = { seen, narrower: narrower?.plan ?? null, standing };
  const facts = pressFacts(context, before, { ...press, identity });
  return gate(before, verb, { ...facts, ...(outlook && { outlook }), ...own });
}

function placeOf({ place }: LoggedPress): Place {
  return LoggedPlace.parse(place);
}

function deny(
  context: WorkflowContext,
  stored: StoredPress,
  verb: Verb,
  denial: Denial,
): JobResult {
  const { refusal, change } = denial;
  context.measures.refused(refusal);
  return tell(context, stored, change, async (shown) => {
    const named = await nameAlternatives(context, { ...denial, change: shown });
    const freeze = refusal === 'frozen' && change ? await blockingFreeze(context, change) : null;
    return { ok: false, verb, denial: { ...named, freeze } } as const;
  });
}

type Outcome = Parameters<WorkflowContext['messenger']['answerPress']>[1];

/**
 * Answers the user once the card shows the outcome to everyone. This answer may be lost: it is not waited for, so that
 * the next press is decided meanwhile.
 */
function tell(
  context: WorkflowContext,
  stored: StoredPress,
  change: Change | null,
  outcome: (shown: Change | null) => Outcome | Promise<Outcome>,
): JobResult {
  const { messenger, log } = context;
  const { stream, press } = stored;
  const received = receivedOf(context, stored);
  const answer = async () => {
    const shown = change && (await afterDrawn(context, change));
    const result = await outcome(shown);
    // What the database has lost meanwhile is not reported: the press is decided again, as the log is now.
    const { state } = await context.events.load(stream, evolvePress);
    const refusal = result.ok ? null : result.denial.refusal;
    if (!state?.isAnswered || state.refusal !== refusal) return;
    context.measures.shown(context.now().getTime() - press.pressedAt.getTime());
    await messenger.answerPress(received, result);
    if (received.replyTo.home) await showHome(context, press.by);
  };
  answer().catch((err: unknown) => {
    log.warn({ err, change: change?.id }, 'private answer was not delivered');
  });
  return 'done';
}

/** Decides about an anomaly. Repeating its decision has no effect. */
async function handleIncident(
  context: WorkflowContext,
  stored: StoredPress,
  verb: IncidentVerb,
): Promise<JobResult> {
  const { id, key, stream, press } = stored;
  const { by } = press;
  const place = placeOf(press);
  const post = z.string().nullable().parse(press.place.post);
  const isHere = await isPostedAt(context, place, post);
  // The post may be faster than its event.
  const mayCome = !isHere && place.kind === 'message' && post !== null;
  const outcome = isHere
    ? await context.incidents.press({ verb, id, by, key })
    : ({ ok: false, denial: createDenial('foreign-place') } as const);
  const refusal = outcome.ok ? null : outcome.denial.refusal;
  const isLookup = refusal === 'lookup-failed';
  const again = mayCome || isLookup ? againFor(context, press, mayCome ? 'place' : 'lookup') : null;
  if (again) return again;
  const event = { type: 'answered', what: verb, refusal } as const;
  await append(context.events, async ({ at }) => {
    const about = { what: `${verb} on the unusual cost ${id}`, by, place };
    const notice = isHere ? NOTHING : noticeFor(foreignPlace(about), at);
    return { ...together({ events: [{ stream, event }], jobs: [] }, notice), result: null };
  });
  const received = receivedOf(context, stored);
  context.messenger.answerIncidentPress(received, outcome).catch((err: unknown) => {
    context.log.warn({ err, incident: id }, 'private answer was not delivered');
  });
  return 'done';
}
