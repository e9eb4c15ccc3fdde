import { Scope, type SlackFreeze, scopeKey, selectorOf } from '../../intent/arguments/freezes.ts';
import { withFreezes } from '../../policy/freezes.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { Db } from '../../storage/engine/database.ts';
import { activeFreezes, type StoredFreeze } from '../../storage/tables/freezes.ts';
import type { DecisionContext } from '../ports.ts';

/**
 * Returns the policy of the configuration file with the freezes that users made in Slack. Every
 * decision reads it again, in its own transaction where it has one.
 */
export async function currentPolicy(
  db: Db,
  { policy, now }: Pick<DecisionContext, 'policy' | 'now'>,
): Promise<Policy> {
  const stored = await activeFreezes(db, now());
  return withFreezes(
    policy,
    stored.map((row) => standingFreeze(row).freeze),
  );
}

/** Converts a stored freeze to the form that policy and commands use. */
export function standingFreeze({ id, reason, createdBy, ...stored }: StoredFreeze): SlackFreeze {
  const scope = Scope.parse(stored.scope);
  const key = scopeKey(scope);
  const { from, until } = stored;
  const made = { id, by: createdBy };
  return {
    id,
    name: 'service' in scope ? scope.service.name : key,
    aliases: [key],
    scope,
    freeze: { from, until, on: selectorOf(scope), reason, by: null, made },
  };
}
