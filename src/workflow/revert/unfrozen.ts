import type { Change, ChangeId, Position } from '../../changes/change.ts';
import { freezeFor } from '../../policy/freezes.ts';
import { loadChange } from '../../storage/tables/changes/changes.ts';
import { enqueue } from '../../storage/tables/queues/outbox.ts';
import type { PostAttempt } from '../messenger-port.ts';
import type { WorkflowContext } from '../ports.ts';
import { policyNow } from '../request/current-policy.ts';
import { isUnchangedSince } from './unchanged-since.ts';

/** Asks, once a freeze is over, whether to take back what it did not let be taken back in time. */
export const THAWED = 'thawed';

/** What a freeze held up is not run later by itself: at another hour nobody expects it. */
export function thawOf(before: Change, { parent, state, frozenBy }: Change) {
  const entered = before.state !== state && state === 'denied';
  return entered && parent && frozenBy ? [{ kind: THAWED, at: frozenBy.until }] : [];
}

/** Nothing is asked where somebody has changed the target since, or another freeze goes on. */
export async function askAnew(
  context: WorkflowContext,
  change: Change,
  at: Position,
  how: PostAttempt,
): Promise<void> {
  const { db } = context.database;
  const { freezes } = await policyNow(db, context);
  const freeze = freezeFor(freezes, change.plan.target, context.now());
  if (freeze) return askAt(context, change.id, freeze.until);
  const parent = change.parent && (await loadChange(db, change.parent));
  if (parent && (await isUnchangedSince(context, parent)))
    await context.messenger.postUnfreezeOffer(change, at, how);
}

async function askAt({ database }: WorkflowContext, changeId: ChangeId, at: Date): Promise<void> {
  await database.transaction((tx) => enqueue(tx, { changeId, kind: THAWED, at }));
}
