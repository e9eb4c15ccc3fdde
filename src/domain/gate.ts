// The gate: whether a verb is allowed on a change now. Every surface asks it, with facts of different
// age: preview, buttons, Home, the handling of a press, the claim, reverts, schedules and `/change who`.
// It checks in this order: state, expiry, self, duplicate, identity, membership, freezes, staleness.

import type { Freshness } from '../base/cache.ts';
import { HOUR_MS } from '../base/time.ts';
import { approvalStatus, coversRequirement, decidingRoles, resolvingRoles } from './approvals.ts';
import {
  type Actor,
  agentId,
  type Change,
  type ChangeId,
  type Evidence,
  type ExecutionOutcome,
  isEnded,
  isPerson,
  type Plan,
  type Press,
  type Refusal,
  type Requirement,
  type RoleName,
  type State,
  type StateCheck,
  type Target,
  type UserId,
  type Verb,
  type Via,
} from './change.ts';
import { type ChangeEvent, endingEvent, lateAnswer, noAnswer } from './change-events.ts';
import { planDigest } from './draft.ts';
import { scheduledStart } from './fold.ts';
import type { LoggedSchedule } from './log-events.ts';
import { digestShown, notNarrower } from './narrow.ts';
import {
  commandsFor,
  type Decision,
  decide,
  type Freeze,
  freezeFor,
  type NeverRule,
  type Policy,
  type PolicyQuestion,
  reachable,
  requirementFor,
  selects,
} from './policy.ts';
import {
  type AllowedChange,
  decideUse,
  hasFailedLookup,
  isInForce,
  type Known,
  refusalOfUse,
  rolesAmong,
  type StandingFacts,
} from './standing.ts';
import { hasSameFacts } from './targets.ts';
import { startsAt } from './timing.ts';

/** A request before it is a change. Without a target: a query of all, or of an unknown one. */
type Proposal = Pick<PolicyQuestion, 'command' | 'target' | 'reason' | 'needsReason'>;

interface ProposalFacts {
  readonly identity: Known;
  readonly policy: Policy;
  /** When it would run. */
  readonly now: Date;
}

/** What the rule requires, and the roles of the requester. */
interface Allowed extends Pick<Decision & { allow: true }, 'requires' | 'rule'> {
  readonly roles: readonly RoleName[];
}

/** A refused proposal, with the rule, the freeze or the prohibition that decided. */
export interface RefusedProposal
  extends Pick<Decision & { allow: false }, 'rule' | 'freeze' | 'never'> {
  readonly refusal: Refusal;
}

/** The form of commands; the first one names it. Without a target: for any. */
interface FormOf {
  readonly commands: readonly string[];
  readonly target: Target | null;
}

/** The end of a change that was not sent: the request no longer fits, or it is not permitted now. */
export type Stopped = Extract<ChangeEvent, { type: 'stale' | 'denied' }>;

export interface PressFacts {
  readonly by: UserId;
  /** Null: not looked up yet. Then the user is taken to have every role. */
  readonly identity: Known | null;
  /** The reason or the note. */
  readonly text: string;
  /** The version of the change that the person saw; missing where that is unknown. */
  readonly seen?: number | null;
  /** The plan with less, as the approver filled it in. */
  readonly narrower?: Plan | null;
  readonly now: Date;
  /** The current policy, with the freezes made in Slack where `log` is given. */
  readonly policy: Policy;
  /** The target with its current tags and warehouse. */
  readonly target: Target;
  /** Whether the change could run, as far as it is known. Missing: not checked. */
  readonly outlook?: OutlookFacts;
  /** The standing approval of the change. Missing: not gathered, so that it approves nothing. */
  readonly standing?: StandingFacts | null;
}

type Asking = Pick<PressFacts, 'by' | 'identity'>;

/** The rules that must permit a change: of its command, and of those that are approved together with it. */
interface RuleFacts extends Pick<StandingFacts, 'now' | 'policy' | 'target' | 'commands'> {
  /** What a standing approval allows, on each of its targets: each rule must permit it. */
  readonly allowed?: readonly AllowedChange[];
}

/** What decides whether a waiting change could run, if it got its approvals now. */
export interface OutlookFacts extends RuleFacts {
  /** The requester now. Null, or a lookup without an answer: the user is taken to have every role. */
  readonly requester: Known | null;
  /** Whether another change of the target succeeded since its preview. */
  readonly isOutdated: boolean;
}

/** What was gathered right before a claim: `identities` of the requester and the approvers. */
export interface ClaimFacts extends RuleFacts, StandingFacts {
  /** The facts count until this time. */
  readonly validUntil: Date;
  /** Whether this process has the latest configuration. */
  readonly mayExecute: boolean;
  /** A freeze that the log has lost waits for the decision of a person, and this change is not about freezes. */
  readonly isStopped: boolean;
  /** Whether all of its presses were answered: one may end it. */
  readonly isAnswered: boolean;
  /** Whether its card, or that of its schedule, stands in a channel: the thread is the witness. */
  readonly hasCard: boolean;
  /** The schedule of the run; null for any other change. */
  readonly schedule: Pick<LoggedSchedule, 'until' | 'isPaused' | 'isRemoved'> | 'unknown' | null;
  /** Whether what the change depends on differs from its preview. */
  readonly differs: boolean;
  /** The target could not be read yet, so that nothing is sent now. */
  readonly mustReadAgain: boolean;
  /** The lock of the target. */
  readonly lock: 'held by another' | 'changed since the preview' | 'free';
  /** What the claim records. */
  readonly claim: { readonly by: string; readonly nonce: string; readonly until: Date };
  readonly stateCheck: StateCheck | undefined;
}

/** Why nothing can be decided at the claim yet. */
type Delay =
  | 'too-early'
  | 'facts-too-old'
  | 'configuration-outdated'
  | 'freeze-lost'
  | 'press-unanswered'
  | 'no-card'
  | 'lookup-failed'
  | 'not-verified'
  | 'not-read'
  | 'locked';

/** Nothing is decided yet: the claim is repeated with newer facts. */
type Waits = { readonly waits: Delay };

/** `ends`: what happens to the change because of the refusal; null: nothing. */
interface Refused {
  readonly refusal: Refusal;
  readonly ends: Stopped | null;
}

interface RunFacts {
  readonly now: Date;
  /** The time of the occurrence. */
  readonly at: Date;
  readonly policy: Policy;
  /** The service with its current tags and warehouse. */
  readonly target: Target;
  /** The change of the service whose outcome is unknown; null: none. */
  readonly unknown: ChangeId | null;
  /** What a person changed on that day: the change in Signalbox; null: nothing. */
  readonly changedBy: ChangeId | null;
  /** Whether the service was changed outside Signalbox on that day; null: not asked yet. */
  readonly changedElsewhere: boolean | null;
}

/** Why an occurrence of a schedule does not run. */
export type Skipped =
  | { readonly skips: 'late' | 'changed-elsewhere' }
  | { readonly skips: 'frozen'; readonly freeze: Freeze }
  | { readonly skips: 'outcome-unknown' | 'changed'; readonly change: ChangeId };

/** An event that happens, or why it does not. */
type Decided = ChangeEvent | Refused;

type Gates = typeof GATES;

type About<V extends keyof Gates> = Parameters<Gates[V]>[0];
type Facts<V extends keyof Gates> = Parameters<Gates[V]>[1];
type Gate<V extends keyof Gates> = (about: About<V>, facts: Facts<V>) => ReturnType<Gates[V]>;

/** Says whether a verb is allowed now: what then happens, or why not. */
export function gate<V extends keyof Gates>(about: About<V>, verb: V, facts: Facts<V>) {
  const gates: { readonly [K in keyof Gates]: Gate<K> } = GATES;
  return gates[verb](about, facts);
}

function refuse(refusal: Refusal): Refused {
  return { refusal, ends: null };
}

/**
 * Only the attempt that was claimed last may end the execution. After its lease, what its process knows is evidence: it
 * settles nothing, and a reason that is recorded already is not recorded twice.
 */
function ofAttempt(
  { state, lease, unanswered, outcome }: Change,
  nonce: string,
  event: ChangeEvent,
): ChangeEvent | Refused {
  if (state === 'executing' && (lease?.nonce ?? '-') === nonce) return event;
  const late = state === 'unknown' && unanswered === nonce ? lateAnswer(nonce, event) : null;
  const isKnown = outcome?.how === 'unknown' && late?.text === outcome.text;
  return late && !isKnown ? late : refuse('not-executing');
}

/** The request no longer fits its target; any other refusal is about permissions. */
const STALE: readonly Refusal[] = [
  ...(['target-changed', 'tags-changed', 'not-verified', 'restored', 'card-deleted'] as const),
];

/** The end of a change that was not sent. */
function stopped({ state }: Change, why: Refusal, freeze: Freeze | null = null): Stopped {
  // A draft has no card, so that there is nobody else to read why it was denied.
  const as = STALE.includes(why) || state === 'draft' ? 'stale' : 'denied';
  if (!freeze) return { type: as, why };
  const { until, reason, by, made } = freeze;
  return { type: as, why, frozenBy: { until, reason, by, ...(made && { made }) } };
}

const NOTHING = { rule: null, freeze: null, never: null };

function decideProposal(
  proposal: Proposal,
  kind: 'query' | 'change',
  { identity, policy, now }: ProposalFacts,
): Allowed | RefusedProposal {
  if (!identity.ok) return { refusal: identity.refusal, ...NOTHING };
  const { actor } = identity;
  const decision = decide(policy, { ...proposal, kind, actor, now });
  if (!decision.allow) return decision;
  const { requires, rule } = decision;
  return { requires, rule, roles: actor.roles };
}

/** A form and the names that it suggests need a rule that admits the user to one of its commands. */
function decideForm(
  { commands, target }: FormOf,
  { identity, policy }: Pick<ProposalFacts, 'identity' | 'policy'>,
): 'allowed' | RefusedProposal {
  if (!identity.ok) return { refusal: identity.refusal, ...NOTHING };
  const [command] = commands;
  const { agent, ...user } = identity.actor;
  if (!command || commandsFor(policy, commands, identity.actor).length > 0) return 'allowed';
  const deciding = reachable(policy, command).find(
    ({ on }) => !target || selects(on, target) === true,
  );
  if (!deciding) return { refusal: 'no-rule', ...NOTHING };
  const isAgent = agent !== undefined && commandsFor(policy, commands, user).length > 0;
  const refusal = isAgent ? 'agent-not-admitted' : 'not-a-requester';
  return { refusal, ...NOTHING, rule: deciding };
}

type Check<Facts = PressFacts> = (change: Change, facts: Facts) => Refusal | null;

function isIn(states: readonly State[], otherwise: Refusal): Check {
  return ({ state }) => (states.includes(state) ? null : otherwise);
}

const UNSENT: readonly State[] = ['draft', 'pending', 'approved'];
const isDraft = isIn(['draft'], 'not-draft');
const isPending: Check = ({ state }) => {
  if (state === 'pending') return null;
  return state === 'draft' ? 'not-pending' : 'already-decided';
};
const isNotSent = isIn(UNSENT, 'already-decided');
const isUndecided = isIn(['draft', 'pending'], 'already-decided');
const isUnknown = isIn(['unknown'], 'not-unknown');
const hasEnded: Check = (change) => (isEnded(change) ? null : 'not-ended');
const usedBreakGlass: Check = ({ breakGlass }) => (breakGlass === null ? 'no-break-glass' : null);

const inTime: Check = ({ expiresAt }, { now }) => (now < expiresAt ? null : 'expired');
const beforeStart: Check = (change, { now }) => {
  const startAt = scheduledStart(change);
  return startAt && now >= startAt ? 'too-late' : null;
};

const byRequester: Check<Pick<PressFacts, 'by'>> = ({ requester }, { by }) =>
  requester === by ? null : 'not-requester';
/** An agent, a schedule and Signalbox never decide. */
const byPerson: Check<Pick<PressFacts, 'by'>> = (_change, { by }) => (isPerson(by) ? null : 'bot');
const byAnother: Check = ({ requester, requires }, { by }) =>
  by === requester && !requires.self ? 'self-approval' : null;
const byAnotherReviewer: Check = ({ breakGlass }, { by }) =>
  breakGlass?.by === by ? 'self-approval' : null;

const approvesOnce: Check = ({ approvals }, { by }) =>
  approvals.some((approval) => approval.by === by) ? 'already-approved' : null;
const reviewsOnce: Check = ({ review }) => (review === null ? null : 'already-reviewed');

const identified: Check<Pick<PressFacts, 'identity'>> = (_change, { identity }) =>
  identity === null || identity.ok ? null : identity.refusal;

const byDecider: Check = (change, facts) =>
  holdsOne(decidingRoles(change, facts.now), facts) ? null : 'not-an-approver';
/** What an agent asked for itself has no requester in Slack: who may approve it may end it, also after the approval. */
const byOwner: Check = (change, facts) =>
  isPerson(change.requester)
    ? byRequester(change, facts)
    : (identified(change, facts) ?? byDecider(change, facts));
const byResolver: Check = (change, facts) => (mayResolve(change, facts) ? null : 'not-an-approver');
const inForce: Check = (change, { now }) => (isInForce(change, now) ? null : 'standing-ended');
/** Who may end a standing approval: its requester, and all who may approve it. */
const byRevoker: Check = (change, facts) =>
  change.requester === facts.by ? null : byDecider(change, facts);
const byReviewer: Check = ({ requires }, facts) =>
  holdsOne([requires.from, requires.breakGlass], facts) ? null : 'not-an-approver';
const byBreakGlassRole: Check = ({ requires }, facts) => {
  if (requires.breakGlass === null) return 'no-break-glass';
  return holdsOne([requires.breakGlass], facts) ? null : 'may-not-break-glass';
};

const withReason: Check = (_change, { text }) => (text.trim() === '' ? 'reason-required' : null);
const withNote: Check = (_change, { text }) => (text.trim() === '' ? 'note-required' : null);

/** A press is checked in this order, and the first refusal counts. `last` may end the change. */
function press(
  checks: readonly Check[],
  eventOf: (facts: PressFacts, change: Change) => Decided,
  last: (change: Change, facts: PressFacts) => Refused | null = () => null,
): PressGate {
  return (change, facts) =>
    firstRefusal([byPerson, ...checks], change, facts) ??
    last(change, facts) ??
    eventOf(facts, change);
}

type PressGate = (change: Change, facts: PressFacts) => Decided;

const approve = press(
  [isPending, inTime, byAnother, approvesOnce, identified, byDecider],
  // Who agreed to a wider plan agreed to the narrower one as well.
  ({ by, seen = null }, change) => ({ type: 'approved', by, digest: digestShown(change, seen) }),
  hopeless,
);

const GATES = {
  query: (proposal: Proposal, facts: ProposalFacts) => decideProposal(proposal, 'query', facts),
  request: (proposal: Proposal, facts: ProposalFacts) => decideProposal(proposal, 'change', facts),
  form: decideForm,
  /** Whether a waiting change could run. A refusal that may pass ends nothing. */
  outlook: (change: Change, facts: OutlookFacts) => outlookOf(change, facts) ?? 'open',
  /** Editing a draft, and reading its password. */
  own: (change: Change, facts: Asking) =>
    firstRefusal([identified, byRequester], change, facts) ?? 'allowed',
  confirm: press(
    [byRequester, isDraft, inTime, beforeStart, identified],
    (facts, change) => confirmation(change, facts),
    hopeless,
  ),
  /** Whether a change may run by a standing approval, and by whose approvals. */
  use: decideUse,
  revoke: press([inForce, identified, byRevoker], ({ by }) => ({ type: 'revoked', by })),
  approve,
  narrow: (change: Change, facts: PressFacts): Decided => {
    const approved = approve(change, facts);
    if ('refusal' in approved) return approved;
    const { by, narrower: plan, now } = facts;
    if (!plan) return refuse('not-narrower');
    const refused = notNarrower(change.plan, plan, now);
    if (refused) return refuse(refused.refusal);
    const digest = planDigest({ ...change, plan });
    return { type: 'narrowed', by, plan, digest, wider: change.digest };
  },
  reject: press([isPending, inTime, identified, byDecider, withReason], ({ by, text: reason }) => ({
    type: 'rejected',
    by,
    reason,
  })),
  cancel: press([byOwner, isNotSent, identified], ({ by }) => ({ type: 'cancelled', by })),
  'break-glass': press(
    [byRequester, isUndecided, inTime, identified, byBreakGlassRole, withReason],
    ({ by, text: reason }) => ({ type: 'break-glass', by, reason }),
    // Break-glass replaces the approvals.
    (change, facts) =>
      hopeless(
        { ...change, breakGlass: { by: facts.by, at: facts.now, reason: facts.text } },
        facts,
      ),
  ),
  review: press(
    [usedBreakGlass, hasEnded, reviewsOnce, byAnotherReviewer, identified, byReviewer, withNote],
    ({ by, text: note }) => ({ type: 'reviewed', by, note }),
  ),
  happened: outcomeIs('succeeded'),
  'did-not-happen': outcomeIs('failed'),
  /** What an agent asked for itself waits for its approvals at once: nobody confirms it. */
  submit: (change: Change, facts: Asking & Pick<PressFacts, 'standing'>): Decided => {
    const { via, requires, breakGlass } = change;
    const isOwn = via?.for === 'itself' && !isPerson(facts.by);
    if (!isOwn || change.state !== 'draft') return refuse(isOwn ? 'not-draft' : 'not-requester');
    if (requires.count === 0 || breakGlass) return refuse('approvals-missing');
    const refused = firstRefusal([byRequester, identified], change, facts);
    return refused ?? confirmation(change, facts);
  },
  /** An agent withdraws its own request: of the same agent, for the same person or for itself. */
  withdraw: (change: Change, facts: Asking & { readonly via: Via }): Decided => {
    const { by, via } = facts;
    const isOwn = change.via?.agent === via.agent && change.via.for === via.for;
    if (!isOwn) return refuse('not-requester');
    const refused = firstRefusal([byRequester, identified], change, facts);
    if (refused) return refused;
    return isUnsent(change) ? { type: 'cancelled', by, via } : refuse('already-decided');
  },
  claim: decideClaim,
  revert: decideRevert,
  run: (_service: null, facts: RunFacts) => decideRun(facts),
  // What Signalbox does by itself.
  expire: (change: Change, { now }: { readonly now: Date }): Decided => {
    if (!isUnsent(change)) return refuse('already-decided');
    return now < change.expiresAt ? refuse('too-early') : { type: 'expired' };
  },
  return: (change: Change, attempt: Omit<Extract<ChangeEvent, { type: 'not-sent' }>, 'type'>) =>
    ofAttempt(change, attempt.nonce, { type: 'not-sent', ...attempt }),
  finish: (
    change: Change,
    { nonce, outcome }: { readonly nonce: string; readonly outcome: ExecutionOutcome },
  ) => ofAttempt(change, nonce, endingEvent(nonce, outcome)),
  /** `isOver`: the process that sent the request has certainly ended, so that its lease does not count. */
  lose: (change: Change, { now, isOver }: { readonly now: Date; readonly isOver: boolean }) => {
    if (!isOver && change.lease && now < change.lease.until) return refuse('too-early');
    const nonce = change.lease?.nonce ?? '-';
    return ofAttempt(change, nonce, endingEvent(nonce, noAnswer(now)));
  },
  /** By a reading of the target, or by what the note says. */
  settle: (change: Change, by: { readonly note: string; readonly reading?: Evidence }): Decided =>
    change.state === 'unknown'
      ? { type: 'resolved', by: 'signalbox', as: 'succeeded', ...by }
      : refuse('not-unknown'),
  /** The log lost events of the change, or its card is gone. */
  distrust: (
    change: Change,
    { now, why }: { readonly now: Date; readonly why: 'restored' | 'card-deleted' },
  ): Decided => {
    if (change.state === 'executing') return endingEvent(change.lease?.nonce ?? '-', noAnswer(now));
    if (isInForce(change, now)) return { type: 'revoked', by: 'signalbox' };
    return isUnsent(change) ? { type: 'stale', why } : refuse('already-decided');
  },
  keep: (change: Change, { why }: { readonly why: string }): Decided =>
    isRevertDue(change) ? { type: 'revert-kept', why } : refuse('already-decided'),
};

function outcomeIs(as: 'succeeded' | 'failed'): PressGate {
  return press([isUnknown, identified, byResolver, withNote], ({ by, text: note }) => {
    return { type: 'resolved', by, as, note };
  });
}

function firstRefusal<Facts>(
  checks: readonly Check<Facts>[],
  change: Change,
  facts: Facts,
): Refused | null {
  for (const check of checks) {
    const refusal = check(change, facts);
    if (refusal) return refuse(refusal);
  }
  return null;
}

/** By a standing approval, the change is approved with its confirmation, or ends: its preview asked nobody else. */
function confirmation(
  change: Change,
  { by, standing }: Pick<PressFacts, 'by' | 'standing'>,
): ChangeEvent | Refused {
  const use = change.standing && standing ? decideUse(change, standing) : null;
  if (!use || 'approvals' in use) return { type: 'confirmed', by, ...use };
  const { refusal } = use;
  return { refusal, ends: refusal === 'lookup-failed' ? null : stopped(change, refusal) };
}

/** Whether a change may run after the verb. */
export function isPermitting(verb: Verb): boolean {
  return ['confirm', 'approve', 'narrow', 'break-glass'].includes(verb);
}

/** Why a verb is refused before its form is filled in: who may approve may approve with less. */
export function refusalOf(change: Change, verb: Verb, facts: PressFacts): Refusal | null {
  const answer = gate(change, verb === 'narrow' ? 'approve' : verb, facts);
  return 'refusal' in answer ? answer.refusal : null;
}

function isUnsent({ state }: Change): boolean {
  return UNSENT.includes(state);
}

function holdsOne(
  roles: readonly (RoleName | null)[],
  { identity }: Pick<PressFacts, 'identity'>,
): boolean {
  return roles.some((role) => {
    if (role === null) return false;
    return identity === null || (identity.ok && identity.actor.roles.includes(role));
  });
}

// By the current rule as well: the role of the request may have been renamed or removed, and the
// target would stay locked.
function mayResolve(change: Change, facts: PressFacts): boolean {
  const { policy, target, by } = facts;
  const current = requirementFor(policy, { command: change.command, target });
  if (!holdsOne(resolvingRoles(change, current), facts)) return false;
  // The requester alone must not answer "It did not happen": that would unlock the target for a
  // second attempt without a check by another person.
  return change.requires.from === null || change.requires.self || by !== change.requester;
}

function hopeless(change: Change, { outlook }: PressFacts): Refused | null {
  return outlook ? outlookOf(change, outlook) : null;
}

/** Refusals of a change that may still run later: the freeze ends, or the server answers. */
const PASSING: readonly Refusal[] = ['frozen', 'not-verified'];

/**
 * Why a change that waits could not run now: another change of its target succeeded, the policy refuses it, or the
 * rule requires more than its approvals will be. The claim decides again, with the identities of the approvers.
 */
function outlookOf(change: Change, facts: OutlookFacts): Refused | null {
  if (!isUnsent(change)) return null;
  const refusal = facts.isOutdated ? 'target-changed' : policyRefusal(change, facts);
  if (refusal === null) return null;
  return PASSING.includes(refusal) ? refuse(refusal) : { refusal, ends: stopped(change, refusal) };
}

function policyRefusal(change: Change, facts: OutlookFacts): Refusal | null {
  const { policy, requester, now } = facts;
  if (requester?.ok === false && requester.refusal !== 'lookup-failed') return requester.refusal;
  const everyRole = { id: change.requester, roles: [...policy.roles.keys()] };
  const actor = requesting(change, requester?.ok ? requester.actor : everyRole);
  return ruleRefusal(change, facts, { actor, now: startsAt(change.plan, now) }, (requires) =>
    lacksApprovals(change, requires, facts) ? 'approvals-missing' : null,
  );
}

/** Who requests a change: an agent needs a rule that admits it, beside the rights of the person. */
function requesting({ via }: Pick<Change, 'via'>, actor: Actor): Actor {
  return via ? { ...actor, agent: via.agent } : actor;
}

/** The first refusal of the rules by which a change runs. Other tags than people saw explain it. */
function ruleRefusal(
  { reason, words, plan }: Change,
  { commands, policy, target, allowed = [] }: Omit<RuleFacts, 'now'>,
  { actor, now }: Pick<PolicyQuestion, 'actor' | 'now'>,
  lacks: (requires: Requirement) => Refusal | null,
): Refusal | null {
  const own = commands.map((command) => ({ command, target }));
  const refusals = [...own, ...allowed].map((asked) => {
    // A program has no other reason than its words.
    const why = reason ?? words;
    const decision = decide(policy, { kind: 'change', ...asked, actor, reason: why, now });
    return decision.allow ? lacks(decision.requires) : decision.refusal;
  });
  const refusal = refusals.find((one) => one !== null) ?? null;
  if (refusal === null || NOT_BY_RULE.includes(refusal)) return refusal;
  return hasSameFacts(target, plan.target) ? refusal : 'tags-changed';
}

/** Reasons that do not depend on the rule, so that other tags do not explain them. */
const NOT_BY_RULE: readonly Refusal[] = ['lookup-failed', 'frozen', 'not-verified'];

/** Whether the approvals that a change has or will get cannot meet the current rule, from any approver. */
function lacksApprovals(
  { requires, state, breakGlass, plan }: Change,
  current: Requirement,
  { policy, target }: OutlookFacts,
): boolean {
  if (breakGlass || current.from === null) return false;
  // With other tags than people saw, the card would have to show the other requirement.
  const isSame = hasSameFacts(target, plan.target);
  if (!isSame && state !== 'approved') return !coversRequirement(requires, current);
  const isGone = requires.from !== null && !policy.roles.has(requires.from);
  return isGone || requires.count < current.count;
}

/** Decides again right before sending. */
function decideClaim(change: Change, facts: ClaimFacts): ChangeEvent | Refused | Waits {
  const { now, policy, target, claim, stateCheck } = facts;
  if (change.state !== 'approved') return refuse('not-approved');
  if (now >= change.expiresAt) return refuse('expired');
  if (change.notBefore && now < change.notBefore) return { waits: 'too-early' };
  if (now >= facts.validUntil) return { waits: 'facts-too-old' };
  if (!facts.mayExecute) return { waits: 'configuration-outdated' };
  if (facts.isStopped) return { waits: 'freeze-lost' };
  if (!facts.isAnswered) return { waits: 'press-unanswered' };
  if (!facts.hasCard) return { waits: 'no-card' };
  const ended = scheduleRefusal(facts);
  if (ended) return { refusal: ended, ends: stopped(change, ended) };
  const refusal = claimRefusal(change, facts);
  // Slack did not answer the membership lookup, so that nothing is decided now.
  if (refusal === 'lookup-failed') return { waits: refusal };
  // The server may be unavailable for a moment. It never runs without a current answer.
  if (refusal === 'not-verified' && now < retriesUntil(change)) return { waits: refusal };
  if (refusal) {
    const freeze = refusal === 'frozen' ? freezeFor(policy.freezes, target, now) : null;
    return { refusal, ends: stopped(change, refusal, freeze) };
  }
  if (facts.mustReadAgain) return { waits: 'not-read' };
  if (facts.lock === 'held by another') return { waits: 'locked' };
  if (facts.lock === 'changed since the preview') {
    return { refusal: 'target-changed', ends: stopped(change, 'target-changed') };
  }
  const attempt = change.attempts + 1;
  return { type: 'claimed', ...claim, attempt, ...(stateCheck && { stateCheck }) };
}

/** How long the claim of a discovered service waits for the list of services. */
const VERIFY_WITHIN_MS = 120_000;

/** Counted from the time at which the change could first run. */
function retriesUntil({ notBefore, confirmedAt, approvals, breakGlass, createdAt }: Change): Date {
  const times = [notBefore, confirmedAt, breakGlass?.at, ...approvals.map(({ at }) => at)];
  const began = Math.max(createdAt.getTime(), ...times.map((at) => at?.getTime() ?? 0));
  return new Date(began + VERIFY_WITHIN_MS);
}

/** Returns why an approved change must not run, or null. */
function claimRefusal(change: Change, facts: ClaimFacts): Refusal | null {
  const { identities, now } = facts;
  const identity = identities.get(change.requester);
  if (!identity?.ok) return identity?.refusal ?? 'lookup-failed';
  if (facts.differs) return 'target-changed';
  const actor = requesting(change, identity.actor);
  const refusal = ruleRefusal(change, facts, { actor, now }, (current) =>
    approvalRefusal(change, current, facts),
  );
  return refusal ?? refusalOfUse(change, facts);
}

// A run was approved with its schedule, which may have been paused, removed or replaced since.
function scheduleRefusal({ schedule, now }: ClaimFacts): Refusal | null {
  if (schedule === null) return null;
  if (schedule === 'unknown') return 'schedule-ended';
  const { isPaused, isRemoved, until } = schedule;
  return isPaused || isRemoved || now >= until ? 'schedule-ended' : null;
}

/** The approvals must satisfy the requirement at the time of the request and the current one. */
function approvalRefusal(
  change: Change,
  current: Requirement,
  { identities }: Pick<ClaimFacts, 'identities'>,
): Refusal | null {
  const rolesOf = rolesAmong(identities);
  if (change.breakGlass) return breakGlassRefusal(change, current, rolesOf(change.requester));
  const isMet = (requires: Requirement) => approvalStatus(requires, change, rolesOf).met;
  if (isMet(change.requires) && isMet(current)) return null;
  return hasFailedLookup(identities) ? 'lookup-failed' : 'approvals-missing';
}

// Break-glass replaces the approvals. The requester needs its role by the old and the current rule.
function breakGlassRefusal(
  { requires }: Change,
  current: Requirement,
  roles: readonly RoleName[] | null,
): Refusal | null {
  const needed = [requires.breakGlass, current.breakGlass];
  if (needed.includes(null)) return 'no-break-glass';
  const isAllowed = needed.every((role) => role !== null && roles?.includes(role));
  return isAllowed ? null : 'may-not-break-glass';
}

/** A revert may run this late, in milliseconds: late is better than never. */
export const REVERT_GRACE_MS = 24 * HOUR_MS;

function isRevertDue({ state, revertAt, child }: Change): boolean {
  return state === 'succeeded' && revertAt !== null && !child;
}

/**
 * Whether a change is reverted; `keeps`: why it is not, null where there is nothing to revert any more. `isUnchanged`:
 * whether the target is as the change left it; null: not read yet.
 */
function decideRevert(
  { revertAt, child }: Change,
  { now, isUnchanged }: { readonly now: Date; readonly isUnchanged: boolean | null },
): 'allowed' | { readonly keeps: 'late' | 'moved' | null } {
  if (revertAt === null || child) return { keeps: null };
  if (now.getTime() - revertAt.getTime() > REVERT_GRACE_MS) return { keeps: 'late' };
  return isUnchanged === false ? { keeps: 'moved' } : 'allowed';
}

/** A run of a schedule may be this late, in milliseconds. */
const RUN_GRACE_MS = HOUR_MS;

function decideRun(facts: RunFacts): 'allowed' | Skipped {
  const { now, at, policy, target, unknown, changedBy } = facts;
  if (now.getTime() - at.getTime() > RUN_GRACE_MS) return { skips: 'late' };
  const freeze = freezeFor(policy.freezes, target, now);
  if (freeze) return { skips: 'frozen', freeze };
  if (unknown) return { skips: 'outcome-unknown', change: unknown };
  if (changedBy) return { skips: 'changed', change: changedBy };
  return facts.changedElsewhere === true ? { skips: 'changed-elsewhere' } : 'allowed';
}

/** A refusal with what its sentence needs: rule, role, and the users who could act instead. */
export interface Denial {
  readonly refusal: Refusal;
  readonly command: string | null;
  readonly target: string | null;
  readonly rule: number | null;
  readonly role: RoleName | null;
  /** Users who could act instead; null where it is unknown. */
  readonly who: SomeMembers | null;
  readonly freeze: Freeze | null;
  /** When the same is possible again; null where it is unknown. */
  readonly until: Date | null;
  readonly never: NeverRule | null;
  readonly change: Change | null;
  /** The refused decision about `change` and who made it; null for any other refusal. */
  readonly press: Press | null;
}

/** Builds a denial. Command, target and rule default to those of the change. */
export function createDenial(refusal: Refusal, about: Partial<Denial> = {}): Denial {
  return {
    refusal,
    command: about.change?.command ?? null,
    target: about.change?.plan.target.name ?? null,
    rule: about.change?.requires.rule ?? null,
    role: null,
    who: null,
    freeze: null,
    until: null,
    never: null,
    change: null,
    press: null,
    ...about,
  };
}

/** Who a user is now, or why Signalbox does not accept the user. */
export type Identity =
  | { readonly ok: true; readonly actor: Actor; readonly evidence: IdentityEvidence }
  | { readonly ok: false; readonly refusal: Refusal };

/** The identity of an agent for itself: its roles are those of the configuration, which no group changes. */
export function agentIdentity({ agents }: Pick<Policy, 'agents'>, id: UserId): Identity {
  const found = [...(agents ?? [])].find(([agent]) => agentId(agent) === id);
  if (!found) return { ok: false, refusal: 'agent-not-admitted' };
  const [agent, roles] = found;
  return { ok: true, actor: { id, roles, agent }, evidence: { groups: [] } };
}

/** The group lookups behind an identity, recorded with each decision. */
export interface IdentityEvidence {
  readonly groups: readonly {
    readonly id: string;
    readonly size: number;
    readonly readAt: string;
  }[];
}

/** Identifies users and looks up facts about them. Slack implements it. */
export interface People {
  /**
   * Identifies a user and the user's roles. Lookups that began after a press, or a few seconds before a claim,
   * serve everyone who needs them. A lookup that Slack does not answer is the refusal `lookup-failed`, never
   * "not a member".
   */
  identify(user: UserId, how: Freshness): Promise<Identity>;
  /**
   * Returns up to six active members of a role, for a text that names them. It has a request budget
   * of its own and takes at most a second. Null where Slack gave no answer in this time.
   */
  someMembers(role: RoleName): Promise<SomeMembers | null>;
  /** Returns the user's IANA time zone, or null where the lookup failed. */
  zoneOf(user: UserId): Promise<string | null>;
}

/** Members of a role, for a text that names them. */
export interface SomeMembers {
  readonly users: readonly UserId[];
  /** Whether there may be others. */
  readonly more: boolean;
}
