import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { CHROMIUM } from './test/browser/chromium.ts';
import { seededDefect } from './test/chaos/controls/seed-defect.ts';
import { shareCompiledCode } from './test/compiled-code.ts';
import { LongestFirst } from './test/longest-first.ts';
import { shareTemporaryFolder } from './test/temporary-files.ts';

const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) {
  process.stderr.write(`No Chromium at ${CHROMIUM}: the browser tests are left out of this run.\n`);
}

const PROMTOOL = process.env.PROMTOOL_PATH ?? '/usr/bin/promtool';
const hasPromtool = existsSync(PROMTOOL);
if (!hasPromtool) {
  process.stderr.write(
    `No promtool at ${PROMTOOL}: the tests of the alert rules are left out of this run.\n`,
  );
}

// The verifier of evidence is a program for people outside, in another language.
const hasVerifier = ['python3', 'openssl'].every(
  (program) => spawnSync(program, [program === 'openssl' ? 'version' : '--version']).status === 0,
);
if (!hasVerifier) {
  process.stderr.write(
    'No python3 or no openssl: the tests of the verifier of evidence are left out.\n',
  );
}

// Whole stories drive the bot between its simulators, programs are started as users start them, and some files compute
// for long; what is quick is run before every commit.
const STORIES = [
  'test/scenarios/**',
  'test/contracts/**',
  'test/sandbox/**',
  'test/chaos/**',
  'test/fuzz/**',
  'test/cli/**',
  'test/bench/trace.test.ts',
  'test/commands/hostile-lines.test.ts',
  'test/commands/typed-lines.test.ts',
  'test/log/verifier.test.ts',
  'test/ops/command.test.ts',
  'test/slack/agent-words.test.ts',
  'test/costs/late-locking.test.ts',
  'test/maths/back-test.test.ts',
  'test/deploy/alert-rules.test.ts',
  'test/deploy/archive-job.test.ts',
  'test/deploy/bundle.test.ts',
  'test/workflow/elsewhere-month.test.ts',
  'test/storage/full-disk.test.ts',
  'test/storage/unusable-files.test.ts',
];

/** Programs that tests start as processes. */
const BUNDLES = 'test/harness/build-bundle.ts';

// More workers than processors: threads of the garbage collector would only compete with them. A large initial heap
// avoids frequent full garbage collections. The second optimizing compiler of V8 costs tests more time than it saves.
const execArgv = ['--single-threaded-gc', '--initial-old-space-size=512', '--maglev-as-top-tier'];

const hasDefect = process.env.SIGNALBOX_DEFECT !== undefined;
// Node runs the source as it is, which takes less time than what Vite makes of it. Only Vite can seed a defect.
const experimental = { viteModuleRunner: hasDefect, nodeLoader: false };
shareCompiledCode();
shareTemporaryFolder();

// A story often waits for something to arrive, so two more run than there are processors. Each further worker
// loads the bot again, and what polls costs processor time while it waits: of the others one more runs, after the stories.
const PROCESSORS = availableParallelism();
const storyWorkers = { maxWorkers: PROCESSORS + 2, sequence: { groupOrder: 0 } };
const otherWorkers = { maxWorkers: PROCESSORS + 1, sequence: { groupOrder: 1 } };

// A loaded machine is slow, not wrong: what is waited for may come late. Only a test that fails reaches these limits, so
// they are long, and a test has a limit of its own only if it needs a longer one. A seeded defect makes tests fail.
const POLL_MS = hasDefect ? 20_000 : 60_000;

const bot = {
  ...otherWorkers,
  name: 'bot',
  execArgv,
  experimental,
  include: ['test/**/*.test.ts'],
  exclude: ['test/browser/**', ...STORIES],
  globalSetup: ['test/storage/postgres.ts'],
  // Loading the bot takes longer than most files of tests: the files of a worker share its modules.
  isolate: false,
  expect: { poll: { interval: 20, timeout: POLL_MS } },
  testTimeout: 180_000,
  hookTimeout: 180_000,
};
const stories = {
  ...bot,
  ...storyWorkers,
  name: 'stories',
  include: STORIES.map((path) => path.replace('**', '**/*.test.ts')),
  globalSetup: [...bot.globalSetup, BUNDLES],
  exclude: [
    ...(hasPromtool ? [] : ['test/deploy/alert-rules.test.ts', 'test/scenarios/alerts*.test.ts']),
    ...(hasVerifier ? [] : ['test/log/verifier.test.ts']),
  ],
};

const browser = {
  ...otherWorkers,
  name: 'browser',
  execArgv,
  experimental,
  include: ['test/browser/**/*.test.ts'],
  globalSetup: ['test/browser/page.ts', BUNDLES],
  isolate: false,
  expect: { poll: { timeout: 120_000 } },
  testTimeout: 300_000,
  hookTimeout: 180_000,
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Vite reads the source only to seed a defect, which must not be kept for the next run.
    fsModuleCache: false,
    projects: [
      { test: bot, plugins: [seededDefect()] },
      { test: stories, plugins: [seededDefect()] },
      ...(hasBrowser ? [{ test: browser }] : []),
    ],
  },
});
