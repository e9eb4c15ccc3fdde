import { setTimeout as sleep } from 'node:timers/promises';

/** Time and chance as the clients need them; tests pass their own. */
export interface Clock {
  /** Milliseconds that only ever grow, from an arbitrary zero. */
  now(): number;
  sleep(ms: number): Promise<unknown>;
  /** A signal that fires after so many milliseconds. */
  timeout(ms: number): AbortSignal;
  /** From 0 to just under 1. */
  random(): number;
}

export const machineClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => sleep(ms),
  timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
  random: () => Math.random(),
};
