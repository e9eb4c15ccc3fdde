import type { Change, Plan, Requirement, Target, TargetKind } from '../../changes/change.ts';
import { newServiceTags, type Service, UNKNOWN_TAGS } from '../../directory/directory.ts';
import { freezeTarget, scopeFrom } from '../../intent/arguments/freezes.ts';
import { requirementFor } from '../../policy/decide.ts';
import type { DecisionContext } from '../ports.ts';

type PolicyFacts = Pick<Target, 'tags' | 'warehouse'>;
type FactsOf = (plan: Pick<Plan, 'target' | 'body'>, services: readonly Service[]) => PolicyFacts;

const FACTS_OF: Readonly<Record<TargetKind, FactsOf>> = {
  service: ({ target }, services) => services.find(({ id }) => id === target.id) ?? UNKNOWN_TAGS,
  alert: () => ({ tags: [], warehouse: null }),
  'new service': ({ body }, services) => newServiceTags(body.dataWarehouseId, services),
  freeze: ({ body }, services) => freezeTarget(scopeFrom(body), services),
};

/**
 * Returns the target of a plan with its tags and warehouse of the current directory. Every decision
 * about a stored change uses them, because a service may get another tag while the change waits.
 */
export function currentTarget(
  { services }: Pick<DecisionContext, 'services'>,
  plan: Pick<Plan, 'target' | 'body'>,
): Target {
  const { tags, warehouse } = FACTS_OF[plan.target.kind](plan, services());
  return { ...plan.target, tags, warehouse };
}

export type CurrentRuleContext = Pick<DecisionContext, 'policy' | 'services' | 'commands'>;

/** Returns what the current rule for the command and target of a change requires, or null. */
export function currentRequirement(
  context: CurrentRuleContext,
  change: Change,
): Requirement | null {
  const command = context.commands.get(change.command)?.name ?? change.command;
  return requirementFor(context.policy, { command, target: currentTarget(context, change.plan) });
}

/** Whether the policy reads the same facts in both targets. */
export function hasSameFacts(one: Target, other: Target): boolean {
  const text = ({ tags, warehouse }: Target) =>
    JSON.stringify([tags && [...tags].sort(), warehouse]);
  return text(one) === text(other);
}
