import { createOutageLog } from '../../base/log.ts';
import { registerConfiguration } from '../../log/old/configurations.ts';
import { dropInstance, pruneInstances, saveInstance } from '../../storage/old/instances.ts';
import type { DecisionContext } from './ports.ts';

const EVERY_MS = 60_000;
const GONE_AFTER_MS = 10 * EVERY_MS;
const SILENT_AFTER_MS = 3 * EVERY_MS;

type PresenceContext = Pick<
  DecisionContext,
  'database' | 'instance' | 'configuration' | 'now' | 'log'
>;

interface PresenceOptions {
  readonly version: string;
  /** The instance of this process before a reload. */
  readonly replaces: string | null;
}

/**
 * Stores now and once a minute that this process runs, with its release and configuration. The
 * doctor lists all replicas, and only replicas with the current configuration execute changes. The
 * leases decide which process works on what.
 */
export async function startPresence(
  { database, instance: id, configuration, now, log }: PresenceContext,
  { version, replaces }: PresenceOptions,
) {
  const startedAt = now();
  const use = { hash: configuration, instance: id, replaces };
  let isCurrent = true;
  const store = async () => {
    const seenAt = now();
    const before = (ms: number) => new Date(seenAt.getTime() - ms);
    const wasCurrent = isCurrent;
    isCurrent = await database.transaction(async (tx) => {
      await saveInstance(tx, { id, version, configuration, startedAt, seenAt });
      await pruneInstances(tx, before(GONE_AFTER_MS));
      return registerConfiguration(tx, use, before(SILENT_AFTER_MS));
    });
    if (wasCurrent && !isCurrent) log.error({ configuration }, OUTDATED);
  };
  const outage = createOutageLog(log, OUTAGE);
  const logErrors = (work: Promise<unknown>) =>
    work.then(outage.ended, (error: unknown) => outage.failed(String(error), { err: error }));

  await store();
  let last: Promise<unknown> = Promise.resolve();
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

const OUTAGE = {
  began: 'list of replicas could not be updated; Signalbox updates it again every minute',
  ended: 'list of replicas can be updated again',
};

const OUTDATED =
  'another replica uses a newer configuration; this one executes no change until it is reloaded';
