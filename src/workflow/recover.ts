import type { Change } from '../changes/change.ts';
import { expire, giveUp, type Outcome } from '../changes/lifecycle.ts';
import { dueToExpire, leaseRanOut, lockChange } from '../storage/changes.ts';
import { closeOpenPermits } from '../storage/permits.ts';
import { recordMove } from './record.ts';
import type { World } from './world.ts';

const AT_ONCE = 50;

/** Whoever's sender died: the request may have arrived, so that nobody may send it again. */
export async function recover(world: World): Promise<number> {
  const lost = await leaseRanOut(world.database.db, world.now(), AT_ONCE);
  for (const { id } of lost) await sweep(world, id, 'unknown', giveUp);
  return lost.length;
}

export async function expireDue(world: World): Promise<number> {
  const due = await dueToExpire(world.database.db, world.now(), AT_ONCE);
  for (const { id } of due) await sweep(world, id, 'expired', expire);
  return due.length;
}

async function sweep(
  world: World,
  id: Change['id'],
  kind: string,
  verb: (change: Change, now: Date) => Outcome,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    if (!change) return;
    const outcome = verb(change, world.now());
    // Somebody else was first; what they did is on record already.
    if (!outcome.ok) return;
    if (kind === 'unknown') await closeOpenPermits(tx, id);
    await recordMove(tx, world, change, outcome.change, { kind, by: 'signalbox' });
  });
}
