import { Scope, type SlackFreeze, scopeKey, selectorOf } from '../../intent/arguments/freezes.ts';
import { withFreezes } from '../../policy/freezes.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { Db } from '../../storage/engine/database.ts';
import { activeFreezes, type StoredFreeze } from '../../storage/tables/freezes.ts';
import type { DecisionContext } from '../ports.ts';

/**
 * What holds at this moment: the file, and the freezes that were made in Slack. Whatever decides
 * asks for it anew, and within the transaction in which it decides. What cannot be read decides
 * nothing.
 */
export async function policyNow(
  db: Db,
  { policy, now }: Pick<DecisionContext, 'policy' | 'now'>,
): Promise<Policy> {
  const standing = await activeFreezes(db, now());
  return withFreezes(
    policy,
    standing.map((stored) => standingFreeze(stored).freeze),
  );
}

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
