import { toText } from './portable.ts';
import type { Tx } from './schema.ts';

/**
 * Frees the inbox and the outbox of a process that has certainly ended, so that its work is not
 * delayed until its leases expire.
 */
export async function freeQueues(tx: Tx, now: Date): Promise<void> {
  const free = { lease_owner: null, lease_until: null };
  await tx.updateTable('inbox').set(free).where('handled_at', 'is', null).execute();
  // The owner stays: later messages of the same change and kind wait for this delivery.
  await tx
    .updateTable('outbox')
    .set({ lease_until: toText(now) })
    .where('done_at', 'is', null)
    .where('lease_until', '>', toText(now))
    .execute();
}
