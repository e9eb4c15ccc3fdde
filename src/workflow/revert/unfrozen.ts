import type { Change, ChangeId, Position } from '../../changes/change.ts';
import { freezeOver } from '../../policy/freezes.ts';
import { loadChange } from '../../storage/tables/changes/changes.ts';
import { enqueue } from '../../storage/tables/queues/outbox.ts';
import type { Posted, World } from '../ports.ts';
import { policyNow } from '../request/current-policy.ts';
import { isAsLeft } from './unchanged-since.ts';

/** Asks, once a freeze is over, whether to take back what it did not let be taken back in time. */
export const THAWED = 'thawed';

/** What a freeze held up is not run later by itself: at another hour nobody expects it. */
export function thawOf(before: Change, { parent, state, frozenBy }: Change) {
  const entered = before.state !== state && state === 'denied';
  return entered && parent && frozenBy ? [{ kind: THAWED, at: frozenBy.until }] : [];
}

/** Nothing is asked where somebody has changed the target since, or another freeze goes on. */
export async function askAnew(
  world: World,
  change: Change,
  at: Position,
  how: Posted,
): Promise<void> {
  const { db } = world.database;
  const { freezes } = await policyNow(db, world);
  const freeze = freezeOver(freezes, change.plan.target, world.now());
  if (freeze) return askAt(world, change.id, freeze.until);
  const parent = change.parent && (await loadChange(db, change.parent));
  if (parent && (await isAsLeft(world, parent))) await world.messenger.askAnew(change, at, how);
}

async function askAt({ database }: World, changeId: ChangeId, at: Date): Promise<void> {
  await database.transaction((tx) => enqueue(tx, { changeId, kind: THAWED, at }));
}
