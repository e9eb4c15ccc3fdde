import { dropInstance, pruneInstances, saveInstance } from '../../storage/tables/instances.ts';
import type { DecisionContext } from '../ports.ts';

const EVERY_MS = 60_000;
const GONE_AFTER_MS = 10 * EVERY_MS;

/**
 * Says once a minute that this process lives and which release it is, so that whoever looks sees
 * all replicas. Nothing is decided by it: leases alone say who may work on what.
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
  const tell = async () => {
    const seenAt = now();
    await database.transaction(async (tx) => {
      await saveInstance(tx, { id, version, startedAt, seenAt });
      await pruneInstances(tx, new Date(seenAt.getTime() - GONE_AFTER_MS));
    });
  };
  const quietly = (work: Promise<unknown>) =>
    work.catch((error: unknown) => log.warn({ err: error }, 'the list of replicas was not kept'));

  let last = quietly(tell());
  const timer = setInterval(() => {
    last = quietly(tell());
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      await quietly(database.transaction((tx) => dropInstance(tx, id)));
    },
  };
}
