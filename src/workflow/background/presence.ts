import { dropInstance, pruneInstances, saveInstance } from '../../storage/tables/instances.ts';
import type { DecisionContext } from '../ports.ts';

const EVERY_MS = 60_000;
const GONE_AFTER_MS = 10 * EVERY_MS;

/**
 * Stores once a minute that this process runs, and its release, so that the doctor can list all
 * replicas. No decision depends on it: only leases decide which process works on what.
 */
export function startPresence(
  {
    database,
    instance: id,
    now,
    log,
  }: Pick<DecisionContext, 'database' | 'instance' | 'now' | 'log'>,
  version: string,
) {
  const startedAt = now();
  const store = async () => {
    const seenAt = now();
    await database.transaction(async (tx) => {
      await saveInstance(tx, { id, version, startedAt, seenAt });
      await pruneInstances(tx, new Date(seenAt.getTime() - GONE_AFTER_MS));
    });
  };
  const logErrors = (work: Promise<unknown>) =>
    work.catch((error: unknown) =>
      log.warn({ err: error }, 'list of replicas could not be updated'),
    );

  let last = logErrors(store());
  const timer = setInterval(() => {
    last = logErrors(store());
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      await logErrors(database.transaction((tx) => dropInstance(tx, id)));
    },
  };
}
