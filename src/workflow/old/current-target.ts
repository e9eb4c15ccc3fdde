import type { Change, Plan, Requirement, Target, TargetKind } from '../../domain/change.ts';
import { freezeTarget, scopeFrom } from '../../domain/freezes.ts';
import { requirementFor } from '../../domain/policy.ts';
import {
  newServiceTags,
  type PolicyFacts,
  policyFacts,
  type Service,
  UNKNOWN_TAGS,
} from '../../domain/targets.ts';
import type { DecisionContext } from './ports.ts';

type Directory = Pick<DecisionContext, 'discoversServices'> & {
  readonly services: readonly Service[];
};
type FactsOf = (plan: Pick<Plan, 'target' | 'body'>, directory: Directory) => PolicyFacts;

const factsOfService: FactsOf = ({ target }, { services, discoversServices }) => {
  const service = services.find(({ id }) => id === target.id);
  if (service) return policyFacts(service);
  return discoversServices ? { ...UNKNOWN_TAGS, discovered: true } : UNKNOWN_TAGS;
};

const FACTS_OF: Readonly<Record<TargetKind, FactsOf>> = {
  service: factsOfService,
  schedule: factsOfService,
  alert: () => ({ tags: [], warehouse: null }),
  'new service': ({ body }, { services }) => newServiceTags(body.dataWarehouseId, services),
  freeze: ({ body }, { services }) => freezeTarget(scopeFrom(body), services),
};

/**
 * Returns the target of a plan with its tags and warehouse of the current directory. Every decision
 * about a stored change uses them, because a service may get another tag while the change waits.
 */
export function currentTarget(
  { services, discoversServices }: Pick<DecisionContext, 'services' | 'discoversServices'>,
  plan: Pick<Plan, 'target' | 'body'>,
): Target {
  const { discovered: _, ...target } = plan.target;
  const directory = { services: services(), discoversServices };
  const { tags, warehouse, discovered } = FACTS_OF[target.kind](plan, directory);
  return { ...target, tags, warehouse, ...(discovered && { discovered }) };
}

export type CurrentRuleContext = Pick<DecisionContext, 'policy' | 'services' | 'discoversServices'>;

/** Returns what the current rule for the command and target of a change requires, or null. */
export function currentRequirement(
  context: CurrentRuleContext,
  { command, plan }: Change,
): Requirement | null {
  return requirementFor(context.policy, { command, target: currentTarget(context, plan) });
}
