import type {
  Change,
  ChangeId,
  Refusal,
  Requirement,
  RoleName,
  Target,
  UserId,
  Verb,
} from '../../domain/change.ts';
import {
  createDenial,
  type Denial,
  gate,
  type Identity,
  type RefusedProposal,
} from '../../domain/gate.ts';
import { commandsFor, commandsOnDiscovered, type Policy } from '../../domain/policy.ts';
import { loadChange } from '../../log/old/changes.ts';
import { nameAlternatives } from './alternatives.ts';
import type { Click } from './click.ts';
import type { DecisionContext } from './ports.ts';
import { recordRefusal } from './record.ts';
import { denialOfVerb, isPressedInPlace, refusalOfVerb, reportForeignPlace } from './review.ts';

export interface Refused {
  readonly ok: false;
  readonly denial: Denial;
}

export type Authorization = { readonly ok: true } | Refused;
type ChangeAuthorization = { readonly ok: true; readonly change: Change } | Refused;

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
  const answer = askQuery(context, { command, target }, identity);
  return 'refusal' in answer ? refuse(policyDenial(answer, { command })) : { ok: true };
}

/** The same without a record, for a user who does not act now. */
export async function mayQuery(
  context: Pick<DecisionContext, 'people' | 'policy' | 'now'>,
  { by, fresh = false, ...request }: QueryRequest,
): Promise<boolean> {
  const identity = await context.people.identify(by, { fresh });
  return !('refusal' in askQuery(context, request, identity));
}

function askQuery(
  { policy, now }: Pick<DecisionContext, 'policy' | 'now'>,
  { command, target }: Pick<QueryRequest, 'command' | 'target'>,
  identity: Identity,
) {
  const proposal = { command, target, reason: null };
  return gate(proposal, 'query', { identity, policy, now: now() });
}

type CommandAuthorization =
  | {
      readonly ok: true;
      readonly requires: Requirement;
      /** The roles of the requester now. */
      readonly roles: readonly RoleName[];
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
  const { needsReason } = request;
  const proposal = { command, target, reason };
  const decision = gate(proposal, 'request', { identity, policy, now: at, needsReason });
  if ('refusal' in decision) return refuse(policyDenial(decision, about));
  return { ok: true, requires: decision.requires, roles: decision.roles };
}

interface FormRequest {
  readonly commands: readonly string[];
  readonly target?: Target | null;
  readonly by: UserId;
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
  request: FormRequest,
): Promise<Authorization> {
  const { commands, by, record } = request;
  const identity = await context.people.identify(by, { fresh: false });
  const { target = null } = request;
  const answer = gate({ commands, target }, 'form', { identity, policy: context.policy });
  if (answer === 'allowed') return { ok: true };
  const [command = null] = commands;
  const denial = policyDenial(answer, { command, target: target?.name ?? null });
  const tried = command ?? 'none';
  if (record) return refused(context, denial, { tried, by, identity });
  return { ok: false, denial: await nameAlternatives(context, denial) };
}

interface UsableCommands {
  readonly ok: true;
  readonly commands: readonly string[];
  readonly roles: readonly RoleName[];
  /** Those that also apply to services outside the configuration; null if none is discovered. */
  readonly onDiscovered: readonly string[] | null;
}

/** The commands for which the policy has a rule that admits the user. */
export async function authorizeForms(
  { policy, people, discoversServices }: DecisionContext,
  by: UserId,
  commands: readonly string[],
): Promise<UsableCommands | Refused> {
  const identity = await people.identify(by, { fresh: false });
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal) };
  const { actor } = identity;
  return {
    ok: true,
    commands: commandsFor(policy, commands, actor),
    roles: actor.roles,
    onDiscovered: discoversServices ? commandsOnDiscovered(policy, commands, actor) : null,
  };
}

/**
 * Whether a user may press a button that opens a form for a reason. The form's submission is
 * authorized again, with fresh lookups.
 */
export async function authorizePress(
  context: DecisionContext,
  pressed: Pick<Click, 'verb' | 'by' | 'change' | 'place'>,
): Promise<ChangeAuthorization> {
  const { verb, by } = pressed;
  const change = await loadChange(context.database.db, pressed.change);
  const identity = change && (await context.people.identify(by, { fresh: false }));
  const isForeign = change && !(await isPressedInPlace(context, change, pressed));
  const refusal = isForeign
    ? 'foreign-place'
    : refusalOfPress(context, change, identity, { verb, by });
  if (change && !refusal) return { ok: true, change };
  if (isForeign) {
    const { database, now } = context;
    await database.transaction((tx) => reportForeignPlace(tx, pressed, now()));
  }
  const denial = denialOfVerb(context, {
    refusal: refusal ?? 'not-found',
    change,
    press: { verb, by },
  });
  return refused(context, denial, { tried: verb, by, identity });
}

function refusalOfPress(
  context: DecisionContext,
  change: Change | null,
  identity: Identity | null,
  { verb, by }: { readonly verb: Verb; readonly by: UserId },
): Refusal | null {
  if (!change || !identity) return 'not-found';
  return refusalOfVerb(context, verb, change, { by, identity });
}

/** Whether a user may edit a draft or see its password: its requester only, as an active member. */
export async function authorizeRequester(
  { database, people }: DecisionContext,
  id: ChangeId,
  by: UserId,
): Promise<ChangeAuthorization> {
  const change = await loadChange(database.db, id);
  if (!change) return { ok: false, denial: createDenial('not-found') };
  const identity = await people.identify(by, { fresh: false });
  const answer = gate(change, 'own', { by, identity });
  if (answer === 'allowed') return { ok: true, change };
  return { ok: false, denial: createDenial(answer.refusal, { change }) };
}

async function refused(
  context: DecisionContext,
  denial: Denial,
  attempt: Parameters<typeof recordRefusal>[2],
): Promise<Refused> {
  await recordRefusal(context, denial, attempt);
  return { ok: false, denial: await nameAlternatives(context, denial) };
}

/** The policy's refusal with its rule and the role that the rule admits. */
function policyDenial(
  { refusal, rule, freeze, never }: RefusedProposal,
  about: Partial<Denial>,
): Denial {
  const role = rule?.to ?? null;
  return createDenial(refusal, { ...about, rule: rule?.place ?? null, role, freeze, never });
}
