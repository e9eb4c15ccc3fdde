import { chosenRoom } from './test/mutation-rooms.ts';

const { name, mutate } = chosenRoom();

/**
 * `ROOM=log npm run mutate` runs the mutation tests of one room of test/mutation-rooms.ts.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: [...mutate],
  ignorePatterns: ['**', '!package.json', '!src/**', '!test/**', '!sandbox/free-port.ts'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation.config.ts', related: false },
  tsconfigFile: 'none, for its rewriting needs an interface that TypeScript 7 does not have',
  plugins: ['@stryker-mutator/vitest-runner'],
  concurrency: 2,
  timeoutMS: 120_000,
  incrementalFile: `reports/mutation/${name}-incremental.json`,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false },
  htmlReporter: { fileName: `reports/mutation/${name}.html` },
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  thresholds: { high: 95, low: 90, break: 90 },
};
