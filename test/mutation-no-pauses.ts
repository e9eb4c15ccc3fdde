import { vi } from 'vitest';

// A mutant with which no outcome can be stored must fail by its result, not by a time-out after all
// retries. A wait with a value or options is not one of these pauses.
vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof import('node:timers/promises')>();
  const setTimeout = async (...wait: Parameters<typeof real.setTimeout>) =>
    wait.length > 1 ? real.setTimeout(...wait) : undefined;
  return { ...real, setTimeout };
});
