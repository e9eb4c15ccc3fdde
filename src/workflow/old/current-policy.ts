import { Scope, type SlackFreeze, scopeKey, selectorOf } from '../../domain/freezes.ts';
import { type Policy, withFreezes } from '../../domain/policy.ts';
import { effectiveFreezes, readingFreezes } from '../../log/old/active-freezes.ts';
import type { StoredFreeze } from '../../log/old/freezes.ts';
import type { Db, Tx } from '../../storage/old/database.ts';
import type { Statement } from '../../storage/old/together.ts';
import type { DecisionContext } from './ports.ts';

/**
 * Returns the policy of the configuration file with the freezes that users made in Slack. Every
 * decision reads it again, in its own transaction where it has one.
 */
export async function currentPolicy(
  db: Db,
  { policy, now, auditKey }: Pick<DecisionContext, 'policy' | 'now' | 'auditKey'>,
): Promise<Policy> {
  return policyWith(policy, await effectiveFreezes(db, auditKey, now()));
}

interface PolicyRead extends Statement {
  /** What `currentPolicy` returns. */
  readonly policy: () => Promise<Policy>;
}

/** The statement of `currentPolicy`, to be sent together with others. */
export function readingPolicy(
  tx: Tx,
  { policy, now, auditKey }: Pick<DecisionContext, 'policy' | 'now' | 'auditKey'>,
): PolicyRead {
  const { freezes, ...statement } = readingFreezes(tx, auditKey, now());
  return { ...statement, policy: async () => policyWith(policy, await freezes()) };
}

function policyWith(policy: Policy, stored: readonly StoredFreeze[]): Policy {
  return withFreezes(
    policy,
    stored.map((row) => standingFreeze(row).freeze),
  );
}

const UNKNOWN_SCOPE = 'Signalbox cannot read the scope of this freeze, so it covers everything';

/** Whether this release knows the shape of the scope; a newer one may have stored another. */
export function hasKnownScope({ scope }: StoredFreeze): boolean {
  return Scope.safeParse(scope).success;
}

/**
 * Converts a stored freeze to the form that policy and commands use. A freeze with an unknown scope
 * covers everything, because it may cover any target.
 */
export function standingFreeze({ id, createdBy, ...stored }: StoredFreeze): SlackFreeze {
  const known = Scope.safeParse(stored.scope).data;
  const scope: Scope = known ?? { everything: true };
  const reason = known ? stored.reason : `${stored.reason} (${UNKNOWN_SCOPE})`;
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
