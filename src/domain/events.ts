import type { Change, ChangeId, Plan } from './change.ts';
import { planDigest } from './decide.ts';

/** What differs between a change and the one with which it was approved. */
interface OwnFields {
  readonly id: ChangeId;
  readonly command: string;
  readonly plan: Plan;
  readonly now: Date;
  readonly notBefore: Date;
  readonly expiresAt: Date;
  /** The change that it reverts; null for any other change. */
  readonly parent: ChangeId | null;
}

/** Every property of a change, so that a new one does not compile until `inheritChange` decides on it. */
type EveryField = { readonly [Field in keyof Required<Change>]: Change[Field] };

/**
 * Returns an approved change that was requested and approved together with an earlier one: a revert,
 * or the run of a schedule. It inherits requester, reason, requirement and approvals, and nothing else.
 */
export function inheritChange(approved: Change, own: OwnFields): Change {
  const { id, command, plan, now, notBefore, expiresAt, parent } = own;
  const { requester, reason, requires } = approved;
  const change: EveryField = {
    id,
    command,
    requester,
    reason,
    plan,
    digest: planDigest({ command, requester, reason, plan, requires }),
    requires,
    state: 'approved',
    version: 1,
    approvals: approved.approvals,
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    frozenBy: undefined,
    stateCheck: undefined,
    outcome: null,
    resolution: null,
    breakGlass: approved.breakGlass,
    review: null,
    createdAt: now,
    confirmedAt: approved.confirmedAt,
    expiresAt,
    notBefore,
    revertAt: null,
    parent,
    child: undefined,
    followUp: undefined,
    lease: null,
    origin: approved.origin,
    card: null,
  };
  return change;
}
