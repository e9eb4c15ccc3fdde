import type {
  Actor,
  Change,
  Press,
  Refusal,
  Requirement,
  State,
  Transition,
  Verb,
} from '../../domain/change.ts';
import {
  approve,
  breakGlass,
  cancel,
  confirm,
  reject,
  resolve,
  review,
  snooze,
} from '../../domain/decide.ts';
import { createDenial, type Denial, type Identity } from '../../domain/gate.ts';
import { loadChange, lockStored } from '../../log/old/changes.ts';
import { markHandled, markingHandled } from '../../log/old/inbox.ts';
import { unlockTarget } from '../../log/old/permits.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import type { Tx } from '../../storage/old/database.ts';
import { delayReminders } from '../../storage/old/outbox.ts';
import { nameAlternatives, type RolesContext, rolesFor } from './alternatives.ts';
import type { Click } from './click.ts';
import type { ClickOutcome } from './clicks.ts';
import { type CurrentRuleContext, currentRequirement } from './current-target.ts';
import type { DecisionContext } from './ports.ts';
import { appendRefusal, identityFacts, recordMove } from './record.ts';
import { snoozeEnd } from './reminders.ts';
import { PERMITTING, stalenessOf } from './staleness.ts';
import { stopChange } from './stop-change.ts';

interface MoveInput extends Pick<Click, 'text'> {
  /** What the current rule requires. */
  readonly current: Requirement | null;
}

type Move = (change: Change, actor: Actor, input: MoveInput, now: Date) => Transition;

const MOVES: Readonly<Record<Verb, Move>> = {
  confirm: (change, actor, _click, now) => confirm(change, actor, now),
  approve: (change, actor, _click, now) => approve(change, actor, now),
  reject: (change, actor, { text }, now) => reject(change, actor, text, now),
  cancel: (change, actor) => cancel(change, actor),
  'break-glass': (change, actor, { text }, now) => breakGlass(change, actor, text, now),
  review: (change, actor, { text }, now) => review(change, actor, text, now),
  happened: (change, actor, { text, current }, now) =>
    resolve(change, actor, { happened: true, note: text, current }, now),
  'did-not-happen': (change, actor, { text, current }, now) =>
    resolve(change, actor, { happened: false, note: text, current }, now),
  snooze: (change, actor, { current }, now) => snooze(change, actor, current, now),
};

const KINDS: Readonly<Record<Verb, string>> = {
  confirm: 'confirmed',
  approve: 'approved',
  reject: 'rejected',
  cancel: 'cancelled',
  'break-glass': 'glass-broken',
  review: 'reviewed',
  happened: 'resolved',
  'did-not-happen': 'resolved',
  snooze: 'snoozed',
};

/** Returns why a verb would be refused now, given a text where it needs one; null: allowed. */
export function refusalOfVerb(
  context: CurrentRuleContext & Pick<DecisionContext, 'now'>,
  verb: Verb,
  change: Change,
  actor: Actor,
): Refusal | null {
  const input = { text: 'any text', current: currentRequirement(context, change) };
  const outcome = MOVES[verb](change, actor, input, context.now());
  return outcome.ok ? null : outcome.refusal;
}

/** Handles one stored click: gathers, decides and records. The caller shows the outcome. */
export async function handleClick(
  context: DecisionContext,
  key: string,
  click: Click,
): Promise<ClickOutcome> {
  const change = await loadChange(context.database.db, click.change);
  if (!change) return refuseClick(context, key, click, { refusal: 'not-found', change: null });

  // State, expiry, self-approval and duplicates are checked before the membership lookup, as if the
  // user had every role.
  const early = refusalWithEveryRole(context, click, change);
  if (early) return refuseClick(context, key, click, { refusal: early, change });

  const identity = await context.people.identify(click.by, { fresh: click.verb !== 'cancel' });
  if (!identity.ok) return refuseClick(context, key, click, { refusal: identity.refusal, change });
  return decideAndRecord(context, key, click, identity);
}

function refusalWithEveryRole(
  context: DecisionContext,
  click: Pick<Click, 'verb' | 'by' | 'text'>,
  change: Change,
): Refusal | null {
  const current = currentRequirement(context, change);
  const ideal = { id: click.by, roles: [...rolesIn(change.requires), ...rolesIn(current)] };
  const outcome = MOVES[click.verb](change, ideal, { ...click, current }, context.now());
  return outcome.ok ? null : outcome.refusal;
}

const TOO_LATE: readonly Refusal[] = ['expired', 'already-decided', 'not-unknown'];

/**
 * The state because of which a click comes too late, read from the database alone; null if the click
 * may still count. It decides nothing: the stored click does.
 */
export async function endedBefore(context: DecisionContext, click: Click): Promise<State | null> {
  const change = await loadChange(context.database.db, click.change);
  const refusal = change && refusalWithEveryRole(context, click, change);
  if (!refusal || !TOO_LATE.includes(refusal)) return null;
  return refusal === 'expired' ? 'expired' : change.state;
}

/** The roles that a requirement names. */
export function rolesIn(requires: Requirement | null): readonly string[] {
  if (requires === null) return [];
  const { to, from, escalation, breakGlass } = requires;
  return [to, from, escalation?.to, breakGlass].filter((role) => typeof role === 'string');
}

async function decideAndRecord(
  context: DecisionContext,
  key: string,
  click: Click,
  identity: Identity & { ok: true },
): Promise<ClickOutcome> {
  const moved = await context.database.transaction(async (tx) => {
    const locked = await lockStored(tx, click.change);
    if (!locked) return { refusal: 'not-found' as Refusal, change: null };
    const { change } = locked;

    const input = { ...click, current: currentRequirement(context, change) };
    const outcome = MOVES[click.verb](change, identity.actor, input, context.now());
    if (!outcome.ok) return { refusal: outcome.refusal, change };
    const stale = await stalenessOf(tx, context, click.verb, locked);
    if (stale?.why === 'not-verified') return { refusal: stale.why, change };
    if (stale) {
      return { refusal: stale.why, change: await stopChange(tx, context, change, stale) };
    }
    await recordClick(tx, context, { key, click, locked, after: outcome.change, identity });
    return { refusal: null, change: outcome.change };
  });
  if (moved.refusal) return refuseClick(context, key, click, { ...moved, identity });
  return { ok: true, verb: click.verb, change: moved.change };
}

interface ClickMove {
  readonly key: string;
  readonly click: Click;
  readonly locked: VerifiableChange;
  readonly after: Change;
  readonly identity: Identity & { ok: true };
}

async function recordClick(tx: Tx, context: DecisionContext, move: ClickMove): Promise<void> {
  const { key, click, locked, after, identity } = move;
  const before = locked.change;
  const confirmed = PERMITTING.includes(click.verb) ? locked.record : undefined;
  if (click.verb === 'snooze') await delayReminders(tx, after.id, snoozeEnd(context.now()));
  const handled = markingHandled(tx, key, context.now());
  // An unknown outcome keeps the target locked until a user resolves it.
  const isResolved = before.state === 'unknown' && after.state !== 'unknown';
  await recordMove(tx, context, before, after, {
    kind: KINDS[click.verb],
    by: click.by,
    facts: { ...identityFacts(identity), ...(click.text ? { said: click.text } : {}) },
    confirmed,
    locked,
    also: [...(isResolved ? [unlockTarget.with(tx, after.id)] : []), handled],
  });
}

async function refuseClick(
  context: DecisionContext,
  key: string,
  click: Click,
  found: { refusal: Refusal; change: Change | null; identity?: Identity },
): Promise<ClickOutcome> {
  const denial = denialOfVerb(context, { ...found, press: click });
  await context.database.transaction(async (tx) => {
    const facts = identityFacts(found.identity ?? null);
    await markHandled(tx, key, context.now());
    await appendRefusal(tx, context, { kind: click.verb, by: click.by, facts }, denial);
  });
  return { ok: false, verb: click.verb, denial: await nameAlternatives(context, denial) };
}

/** Returns the refusal with the role that could press instead. */
export function denialOfVerb(
  context: RolesContext,
  found: { refusal: Refusal; change: Change | null; press: Press },
): Denial {
  const { refusal, change } = found;
  const press = { verb: found.press.verb, by: found.press.by };
  if (!change) return createDenial(refusal, { press });
  const [role = change.requires.from] = rolesFor(context, refusal, change);
  return createDenial(refusal, { change, role, press });
}
