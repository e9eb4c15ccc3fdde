import { HOUR_MS } from '../../src/base/time.ts';
import type {
  Actor,
  Change,
  Evidence,
  ExecutionOutcome,
  Requirement,
  StateCheck,
  UserId,
  Verb,
} from '../../src/domain/change.ts';
import type { ChangeEvent } from '../../src/domain/change-events.ts';
import { foldOf } from '../../src/domain/fold.ts';
import { type ClaimFacts, gate, type PressFacts } from '../../src/domain/gate.ts';
import type { Policy } from '../../src/domain/policy.ts';
import { minutes, NOON } from './changes-fixtures.ts';

const EVERY_ROLE = ['operator', 'approver', 'viewer', 'lead', 'chief', 'oncall'];

/** The change after a verb, or why it is refused. */
export type Move =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly refusal: string };

/** Asks the gate, and applies the event that it returns. */
function move(change: Change, answer: object, at: Date): Move {
  if ('refusal' in answer) return { ok: false, refusal: String(answer.refusal) };
  if ('waits' in answer) return { ok: false, refusal: String(answer.waits) };
  return { ok: true, change: after(change, answer as ChangeEvent, at) };
}

/** The change after an event. */
export function after(change: Change, event: ChangeEvent, at: Date): Change {
  const recorded = { seq: 2, version: change.version + 1, at: at.getTime(), hash: 'h2' };
  return foldOf(change.id)(change, { ...event, ...recorded });
}

/** A policy with one rule, for every command and target, that requires this; without it: no rule. */
export function policyThatRequires(requires: Requirement | null): Policy {
  const roles = new Map(EVERY_ROLE.map((role) => [role, { groups: [], users: [] }]));
  const none = { roles, freezes: [], never: [] };
  if (!requires) return { ...none, rules: [] };
  const leastReason = requires.reason ? 1 : 0;
  const rule = { commands: ['*'], on: null, requires, leastReason, discovered: true };
  return { ...none, rules: [rule] };
}

/** What a press is decided by, if nothing changed since the request. */
export function pressed(change: Change, actor: Actor, over: Partial<PressFacts> = {}): PressFacts {
  return {
    ...{ by: actor.id, identity: { ok: true, actor }, text: 'I saw it', now: NOON },
    ...{ policy: policyThatRequires(change.requires), target: change.plan.target },
    ...over,
  };
}

function press(change: Change, verb: Verb, facts: PressFacts): Move {
  return move(change, gate(change, verb, facts), facts.now);
}

/** A press of this verb, and one that says a reason or a note. */
const pressing = (verb: Verb) => (change: Change, actor: Actor, now: Date) =>
  press(change, verb, pressed(change, actor, { now }));
const saying = (verb: Verb) => (change: Change, actor: Actor, text: string, now: Date) =>
  press(change, verb, pressed(change, actor, { text, now }));

export const confirm = pressing('confirm');
export const approve = pressing('approve');
export const cancel = pressing('cancel');
export const revoke = pressing('revoke');
export const reject = saying('reject');
export const breakGlass = saying('break-glass');
export const review = saying('review');

/** Approves the same for a half hour less, at most for a day. */
export function narrow(change: Change, actor: Actor, now: Date): Move {
  const { timing } = change.plan;
  const afterMs = (timing?.revert?.afterMs ?? 24 * HOUR_MS) - HOUR_MS / 2;
  const revert = { label: 'Start it again', line: 'service start x', afterMs };
  const narrower = { ...change.plan, timing: { startAt: timing?.startAt ?? null, revert } };
  return press(change, 'narrow', pressed(change, actor, { now, narrower }));
}

interface Resolving {
  readonly happened: boolean;
  readonly note: string;
  readonly current: Requirement | null;
}

export function resolve(
  change: Change,
  actor: Actor,
  { happened, note: text, current }: Resolving,
  now: Date,
): Move {
  const facts = pressed(change, actor, { text, now, policy: policyThatRequires(current) });
  return press(change, happened ? 'happened' : 'did-not-happen', facts);
}

export function expire(change: Change, now: Date): Move {
  return move(change, gate(change, 'expire', { now }), now);
}

/** What a claim is decided by, if nothing changed since the approvals. */
export function claiming(change: Change, over: Partial<ClaimFacts> = {}): ClaimFacts {
  const { now = NOON } = over;
  const people = [change.requester, ...change.approvals.map(({ by }) => by)];
  const identified = (id: UserId) => ({ ok: true, actor: { id, roles: EVERY_ROLE } }) as const;
  return {
    ...{ now, validUntil: new Date(now.getTime() + 30_000), mayExecute: true },
    ...{ isAnswered: true, isStopped: false, hasCard: true, schedule: null },
    identities: new Map(people.map((id) => [id, identified(id)])),
    policy: policyThatRequires({ ...change.requires, from: null, count: 0 }),
    ...{ commands: [change.command], target: change.plan.target, standing: null },
    ...{ differs: false, mustReadAgain: false, lock: 'free' },
    claim: { by: 'replica-1', until: minutes(2), nonce: 'n' },
    stateCheck: undefined,
    ...over,
  };
}

export function start(
  change: Change,
  { owner: by, ...lease }: NonNullable<Change['lease']>,
  now: Date,
  stateCheck?: StateCheck,
): Move {
  const claim = { by, ...lease };
  return move(change, gate(change, 'claim', claiming(change, { now, claim, stateCheck })), now);
}

/** The claim of a run whose schedule is gone. */
export function endRun(change: Change, now: Date): Move {
  const answer = gate(change, 'claim', claiming(change, { now, schedule: 'unknown' }));
  return move(change, ('refusal' in answer && answer.ends) || answer, now);
}

export function handBack(change: Change, notBefore: Date): Move {
  const facts = { nonce: nonceOf(change), why: 'no connection', notBefore };
  return move(change, gate(change, 'return', facts), NOON);
}

export function finish(change: Change, outcome: ExecutionOutcome): Move {
  return move(change, gate(change, 'finish', { nonce: nonceOf(change), outcome }), outcome.at);
}

function nonceOf({ lease }: Change): string {
  return lease?.nonce ?? '-';
}

export function markUnknown(change: Change, now: Date): Move {
  return move(change, gate(change, 'lose', { now, isOver: false }), now);
}

export function markAbandoned(change: Change, now: Date): Move {
  return move(change, gate(change, 'lose', { now, isOver: true }), now);
}

export function settleByEvidence(change: Change, reading: Evidence, now: Date): Move {
  return move(change, gate(change, 'settle', { note: 'The target shows it.', reading }), now);
}

export function abandonRevert(change: Change): Move {
  return move(change, gate(change, 'keep', { why: 'moved' }), NOON);
}

export function distrust(change: Change, why: 'restored' | 'card-deleted'): Move {
  return move(change, gate(change, 'distrust', { why, now: NOON }), NOON);
}
