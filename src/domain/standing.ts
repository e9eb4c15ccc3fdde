// Standing approvals: what one allows, until when, and whether it covers a change. It is a change of its own, approved
// like any other; its uses are recorded in its stream, under the lock, so that the last one is taken once.

import { z } from 'zod';
import type { JsonObject } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { approvalStatus } from './approvals.ts';
import type { Actor, Change, Plan, Refusal, Target, UserId } from './change.ts';
import { freezeTarget, Scope, scopeText, selectorOf, servicesIn } from './freezes.ts';
import { type Policy, reachable, requirementFor, selects } from './policy.ts';
import { type Service, serviceTarget } from './targets.ts';
import { startsAt } from './timing.ts';

export const MOST_USES = 50;
export const USUAL_USES = 5;
/** The longest time for which a standing approval is in force. */
export const LONGEST_STANDING_MS = 14 * DAY_MS;

/** The fields of a request that a standing approval can limit. A request with any other field is not covered. */
const LIMITS = {
  minReplicaMemoryGb: 'maxReplicaMemoryGb',
  maxReplicaMemoryGb: 'maxReplicaMemoryGb',
  numReplicas: 'numReplicas',
} as const;

const Allowance = z.object({
  commands: z.array(z.string()).min(1).readonly(),
  scope: Scope,
  uses: z.int().min(1).max(MOST_USES),
  forMs: z.number().max(LONGEST_STANDING_MS),
  maxReplicaMemoryGb: z.number().optional(),
  numReplicas: z.number().optional(),
});
export type Allowance = z.infer<typeof Allowance>;

/** What the body of a plan allows. */
export function allowanceIn(body: JsonObject): Allowance {
  return Allowance.parse(body);
}

/** `stop and start of staging`, `scale of everything tagged prod`: what is allowed, in a title. */
export function allowanceText({ commands, scope }: Pick<Allowance, 'commands' | 'scope'>): string {
  return `${commands.map((command) => command.split(' ')[1]).join(' and ')} of ${scopeText(scope)}`;
}

/** What the policy reads of a standing approval: like a freeze of the same services. */
export function allowedTarget(body: JsonObject, services: readonly Service[]): Target {
  const allowance = allowanceIn(body);
  const target = freezeTarget(allowance.scope, services);
  const id = [target.id, ...allowance.commands].join(' ');
  return { ...target, kind: 'standing approval', id, name: allowanceText(allowance) };
}

/** Each command on each service of the configuration that is allowed: the rules of all of them approve it. */
export function allowedPairs(
  body: JsonObject,
  services: readonly Service[],
): readonly AllowedChange[] {
  const { commands, scope } = allowanceIn(body);
  const targets = servicesIn(scope, services).map(serviceTarget);
  return targets.flatMap((target) => commands.map((command) => ({ command, target })));
}

export interface AllowedChange {
  readonly command: string;
  readonly target: Target;
}

type Standing = Pick<Change, 'plan' | 'state' | 'outcome' | 'uses' | 'revoked'>;

/** What a standing approval that is or was in force allows, until when, and how many uses are left. Null: it is none. */
export function standingOf({ plan, state, outcome, uses = [] }: Standing) {
  if (plan.target.kind !== 'standing approval' || state !== 'succeeded' || !outcome) return null;
  const allowance = allowanceIn(plan.body);
  const until = new Date(outcome.at.getTime() + allowance.forMs);
  return { allowance, until, left: Math.max(0, allowance.uses - uses.length) };
}

/** Whether a standing approval is in force, also without a use left. */
export function isInForce(standing: Standing, now: Date): boolean {
  const found = standingOf(standing);
  return found !== null && !standing.revoked && now < found.until;
}

/** A change that may run by a standing approval; without an id, it is not requested yet. */
export interface Use extends Pick<Change, 'command' | 'plan' | 'requires' | 'requester' | 'via'> {
  readonly id?: Change['id'];
}

/** What decides whether a change may run by a standing approval. */
export interface StandingFacts {
  readonly now: Date;
  readonly policy: Policy;
  readonly standing: Change | null;
  /** The target with its current tags and warehouse. */
  readonly target: Target;
  /** All commands that run with the change, for example that of its revert. */
  readonly commands: readonly string[];
  /** The requester of the change, and the approvers of the standing approval. */
  readonly identities: Identities;
}

/** Who a user is now, with the roles, or why Signalbox does not accept the user. */
export type Known =
  | { readonly ok: true; readonly actor: Actor }
  | { readonly ok: false; readonly refusal: Refusal };
type Identities = ReadonlyMap<UserId, Known>;

/**
 * Whether a change may run by a standing approval, instead of approvals of its own. Those of the standing approval must
 * meet what the change requires, by the roles that its approvers have now, and without its requester.
 */
export function decideUse(
  use: Use,
  facts: StandingFacts,
):
  | { readonly approvals: Change['approvals'] }
  | { readonly refusal: Refusal; readonly ends: null } {
  const refuse = (refusal: Refusal) => ({ refusal, ends: null });
  const { standing, policy, target, commands, identities } = facts;
  const refusal = standingRefusal(use, facts);
  if (refusal || !standing) return refuse(refusal ?? 'standing-ended');
  const { requester, requires, via } = use;
  const identity = identities.get(requester);
  const own = identity?.ok ? (identity.actor.ids ?? [requester]) : [requester];
  const approvals = standing.approvals.filter(({ by }) => !own.includes(by));
  const isOwn = approvals.length < standing.approvals.length;
  if (isOwn && !requires.self) return refuse('self-approval');
  const admits = (command: string) =>
    reachable(policy, command).find(({ on }) => selects(on, target) === true)?.agentsStanding;
  if (via && !commands.every(admits)) return refuse('agent-not-admitted');
  const current = commands.map((command) => requirementFor(policy, { command, target }));
  const about = { approvals, requester, confirmedAt: null };
  const rolesOf = rolesAmong(identities);
  const isMet = [requires, ...current].every(
    (each) => each !== null && each.from !== null && approvalStatus(each, about, rolesOf).met,
  );
  if (isMet) return { approvals };
  return refuse(hasFailedLookup(identities) ? 'lookup-failed' : 'approvals-missing');
}

/** What runs by a standing approval needs it until it is sent, and its use in the log. */
export function refusalOfUse(
  change: Use & Pick<Change, 'standing'>,
  facts: StandingFacts,
): Refusal | null {
  const { standing } = facts;
  if (!change.standing) return null;
  if (!standing || !isCounted(standing, change)) return 'standing-ended';
  const use = decideUse(change, facts);
  return 'refusal' in use ? use.refusal : null;
}

/** The current roles of a user; null if they are unknown. */
export function rolesAmong(identities: Identities) {
  return (user: UserId) => {
    const identity = identities.get(user);
    return identity?.ok ? identity.actor.roles : null;
  };
}

export function hasFailedLookup(identities: Identities): boolean {
  return [...identities.values()].some(
    (identity) => !identity.ok && identity.refusal === 'lookup-failed',
  );
}

/** Why a change does not run by a standing approval, as far as time, number and values decide; null: it may. */
function standingRefusal(use: Use, facts: StandingFacts): Refusal | null {
  const { standing, now } = facts;
  const found = standing && standingOf(standing);
  if (!found || !isInForce(standing, now)) return 'standing-ended';
  const { allowance, until, left } = found;
  if (left === 0 && !isCounted(standing, use)) return 'standing-used';
  return covers(allowance, use, facts) && startsAt(use.plan, now) < until ? null : 'not-covered';
}

/** Whether the change is one of the recorded uses. */
function isCounted({ uses = [] }: Change, { id }: Pick<Use, 'id'>): boolean {
  return uses.some((each) => each.change === id);
}

function covers(allowance: Allowance, { command, plan }: Use, { commands, target }: StandingFacts) {
  // Only the reviewed file says which services have a tag.
  if (target.kind !== 'service' || target.discovered) return false;
  const isAllowed = commands.every((each) => allowance.commands.includes(each));
  const isWithin = command !== 'service scale' || isWithinLimits(allowance, plan);
  return isAllowed && isWithin && selects(selectorOf(allowance.scope), target) === true;
}

/** Of a change that reverts, the previous values are sent as well. */
function isWithinLimits(allowance: Allowance, { body, before, timing }: Plan): boolean {
  const sent = timing?.revert ? [body, before?.fields ?? {}] : [body];
  return Object.keys(body).every((field) => {
    const limit = (isLimited(field) && allowance[LIMITS[field]]) || Number.NaN;
    return sent.every(({ [field]: value }) => typeof value === 'number' && value <= limit);
  });
}

function isLimited(field: string): field is keyof typeof LIMITS {
  return field in LIMITS;
}
