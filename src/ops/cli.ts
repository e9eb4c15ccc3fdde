import { parseEnv } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { leave, readOptions, readOrLeave, refuseOptions, unknownWord } from './options.ts';

interface Subcommand {
  readonly summary: string;
  /** Reads its own options from the arguments after its name, and sets the exit code. */
  readonly run: (args: readonly string[]) => Promise<unknown>;
}

const START_USAGE = `signalbox start
    Runs Signalbox. It has no options: variables and signalbox.yaml configure it (docs/operating.md).
    SIGTERM or SIGINT stops it, SIGHUP reads the configuration again.
Exit code: 0 stopped, 1 failure, 2 wrong options, 78 for a configuration that a person must fix.
`;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  start: {
    summary: 'run Signalbox; SIGTERM stops it, SIGHUP reads the configuration again',
    run: async (args) => {
      // A misspelt option must not start a second Signalbox.
      readOptions(args, {}, START_USAGE);
      return 'start';
    },
  },
  init: {
    summary: 'write .env and signalbox.yaml: asks, and checks each answer',
    run: async (args) => (await import('./init.ts')).runInit(args),
  },
  doctor: {
    summary: 'check the installation; changes no setting',
    run: async (args) => (await import('./doctor.ts')).runDoctor(args),
  },
  audit: {
    summary: 'verify or export the log, write evidence, delete old texts, end a damaged log',
    run: async (args) => (await import('./audit.ts')).runAudit(args),
  },
  migrate: {
    summary: 'make the tables, and let a role that owns none use them',
    run: async (args) => (await import('./audit.ts')).runMigrate(args),
  },
  rebuild: {
    summary: 'make all lists and due work again from the log',
    run: async (args) => (await import('./audit.ts')).runRebuild(args),
  },
  policy: {
    summary: 'test signalbox.yaml with cases, prove statements, compare it with another file',
    run: async (args) => (await import('./policy.ts')).runPolicy(args),
  },
  manifest: {
    summary: 'write the manifest of the Slack app',
    run: async (args) => (await import('./manifest.ts')).runManifest(args),
  },
  backup: {
    summary: 'copy the database to a new file, also while Signalbox runs',
    run: async (args) => (await import('./backup.ts')).runBackup(args),
  },
  restore: {
    summary: 'replace the database with a backup, while Signalbox is stopped',
    run: async (args) => (await import('./backup.ts')).runRestore(args),
  },
  // The launcher runs it, without this program.
  request: {
    summary: 'ask for a change, from a pipeline; bin/signalbox-request.mjs runs alone as well',
    run: async () => leave('request is a program of its own: bin/signalbox request …', 2),
  },
};

const width = Math.max(...Object.keys(SUBCOMMANDS).map(({ length }) => length));
const USAGE = `signalbox [--env <file>] <command> [options]

${Object.entries(SUBCOMMANDS)
  .map(([name, { summary }]) => `    ${name.padEnd(width)}  ${summary}`)
  .join('\n')}
    --env <file>   read the variables from this file only, not from the environment
    --help         after a command: its options
    --version      the version of Signalbox

Exit code: 0 success, 1 failure, 2 wrong options; start: 78 for a configuration that a person must fix.
`;

/** Runs the command in these words. Returns `start` if Signalbox itself is to be started. */
export async function runCommandLine(words: readonly string[]): Promise<unknown> {
  const [name, ...rest] = withEnvironmentOf(words);
  if (name === undefined || /^(help|--help|-h)$/.test(name)) {
    process.stdout.write(USAGE);
    return undefined;
  }
  if (name === '--version') {
    process.stdout.write(`Signalbox ${packageJson.version}\n`);
    return undefined;
  }
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (subcommand) return subcommand.run(rest);
  const isOption = name.startsWith('-');
  const sentence = isOption
    ? unknownWord('option', name, ['--env', '--help', '--version'])
    : unknownWord('command', name, Object.keys(SUBCOMMANDS));
  return refuseOptions(sentence, USAGE);
}

/** The arguments without `--env <file>`, whose variables replace all others but PATH. */
function withEnvironmentOf(words: readonly string[]): readonly string[] {
  const args = words.flatMap((word) => word.split(/(?<=^--env)=/));
  const at = args.indexOf('--env');
  if (at < 0) return args;
  const file = args[at + 1];
  if (file === undefined) return refuseOptions('--env needs a file.', USAGE);
  const { PATH } = process.env;
  process.env = { ...(PATH === undefined ? {} : { PATH }), ...parseEnv(readOrLeave(file)) };
  return args.toSpliced(at, 2);
}
