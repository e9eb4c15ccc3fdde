/** A room of `src`: what it may import, how many lines of code it may have, and what its door is. */
interface Room {
  readonly imports: readonly string[];
  /** Lines without blanks, comments and imports. */
  readonly budget: number;
  /** A room that acts has one file as its door. In a room of words, each file is a door. */
  readonly door: 'index.ts' | 'each file';
  /** No clock, randomness, environment or network: `now: Date` is a parameter. */
  readonly isPure?: true;
}

const words = { door: 'each file' } as const;
const acts = { door: 'index.ts' } as const;
const ALL = [
  ...['base', 'domain', 'maths', 'storage', 'log', 'servers', 'costs', 'commands', 'workflow'],
  ...['slack', 'agents'],
];

/** The rooms of `src`. Any import that is not listed is an error. */
export const ROOMS: Readonly<Record<string, Room>> = {
  // The files directly in `src`, which start the bot and connect the rooms.
  app: { ...words, budget: 650, imports: [...ALL, 'ops'] },
  base: { ...words, budget: 2_100, imports: [] },
  // The gate has the decisions that workflow had: 250 lines of its budget came along.
  domain: { ...words, budget: 2_750, imports: ['base'], isPure: true },
  maths: { ...words, budget: 2_450, imports: ['base'], isPure: true },
  storage: { ...acts, budget: 1_400, imports: ['base'] },
  log: { ...acts, budget: 1_500, imports: ['base', 'domain', 'storage'] },
  servers: { ...words, budget: 2_400, imports: ['base', 'domain', 'storage'] },
  costs: {
    ...acts,
    budget: 4_000,
    imports: ['base', 'domain', 'maths', 'storage', 'servers', 'log'],
  },
  commands: {
    ...acts,
    budget: 4_350,
    imports: ['base', 'domain', 'maths', 'servers', 'costs', 'log'],
  },
  workflow: {
    ...acts,
    budget: 3_000,
    imports: ['base', 'domain', 'log', 'storage', 'commands', 'servers'],
  },
  slack: { ...acts, budget: 6_400, imports: ['base', 'domain', 'commands', 'workflow'] },
  agents: { ...acts, budget: 950, imports: ['base', 'domain', 'commands', 'workflow'] },
  ops: { ...acts, budget: 3_700, imports: ALL },
};

/** Code lines that all of `sandbox` may have, without its tests, and those of `test`, with the sandbox's tests. */
export const OTHER_BUDGETS: Readonly<Record<string, number>> = { sandbox: 9_500, test: 65_000 };
/** Code lines that one file of `src` may have. */
export const FILE_BUDGET = 600;
/** Names that a door may have. */
export const DOOR_WIDTH = 25;
/**
 * Second doors of rooms: the command line, which starts programs of PostgreSQL; what operators do with a log; why a
 * database cannot be used; and its files. Of them the bot imports the errors, the file names, and the verification and rebuild of the log.
 */
export const SECOND_DOORS = [
  'src/ops/cli.ts',
  'src/log/upkeep.ts',
  'src/log/evidence.ts',
  'src/storage/errors.ts',
  'src/storage/sqlite.ts',
  // The settings of agents, which are read where their protocol is not loaded.
  'src/agents/config.ts',
];
/** The one wide door: the types of a change. */
export const WIDE_DOORS = ['src/domain/change.ts'];

/** Libraries that only one room may import. */
export const LIBRARY_ROOMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^@slack\//, ['slack']],
  [/^(@modelcontextprotocol\/|jose$)/, ['agents']],
  [/^undici$/, ['base']],
  [/^(kysely|pg|node:sqlite)$/, ['storage', 'log']],
  [/^@opentelemetry\//, ['base', 'ops']],
];
