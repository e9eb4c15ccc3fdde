import { setTimeout as wait } from 'node:timers/promises';

const WITHIN_MS = 60_000;

/** Asks again until there is an answer other than null, undefined and false. */
export async function until<Value>(
  what: string,
  read: () => Value | Promise<Value>,
  withinMs = WITHIN_MS,
): Promise<NonNullable<Value>> {
  for (const last = performance.now() + withinMs; performance.now() < last; await wait(50)) {
    const value = await read();
    if (value !== undefined && value !== null && value !== false) return value;
  }
  throw new Error(`${what} did not come within ${withinMs / 1_000} s`);
}
