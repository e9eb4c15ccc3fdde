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
    mutate: ['src/domain/*.ts'],
    // Names, sizes and times are typed and read in other rooms.
    tests: [
      'test/domain/**/*.test.ts',
      'test/commands/{commands,timing}.test.ts',
      'test/servers/{directory-directory,service-size}.test.ts',
    ],
  },
  workflow: {
    mutate: ['src/workflow/{authorize,execute,moves,places,press,secret,witness}.ts'],
    tests: ['test/workflow/**/*.test.ts'],
    // It counts the pauses that the other tests skip.
    without: ['test/workflow/record-retries.test.ts'],
    setup: ['test/mutation-no-pauses.ts'],
  },
  log: {
    mutate: ['src/log/*.ts'],
    tests: ['test/log/**/*.test.ts'],
    // It starts the verifier, a program of its own.
    without: ['test/log/verifier.test.ts'],
  },
};

/** The room that the environment variable ROOM names; without it, the first one. */
export function chosenRoom(name = process.env.ROOM ?? 'domain') {
  const room = MUTATED_ROOMS[name];
  if (room) return { name, ...room };
  const known = Object.keys(MUTATED_ROOMS).join(', ');
  throw new Error(`ROOM is “${name}”. The mutation tests cover these rooms: ${known}`);
}
