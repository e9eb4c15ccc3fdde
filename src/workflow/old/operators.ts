import type { Target, UserId } from '../../domain/change.ts';
import { requirementFor } from '../../domain/policy.ts';
import type { DecisionContext } from './ports.ts';

const OPERATIONS = ['service start', 'service stop', 'service scale'];

/**
 * Whether a user is an operator of a service: a rule of the policy admits them to one of its changes.
 * A user whom Slack does not identify is none.
 */
export async function isOperatorOf(
  { people, policy }: Pick<DecisionContext, 'people' | 'policy'>,
  target: Target,
  by: UserId,
): Promise<boolean> {
  const identity = await people.identify(by, { fresh: false });
  if (!identity.ok) return false;
  const { roles } = identity.actor;
  return OPERATIONS.some((command) => {
    const requirement = requirementFor(policy, { command, target });
    return requirement !== null && roles.includes(requirement.to);
  });
}
