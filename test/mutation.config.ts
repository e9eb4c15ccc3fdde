import { defineConfig } from 'vitest/config';
import { chosenRoom } from './mutation-rooms.ts';

const { tests, without = [], setup = [] } = chosenRoom();

/** The quick tests of one room, on SQLite alone. */
export default defineConfig({
  test: {
    include: [...tests],
    exclude: [...without],
    setupFiles: [...setup],
    env: { TEST_ENGINE: 'sqlite' },
    // A loaded machine must not make a mutant count as found.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
