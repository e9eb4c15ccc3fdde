import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'bot', include: ['test/**/*.test.ts'], exclude: ['test/browser/**'] } },
    ],
  },
});
