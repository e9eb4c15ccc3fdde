// Whether a user may do something now: one identity, one answer of the gate, and a recorded refusal that names the
// users who could act instead.

import { randomUUID } from 'node:crypto';
import { decidingRoles, resolvingRoles, rolesIn } from '../domain/approvals.ts';
import type {
  Change,
  ChangeId,
  Press,
  Refusal,
  RoleName,
  Target,
  UserId,
  Verb,
  Via,
} from '../domain/change.ts';
import {
  createDenial,
  type Denial,
  gate,
  type Identity,
  type PressFacts,
  type RefusedProposal,
  refusalOf,
} from '../domain/gate.ts';
import { isPlaceOf, type Place } from '../domain/place.ts';
import { commandsFor } from '../domain/policy.ts';
import { append, loadChange } from '../log/index.ts';
import type { DecisionContext } from './context.ts';
import { identityFacts } from './moves.ts';
import { withNews } from './news.ts';
import { notify } from './notices.ts';
import { foreignPlace, isOlderState, isPlace } from './places.ts';
import { currentRequirement, pressFacts, type RulesContext } from './target.ts';

export interface Refused {
  readonly ok: false;
  readonly denial: Denial;
}

type Authorization = { readonly ok: true } | Refused;
type ChangeAuthorization = { readonly ok: true; readonly change: Change } | Refused;

/** A refusal that nobody has to know of. */
export function denied(refusal: Refusal, about: Partial<Denial> = {}): Refused {
  return { ok: false, denial: createDenial(refusal, about) };
}

interface QueryRequest {
  readonly command: string;
  readonly target: Target | null;
  readonly by: UserId;
  /** Skips the caches of Slack lookups. */
  readonly fresh?: boolean;
  /** False for a user who does not act now: a refusal is not recorded, and names nobody else. */
  readonly record?: boolean;
  /** Where the button of a command that acts at once was pressed. */
  readonly place?: Place | undefined;
}

/** The identity with which an agent asks for a person, or for itself: what it may do is what both may. */
export function through(identity: Identity, via: Via | null | undefined): Identity {
  if (!identity.ok || !via) return identity;
  return { ...identity, actor: { ...identity.actor, agent: via.agent } };
}

/** Whether a user may run a query now. */
export async function authorizeQuery(
  context: DecisionContext,
  { command, target, by, fresh = false, record = true, place }: QueryRequest,
): Promise<Authorization> {
  const { people, policy, now } = context;
  const identity = await people.identify(by, { fresh });
  if (place && !isPlaceOf(place, [])) {
    await notify(context, foreignPlace({ what: `“${command}”`, by, place }));
    const denial = createDenial('foreign-place', { command });
    return refused(context, denial, { tried: command, by, identity });
  }
  const proposal = { command, target, reason: null };
  const answer = gate(proposal, 'query', { identity, policy, now: now() });
  if (!('refusal' in answer)) return { ok: true };
  const denial = proposalDenial(answer, { command });
  return record
    ? refused(context, denial, { tried: command, by, identity })
    : { ok: false, denial };
}

interface FormRequest {
  readonly commands: readonly string[];
  readonly target?: Target | null;
  readonly by: UserId;
  readonly via?: Via | undefined;
  /** Records a refusal. False where refusals have no rate limit. */
  readonly record: boolean;
}

/**
 * Whether a user may see the form of a command, its values and the names that it suggests: the
 * policy must have a rule that admits the user to one of the commands, for any target. The request
 * is authorized again.
 */
export async function authorizeForm(
  context: DecisionContext,
  { commands, target = null, by, via, record }: FormRequest,
): Promise<Authorization> {
  const identity = through(await context.people.identify(by, { fresh: false }), via);
  const answer = gate({ commands, target }, 'form', { identity, policy: context.policy });
  if (answer === 'allowed') return { ok: true };
  const [command = null] = commands;
  const denial = proposalDenial(answer, { command, target: target?.name ?? null });
  if (!record) return { ok: false, denial: await nameAlternatives(context, denial) };
  return refused(context, denial, { tried: command ?? 'none', by, via, identity });
}

/** The commands for which the policy has a rule that admits the user. */
export async function authorizeForms(
  { policy, people }: DecisionContext,
  by: UserId,
  commands: readonly string[],
) {
  const identity = await people.identify(by, { fresh: false });
  if (!identity.ok) return denied(identity.refusal);
  const { actor } = identity;
  const usable = { commands: commandsFor(policy, commands, actor), roles: actor.roles };
  return { ok: true, ...usable } as const;
}

/**
 * Whether a user may press a button that opens a form for a reason. The form's submission is
 * authorized again, with fresh lookups.
 */
export async function authorizePress(
  context: DecisionContext,
  { change: id, verb, by, place }: Press & { readonly change: ChangeId; readonly place: Place },
): Promise<ChangeAuthorization> {
  const change = await loadChange(context.events, id);
  const identity = change && (await context.people.identify(by, { fresh: false }));
  const isForeign = change !== null && !(await isPlace(context, change, place));
  if (isForeign)
    await notify(context, foreignPlace({ what: `${verb} on change ${id}`, by, place }));
  const possible = change ? refusalOfVerb(context, verb, change, { by, identity }) : 'not-found';
  const older = change && isOlderState(change, place) ? 'older-state' : possible;
  const refusal = isForeign ? 'foreign-place' : older;
  if (change && !refusal) return { ok: true, change };
  const found = { refusal: refusal ?? 'not-found', change, press: { verb, by } };
  return refused(context, denialOfVerb(context, found), { tried: verb, by, identity });
}

/** Whether a user may edit a draft or see its password: its requester only, as an active member. */
export async function authorizeRequester(
  { events, people }: Pick<DecisionContext, 'events' | 'people'>,
  id: ChangeId,
  by: UserId,
): Promise<ChangeAuthorization> {
  const change = await loadChange(events, id);
  if (!change) return denied('not-found');
  const identity = await people.identify(by, { fresh: false });
  const answer = gate(change, 'own', { by, identity });
  return answer === 'allowed' ? { ok: true, change } : denied(answer.refusal, { change });
}

/**
 * Whether a user may see a request: its requester and the roles of its rule see the whole of it (`isFull`), users
 * who may list changes see it without its private fields. A draft is shown to its requester only.
 */
export async function authorizeDetails(context: DecisionContext, id: ChangeId, by: UserId) {
  const change = await loadChange(context.events, id);
  const isOwn = change?.requester === by;
  if (!change || (change.state === 'draft' && !isOwn)) return denied('not-found');
  const identity = await context.people.identify(by, { fresh: false });
  const { to, from } = change.requires;
  const about = { change, role: from ?? to };
  if (!identity.ok) return denied(identity.refusal, about);
  const named = rolesIn(change.requires);
  const isFull = isOwn || identity.actor.roles.some((role) => named.includes(role));
  const mayShow = { command: 'change show', target: null, by, record: false };
  if (isFull || (await authorizeQuery(context, mayShow)).ok) {
    return { ok: true, change: await withNews(context, change), isFull } as const;
  }
  return denied('not-an-approver', about);
}

interface Attempt {
  /** The command or the verb. */
  readonly tried: string;
  readonly by: UserId;
  readonly via?: Via | undefined;
  readonly identity: Identity | null;
}

/** Records a refusal, and names who could act instead. */
export async function refused(
  context: DecisionContext,
  denial: Denial,
  attempt: Attempt,
): Promise<Refused> {
  await recordRefusal(context, denial, attempt);
  return { ok: false, denial: await nameAlternatives(context, denial) };
}

/** Records who tried what, and which check refused it. What is refused to a press is recorded with its answer. */
export async function recordRefusal(
  { events, measures }: Pick<DecisionContext, 'events' | 'measures'>,
  { refusal: why, change, command, target, rule }: Denial,
  { tried, by, via, identity }: Attempt,
): Promise<void> {
  measures.refused(why);
  const stream = `refusal/${change ? `${change.id}/` : ''}${randomUUID()}` as const;
  const about = { by, tried, why, command, target, rule, ...(via && { via }) };
  const event = { type: 'refused', ...about, evidence: identityFacts(identity) } as const;
  await append(events, async () => ({ events: [{ stream, event }], result: null }));
}

/** The policy's refusal with its rule and the role that the rule admits. */
export function proposalDenial(
  { refusal, rule, freeze, never }: RefusedProposal,
  about: Partial<Denial>,
): Denial {
  const { to: role = null, rule: place = null } = rule?.requires ?? {};
  return createDenial(refusal, { ...about, rule: place, role, freeze, never });
}

/** Returns why a verb would be refused now, with a text where it needs one; null: allowed. */
export function refusalOfVerb(
  context: RulesContext,
  verb: Verb,
  change: Change,
  { by, identity, text = 'any text' }: Pick<PressFacts, 'by' | 'identity'> & { text?: string },
): Refusal | null {
  return refusalOf(change, verb, pressFacts(context, change, { by, identity, text }));
}

/** Returns the refusal with the role that could press instead. */
export function denialOfVerb(
  context: RulesContext,
  found: { readonly refusal: Refusal; readonly change: Change | null; readonly press: Press },
): Denial {
  const { refusal, change } = found;
  const press = { verb: found.press.verb, by: found.press.by };
  if (!change) return createDenial(refusal, { press });
  const [role = change.requires.from] = rolesFor(context, refusal, change);
  return createDenial(refusal, { change, role, press });
}

/** The roles whose members could press instead; empty where the refusal depends on no role. */
function rolesFor(context: RulesContext, refusal: Refusal, change: Change): readonly RoleName[] {
  const { to, breakGlass } = change.requires;
  if (refusal === 'may-not-break-glass') return breakGlass === null ? [] : [breakGlass];
  if (refusal === 'not-a-requester') return [currentRequirement(context, change)?.to ?? to];
  if (refusal !== 'self-approval' && refusal !== 'not-an-approver') return [];
  if (change.state === 'unknown') {
    const roles = resolvingRoles(change, currentRequirement(context, change));
    return roles.filter((role) => context.policy.roles.has(role));
  }
  const deciding = decidingRoles(change, context.now());
  return deciding.length > 0 ? deciding : [breakGlass ?? to];
}

/** Adds users who could act instead. Called when the refusal is recorded, so that it delays none. */
export async function nameAlternatives(
  context: RulesContext & Pick<DecisionContext, 'people'>,
  denial: Denial,
): Promise<Denial> {
  const { refusal, change, role } = denial;
  const isRequest = refusal === 'not-a-requester' && role !== null;
  const roles = isRequest ? [role] : change ? rolesFor(context, refusal, change) : [];
  const found = await Promise.all(roles.map((each) => context.people.someMembers(each)));
  const known = found.filter((each) => each !== null);
  if (known.length === 0) return { ...denial, who: null };
  const isExcluded = change && !change.requires.self && refusal !== 'may-not-break-glass';
  const users = known
    .flatMap((each) => each.users)
    .filter((id) => !isExcluded || id !== change.requester);
  const more = known.length < found.length || known.some((each) => each.more);
  return { ...denial, who: { users: [...new Set(users)], more } };
}
