import { vi } from 'vitest';

// A mutant with which no outcome can be stored must fail by its result, not by a time-out after all
// retries.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async () => undefined,
}));
