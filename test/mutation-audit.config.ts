import { defineConfig } from 'vitest/config';

/** The quick tests that reach the stored audit trail, on SQLite alone. */
export default defineConfig({
  test: {
    include: [
      'test/storage/audit/**/*.test.ts',
      'test/workflow/audit-trail/{accept-gap,anchors,follow,key-change,other-installation}.test.ts',
      'test/workflow/background/check-freezes.test.ts',
    ],
    env: { TEST_ENGINE: 'sqlite' },
    // A loaded machine must not make a mutant count as found.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
