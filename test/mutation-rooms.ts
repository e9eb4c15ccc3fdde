interface MutatedRoom {
  readonly mutate: readonly string[];
  /** The quick tests that reach these files. They run once for every mutant. */
  readonly tests: readonly string[];
  readonly without?: readonly string[];
  readonly setup?: readonly string[];
}

/** The only place that maps what the mutation tests cover to folders. */
export const MUTATED_ROOMS: Readonly<Record<string, MutatedRoom>> = {
  domain: {
    mutate: ['src/{changes,policy}/*.ts'],
    tests: ['test/{changes,policy}/**/*.test.ts'],
  },
  workflow: {
    mutate: ['src/workflow/{execute,review}/**/*.ts'],
    tests: [
      'test/workflow/{execute,review}/**/*.test.ts',
      'test/workflow/audit-trail/{accept-gap,key-change}.test.ts',
      'test/workflow/limits/rate-limit.test.ts',
    ],
    // It counts the pauses that the other tests skip.
    without: ['test/workflow/execute/record-retries.test.ts'],
    setup: ['test/mutation-no-pauses.ts'],
  },
  log: {
    mutate: ['src/storage/audit/**/*.ts'],
    tests: [
      'test/storage/audit/**/*.test.ts',
      'test/workflow/audit-trail/{accept-gap,anchors,follow,key-change,other-installation}.test.ts',
      'test/workflow/background/check-freezes.test.ts',
    ],
  },
};

/** The room that the environment variable ROOM names; without it, the first one. */
export function chosenRoom(name = process.env.ROOM ?? 'domain') {
  const room = MUTATED_ROOMS[name];
  if (room) return { name, ...room };
  const known = Object.keys(MUTATED_ROOMS).join(', ');
  throw new Error(`ROOM is “${name}”. The mutation tests cover these rooms: ${known}`);
}
