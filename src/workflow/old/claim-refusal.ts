import { canonical, type JsonObject } from '../../base/text.ts';
import type {
  Change,
  Refusal,
  Requirement,
  RoleName,
  Target,
  UserId,
} from '../../domain/change.ts';
import { approvalStatus, type Identity } from '../../domain/gate.ts';
import { type Decision, decide, type Policy } from '../../domain/policy.ts';
import type { Service } from '../../domain/targets.ts';
import { hasSameFacts } from './current-target.ts';
import type { TargetFacts } from './read-target.ts';

/** What was gathered right before a claim. */
export interface ExecutionFacts extends TargetFacts {
  readonly validUntil: Date;
  readonly identities: ReadonlyMap<UserId, Identity>;
  /** The target could not be read yet, so that nothing is sent now. */
  readonly mustReadAgain: boolean;
  /** The directory, in which a discovered service has only the facts that the server returned now. */
  readonly services: readonly Service[];
}

interface ClaimQuestion {
  readonly facts: ExecutionFacts;
  /** The current names of the command, and of those that were approved together with it. */
  readonly commands: readonly string[];
  /** The target with its current tags and warehouse. */
  readonly target: Target;
  readonly now: Date;
}

type Allowed = Decision & { readonly allow: true };

/** Decides again right before sending: returns why an approved change must not run, or null. */
export function claimRefusal(
  policy: Policy,
  change: Change,
  { facts, commands, target, now }: ClaimQuestion,
): Refusal | null {
  const identity = facts.identities.get(change.requester);
  if (!identity?.ok) return identity?.refusal ?? 'lookup-failed';
  if (facts.target && !hasFields(change, facts.target.fields)) return 'target-changed';
  if (facts.state?.kind === 'differs') return 'target-changed';

  const { actor } = identity;
  const { reason } = change;
  const refusals = commands.map((command) => {
    const decision = decide(policy, { kind: 'change', command, target, actor, reason, now });
    return decision.allow ? approvalRefusal(change, decision, facts) : decision.refusal;
  });
  const refusal = refusals.find((one) => one !== null) ?? null;
  if (refusal === null || NOT_BY_RULE.includes(refusal)) return refusal;
  return hasSameFacts(target, change.plan.target) ? refusal : 'tags-changed';
}

// Approvals are bound to the target's state at the preview.
function hasFields({ plan }: Change, fields: JsonObject | 'gone'): boolean {
  return canonical(fields) === canonical(plan.before?.fields ?? null);
}

/** Reasons that do not depend on the rule, so that other tags do not explain them. */
const NOT_BY_RULE: readonly Refusal[] = ['lookup-failed', 'frozen', 'not-verified'];

// Break-glass replaces the approvals. The requester needs its role by the old and the current rule.
function breakGlassRefusal(
  { requires }: Change,
  decision: Allowed,
  roles: readonly RoleName[] | null,
): Refusal | null {
  const current = decision.requires.breakGlass;
  if (requires.breakGlass === null || current === null) return 'no-break-glass';
  const isAllowed = [requires.breakGlass, current].every((role) => roles?.includes(role));
  return isAllowed ? null : 'may-not-break-glass';
}

/** The approvals must satisfy the requirement at the time of the request and the current one. */
function approvalRefusal(
  change: Change,
  decision: Allowed,
  { identities }: ExecutionFacts,
): Refusal | null {
  const rolesOf = (user: UserId) => {
    const identity = identities.get(user);
    return identity?.ok ? identity.actor.roles : null;
  };
  const failedLookup = [...identities.values()].some(
    (identity) => !identity.ok && identity.refusal === 'lookup-failed',
  );
  if (change.breakGlass) return breakGlassRefusal(change, decision, rolesOf(change.requester));
  const isMet = (requires: Requirement) => approvalStatus(requires, change, rolesOf).met;
  if (isMet(change.requires) && isMet(decision.requires)) return null;
  return failedLookup ? 'lookup-failed' : 'approvals-missing';
}
