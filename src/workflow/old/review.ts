import { setTimeout as delay } from 'node:timers/promises';
import type { Change, Position, Press, Refusal, State, Verb } from '../../domain/change.ts';
import type { ChangeEvent } from '../../domain/fold.ts';
import {
  createDenial,
  type Denial,
  gate,
  type Identity,
  isPermitting,
  type PressFacts,
} from '../../domain/gate.ts';
import { isPlaceOf } from '../../domain/place.ts';
import { hasSameFacts } from '../../domain/targets.ts';
import { loadChange, lockStored } from '../../log/old/changes.ts';
import { markHandled, markingHandled, type ReceivedClick } from '../../log/old/inbox.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { unlockTarget } from '../../log/old/permits.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import type { Tx } from '../../storage/old/database.ts';
import { delayReminders } from '../../storage/old/outbox.ts';
import { nameAlternatives, type RolesContext, rolesFor } from './alternatives.ts';
import type { Click } from './click.ts';
import type { ClickOutcome } from './clicks.ts';
import { currentPolicy } from './current-policy.ts';
import { type CurrentRuleContext, currentTarget } from './current-target.ts';
import { copyPositions } from './direct-cards.ts';
import type { DecisionContext } from './ports.ts';
import { appendRefusal, identityFacts, recordMove } from './record.ts';
import { snoozeEnd } from './reminders.ts';
import { stopChange } from './stop-change.ts';

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

type PressContext = CurrentRuleContext & Pick<DecisionContext, 'now'>;

/** What is known about a press before the change is locked. */
function pressFacts(
  context: PressContext,
  { plan }: Change,
  { by, identity, text }: Pick<PressFacts, 'by' | 'identity' | 'text'>,
): PressFacts {
  const { policy, now } = context;
  return { by, identity, text, now: now(), policy, target: currentTarget(context, plan) };
}

/** Returns why a verb would be refused now, given a text where it needs one; null: allowed. */
export function refusalOfVerb(
  context: PressContext,
  verb: Verb,
  change: Change,
  { by, identity }: Pick<PressFacts, 'by' | 'identity'>,
): Refusal | null {
  const facts = pressFacts(context, change, { by, identity, text: 'any text' });
  return refusalIn(gate(change, verb, facts));
}

function refusalIn(answer: ReturnType<typeof gate<Verb>>): Refusal | null {
  return 'refusal' in answer ? answer.refusal : null;
}

/**
 * Handles one click that was stored under a key when it was pressed: gathers, decides and records. The caller
 * shows the outcome.
 */
export async function handleClick(
  context: DecisionContext,
  { key, at }: Pick<ReceivedClick, 'key' | 'at'>,
  click: Click,
): Promise<ClickOutcome> {
  const change = await loadChange(context.database.db, click.change);
  if (!change) return refuseClick(context, key, click, { refusal: 'not-found', change: null });

  if (!(await isPressedInPlace(context, change, click))) {
    return refuseClick(context, key, click, { refusal: 'foreign-place', change });
  }
  // State, expiry, self-approval and duplicates are checked before the membership lookup, as if the
  // user had every role.
  const early = refusalBeforeLookup(context, click, change);
  if (early) return refuseClick(context, key, click, { refusal: early, change });

  const how = { fresh: click.verb !== 'cancel', since: at };
  const identity = await context.people.identify(click.by, how);
  if (!identity.ok) return refuseClick(context, key, click, { refusal: identity.refusal, change });
  return decideAndRecord(context, key, click, identity);
}

function refusalBeforeLookup(
  context: DecisionContext,
  { verb, by, text }: Pick<Click, 'verb' | 'by' | 'text'>,
  change: Change,
): Refusal | null {
  return refusalIn(gate(change, verb, pressFacts(context, change, { by, identity: null, text })));
}

const TOO_LATE: readonly Refusal[] = ['expired', 'already-decided', 'not-unknown'];

/**
 * The state because of which a click comes too late, read from the database alone; null if the click
 * may still count. It decides nothing: the stored click does.
 */
export async function endedBefore(context: DecisionContext, click: Click): Promise<State | null> {
  const change = await loadChange(context.database.db, click.change);
  const refusal = change && refusalBeforeLookup(context, click, change);
  if (!refusal || !TOO_LATE.includes(refusal)) return null;
  return refusal === 'expired' ? 'expired' : change.state;
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

    const facts = await lockedFacts(tx, context, click, locked, identity);
    const answer = gate(change, click.verb, facts);
    if ('refusal' in answer) {
      const { refusal, ends } = answer;
      const { tags, warehouse } = facts.target;
      const found = refusal === 'tags-changed' ? { tags, warehouse } : {};
      return {
        refusal,
        change: ends ? await stopChange(tx, context, change, ends, found) : change,
      };
    }
    const after = await recordClick(tx, context, { key, click, locked, event: answer, identity });
    return { refusal: null, change: after };
  });
  if (moved.refusal) return refuseClick(context, key, click, { ...moved, identity });
  return { ok: true, verb: click.verb, change: moved.change };
}

/** What is known about a press once its change is locked. */
async function lockedFacts(
  tx: Tx,
  context: DecisionContext,
  click: Click,
  locked: VerifiableChange,
  identity: Identity,
): Promise<PressFacts> {
  const { change } = locked;
  const facts = pressFacts(context, change, { ...click, identity });
  if (!isPermitting(click.verb)) return facts;
  const log = await auditRefusal(tx, context.auditKey, change, locked);
  // The freezes made in Slack count where the target has other tags than users saw.
  const isSame = hasSameFacts(facts.target, change.plan.target);
  return { ...facts, log, policy: isSame ? facts.policy : await currentPolicy(tx, context) };
}

interface ClickMove {
  readonly key: string;
  readonly click: Click;
  readonly locked: VerifiableChange;
  readonly event: ChangeEvent;
  readonly identity: Identity & { ok: true };
}

async function recordClick(tx: Tx, context: DecisionContext, move: ClickMove): Promise<Change> {
  const { key, click, locked, event, identity } = move;
  const before = locked.change;
  const confirmed = isPermitting(click.verb) ? locked.record : undefined;
  if (click.verb === 'snooze') await delayReminders(tx, before.id, snoozeEnd(context.now()));
  const handled = markingHandled(tx, key, context.now());
  // An unknown outcome keeps the target locked until a user resolves it.
  const isResolved = event.type === 'resolved';
  return recordMove(tx, context, before, event, {
    kind: KINDS[click.verb],
    by: click.by,
    facts: { ...identityFacts(identity), ...(click.text ? { said: click.text } : {}) },
    confirmed,
    locked,
    also: [...(isResolved ? [unlockTarget.with(tx, before.id)] : []), handled],
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
    if (found.refusal === 'foreign-place') await reportForeignPlace(tx, click, context.now());
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

/** What is known of a press without its text. */
type ClickPlace = Pick<Click, 'verb' | 'by' | 'place' | 'change'>;

const WAIT_MS = 30_000;
const STEP_MS = 100;

/**
 * Whether a button was pressed where Signalbox put it: on the card of the change or of the change that it reverts, on a
 * direct copy, or in a place that was made for the user. Slack can show a card before its position is stored, so that
 * an unknown position is awaited for 30 s.
 */
export async function isPressedInPlace(
  context: Pick<DecisionContext, 'database'>,
  change: Change,
  { verb, place }: Pick<ClickPlace, 'verb' | 'place'>,
): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += STEP_MS) {
    const positions = place.kind === 'message' ? await positionsOf(context, change) : [];
    const posted = positions.filter((at) => at !== null);
    if (isPlaceOf(place, verb, posted)) return true;
    if (positions.length === posted.length || waitedMs >= WAIT_MS) return false;
    await delay(STEP_MS);
  }
}

/** Where the change is shown; null for a message that is not posted yet. */
async function positionsOf(
  { database: { db } }: Pick<DecisionContext, 'database'>,
  { id, parent, state }: Change,
): Promise<readonly (Position | null)[]> {
  if (state === 'draft') return [];
  const shown = await Promise.all(
    [id, ...(parent ? [parent] : [])].map((each) => loadChange(db, each)),
  );
  return [...shown.map((each) => each?.card ?? null), ...(await copyPositions(db, id))];
}

/** Reports a press that did not count: only the bot token can put a button elsewhere. */
export function reportForeignPlace(
  tx: Tx,
  { verb, change, by, place }: ClickPlace,
  at: Date,
): Promise<void> {
  const where =
    place.kind === 'message'
      ? `in a message that is not its card (channel ${place.at.channel}, message ${place.at.ts})`
      : 'in a private message or on a Home tab that Signalbox did not make';
  const sentence =
    `A press of ${verb} on change ${change} did not count: it was made ${where}. ` +
    'Someone may use the bot token of Signalbox. Pressed by ';
  return enqueueOperatorsNotice(tx, sentence, at, { line: [{ user: by }] });
}
