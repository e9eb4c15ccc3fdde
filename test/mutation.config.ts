import { defineConfig } from 'vitest/config';

/** The tests of the pure rooms alone: quick enough to be run once for every mutant. */
export default defineConfig({
  test: { include: ['test/{changes,policy}/**/*.test.ts'] },
});
