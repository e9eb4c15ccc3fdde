import { pruneInbox } from '../../storage/tables/queues/inbox.ts';
import { pruneOutbox } from '../../storage/tables/queues/outbox.ts';
import { dropExpiredSecrets } from '../../storage/tables/secrets.ts';
import { pruneTallies } from '../../storage/tables/tallies.ts';
import { pruneReports } from '../notify/announcement.ts';
import type { WorkflowContext } from '../ports.ts';

const KEEP_MS = 7 * 86_400_000;

/** Forgets what has served its time. A replay of a click is refused long before its key goes. */
export async function tidy(context: WorkflowContext): Promise<void> {
  const now = context.now();
  const before = new Date(now.getTime() - KEEP_MS);
  await context.database.transaction(async (tx) => {
    await dropExpiredSecrets(tx, now);
    await pruneInbox(tx, before);
    await pruneOutbox(tx, before);
    await pruneTallies(tx, before);
    await pruneReports(tx, now);
  });
}
