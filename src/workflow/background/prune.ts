import { prune as pruneInbox } from '../../storage/tables/queues/inbox.ts';
import { prune as pruneOutbox } from '../../storage/tables/queues/outbox.ts';
import { dropExpiredSecrets } from '../../storage/tables/secrets.ts';
import { prune as pruneTallies } from '../../storage/tables/tallies.ts';
import { pruneReports } from '../notify/announcement.ts';
import type { World } from '../ports.ts';

const KEEP_MS = 7 * 86_400_000;

/** Forgets what has served its time. A replay of a click is refused long before its key goes. */
export async function tidy(world: World): Promise<void> {
  const now = world.now();
  const before = new Date(now.getTime() - KEEP_MS);
  await world.database.transaction(async (tx) => {
    await dropExpiredSecrets(tx, now);
    await pruneInbox(tx, before);
    await pruneOutbox(tx, before);
    await pruneTallies(tx, before);
    await pruneReports(tx, now);
  });
}
