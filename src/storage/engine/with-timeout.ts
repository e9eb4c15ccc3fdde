import { setTimeout as wait } from 'node:timers/promises';

/** Whoever looks at us gives up after five seconds or ten, and then has no reason at all. */
const LIMIT_MS = 3_000;

/** Fails like a server that does not answer where the work takes too long; it goes on in vain. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = wait(LIMIT_MS, null, { signal: over.signal, ref: false }).then(() => {
    throw silent(`The database did not answer within ${LIMIT_MS / 1_000} s`);
  });
  // Given up because the work was through.
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => over.abort());
}

/** With the code of a connection that timed out, by which its trouble is told. */
export function silent(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}
