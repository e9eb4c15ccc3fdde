import type { Change, ChangeId, Target, UserId } from '../changes/change.ts';
import type { Refusal } from '../changes/refusal.ts';
import { type Decision, decide } from '../policy/decide.ts';
import { commandsFor } from '../policy/explain.ts';
import type { Policy } from '../policy/policy-types.ts';
import { loadChange } from '../storage/tables/changes/changes.ts';
import type { Verb } from './clicks.ts';
import { createDenial, type Denial } from './denial.ts';
import type { DecisionContext, Identity } from './ports.ts';
import { recordRefusal } from './record.ts';
import { denialOfVerb, refusalOfVerb } from './review/review.ts';

export interface Refused {
  readonly ok: false;
  readonly denial: Denial;
}

export type Authorization = { readonly ok: true } | Refused;
export type ChangeAuthorization = { readonly ok: true; readonly change: Change } | Refused;

interface QueryRequest {
  readonly command: string;
  readonly target: Target | null;
  readonly by: UserId;
  /** Skips the caches of Slack lookups. */
  readonly fresh?: boolean;
}

/** Whether a user may run a query now. */
export async function authorizeQuery(
  context: DecisionContext,
  { command, target, by, fresh = false }: QueryRequest,
): Promise<Authorization> {
  const identity = await context.people.identify(by, { fresh });
  const refuse = (denial: Denial) => refused(context, denial, { tried: command, by, identity });
  if (!identity.ok) return refuse(createDenial(identity.refusal, { command }));
  const { actor } = identity;
  const question = { kind: 'query', command, target, actor, reason: null } as const;
  const decision = decide(context.policy, { ...question, now: context.now() });
  return decision.allow ? { ok: true } : refuse(await policyDenial(context, decision, { command }));
}

export type CommandAuthorization =
  | {
      readonly ok: true;
      readonly identity: Identity & { ok: true };
      readonly decision: Decision & { allow: true };
    }
  | Refused;

interface CommandRequest {
  /** The command that the user entered. A refusal is recorded under its name. */
  readonly entered: string;
  readonly needsReason: boolean;
  readonly target: Target;
  readonly reason: string | null;
  readonly by: UserId;
  readonly identity: Identity;
  readonly policy: Policy;
}

/** Whether a user may request `command` for execution at this time. */
export async function authorizeCommand(
  context: DecisionContext,
  request: CommandRequest,
  command: string,
  at: Date,
): Promise<CommandAuthorization> {
  const { entered, target, reason, by, identity, policy } = request;
  const about = { command, target: target.name };
  const refuse = (denial: Denial) => refused(context, denial, { tried: entered, by, identity });
  if (!identity.ok) return refuse(createDenial(identity.refusal, about));
  const question = { kind: 'change', command, target, actor: identity.actor, reason } as const;
  const decision = decide(policy, { ...question, now: at });
  if (!decision.allow) return refuse(await policyDenial(context, decision, about));
  if (!request.needsReason || reason !== null) return { ok: true, identity, decision };
  const { rule } = decision;
  const missing = { refusal: 'reason-required', rule, freeze: null, never: null } as const;
  return refuse(await policyDenial(context, missing, about));
}

/** The commands for which the policy has a rule that admits the user. */
export async function authorizeForms(
  context: DecisionContext,
  by: UserId,
  commands: readonly string[],
): Promise<{ readonly ok: true; readonly commands: readonly string[] } | Refused> {
  const identity = await context.people.identify(by, { fresh: false });
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal) };
  return { ok: true, commands: commandsFor(context.policy, commands, identity.actor) };
}

/**
 * Whether a user may press a button that opens a form for a reason. The form's submission is
 * authorized again, with fresh lookups.
 */
export async function authorizePress(
  context: DecisionContext,
  id: ChangeId,
  { verb, by }: { readonly verb: Verb; readonly by: UserId },
): Promise<ChangeAuthorization> {
  const change = await loadChange(context.database.db, id);
  const identity = change && (await context.people.identify(by, { fresh: false }));
  const refusal = refusalOfPress(context, change, identity, { verb, by });
  if (change && !refusal) return { ok: true, change };
  const denial = await denialOfVerb(context, refusal ?? 'not-found', change);
  return refused(context, denial, { tried: verb, by, identity });
}

function refusalOfPress(
  { now }: DecisionContext,
  change: Change | null,
  identity: Identity | null,
  { verb, by }: { readonly verb: Verb; readonly by: UserId },
): Refusal | null {
  if (!change || !identity) return 'not-found';
  if (!identity.ok) return identity.refusal;
  return refusalOfVerb(verb, change, { id: by, roles: identity.actor.roles }, now());
}

/** Whether a user may see the whole request: its requester, and the roles of its rule. */
export async function authorizeDetails(
  { database, people }: DecisionContext,
  id: ChangeId,
  by: UserId,
): Promise<ChangeAuthorization> {
  const change = await loadChange(database.db, id);
  if (!change) return { ok: false, denial: createDenial('not-found') };
  const identity = await people.identify(by, { fresh: false });
  const { to, from } = change.requires;
  const about = { change, role: from ?? to };
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal, about) };
  const { roles } = identity.actor;
  const isAllowed = change.requester === by || roles.some((role) => role === to || role === from);
  return isAllowed
    ? { ok: true, change }
    : { ok: false, denial: createDenial('not-an-approver', about) };
}

/** Whether a user may edit a draft or see its password: its requester only. */
export async function authorizeRequester(
  { database }: DecisionContext,
  id: ChangeId,
  by: UserId,
): Promise<ChangeAuthorization> {
  const change = await loadChange(database.db, id);
  if (!change) return { ok: false, denial: createDenial('not-found') };
  return change.requester === by
    ? { ok: true, change }
    : { ok: false, denial: createDenial('not-requester', { change }) };
}

async function refused(
  context: DecisionContext,
  denial: Denial,
  attempt: Parameters<typeof recordRefusal>[2],
): Promise<Refused> {
  await recordRefusal(context, denial, attempt);
  return { ok: false, denial };
}

type PolicyRefusal = Omit<Decision & { allow: false }, 'allow'>;

/** The policy's refusal with its rule, and the users whom the rule admits. */
async function policyDenial(
  { people }: DecisionContext,
  { refusal, rule, freeze, never }: PolicyRefusal,
  about: Partial<Denial>,
): Promise<Denial> {
  const role = rule?.to ?? null;
  const who = role ? await people.membersOf(role) : null;
  return createDenial(refusal, { ...about, rule: rule?.place ?? null, role, who, freeze, never });
}
