import { defineConfig } from 'vitest/config';

/** The quick tests that reach executions and reviews, on SQLite alone. */
export default defineConfig({
  test: {
    include: [
      'test/workflow/{execute,review}/**/*.test.ts',
      'test/workflow/audit-trail/{accept-gap,key-change}.test.ts',
      'test/workflow/limits/rate-limit.test.ts',
    ],
    // It counts the pauses that the other tests skip.
    exclude: ['test/workflow/execute/record-retries.test.ts'],
    setupFiles: ['test/mutation-no-pauses.ts'],
    env: { TEST_ENGINE: 'sqlite' },
    // A loaded machine must not make a mutant count as found.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
