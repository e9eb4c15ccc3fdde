import { renewClick } from '../../log/old/inbox.ts';
import type { DecisionContext } from './ports.ts';

/** After a crash, another replica handles the click this much later. */
export const CLICK_LEASE_MS = 10_000;
const RENEW_EVERY_MS = 3_000;

type LeaseContext = Pick<DecisionContext, 'database' | 'instance' | 'now' | 'log'>;

/** Handles a claimed click and renews its lease meanwhile: a lookup may take longer than the lease. */
export async function whileLeased<T>(
  { database, instance, now, log }: LeaseContext,
  key: string,
  work: () => Promise<T>,
  everyMs = RENEW_EVERY_MS,
): Promise<T> {
  const renew = () => {
    const by = { owner: instance, now: now(), leaseMs: CLICK_LEASE_MS };
    database
      .transaction((tx) => renewClick(tx, key, by))
      .catch((error: unknown) => log.warn({ err: error, key }, 'lease of a click was not renewed'));
  };
  const timer = setInterval(renew, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
