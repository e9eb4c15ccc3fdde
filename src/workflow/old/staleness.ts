import type { Verb } from '../../domain/change.ts';
import { coversRequirement } from '../../domain/gate.ts';
import { decide } from '../../domain/policy.ts';
import { startsAt } from '../../domain/timing.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import type { Tx } from '../../storage/old/database.ts';
import { currentPolicy } from './current-policy.ts';
import { currentTarget, hasSameFacts } from './current-target.ts';
import type { DecisionContext } from './ports.ts';
import type { StopReason } from './stop-change.ts';

/** The verbs after which a change may run, so that the audit trail must confirm it. */
export const PERMITTING: readonly Verb[] = ['confirm', 'approve', 'break-glass'];

/**
 * Returns why a change is not confirmed or approved, or null: the audit trail does not confirm it, or
 * its target has other tags or another warehouse than users saw, and their rule requires more than the
 * change shows. The change ends, except for `not-verified`: the server may answer the next time.
 */
export async function stalenessOf(
  tx: Tx,
  context: DecisionContext,
  verb: Verb,
  stored: VerifiableChange,
): Promise<StopReason | null> {
  if (!PERMITTING.includes(verb)) return null;
  const { change } = stored;
  const unconfirmed = await auditRefusal(tx, context.auditKey, change, stored);
  if (unconfirmed) return { why: unconfirmed };

  const { command, plan, requires, requester, reason } = change;
  const target = currentTarget(context, plan);
  if (hasSameFacts(target, plan.target)) return null;
  const policy = await currentPolicy(tx, context);
  // The requester's own roles are read and decided by the claim.
  const actor = { id: requester, roles: [...policy.roles.keys()] };
  const now = startsAt(plan, context.now());
  const decision = decide(policy, { kind: 'change', command, target, actor, reason, now });
  if (decision.allow && coversRequirement(requires, decision.requires)) return null;
  if (!decision.allow && decision.refusal === 'not-verified') return { why: 'not-verified' };
  const { tags, warehouse } = target;
  return { why: 'tags-changed', facts: { tags, warehouse } };
}
