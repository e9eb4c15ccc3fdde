import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { unknownCommand } from './parse-options.ts';

interface Subcommand {
  readonly summary: string;
  /** Each module reads its own options from the arguments after its name, and sets the exit code. */
  readonly run: () => Promise<unknown>;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  start: {
    summary: 'run Signalbox; SIGTERM stops it, SIGHUP reads the configuration again',
    run: () => import('../main.ts'),
  },
  doctor: {
    summary: 'check the installation; changes nothing',
    run: () => import('./doctor.ts'),
  },
  audit: {
    summary: 'verify or export the audit trail, or announce a restored database',
    run: () => import('./audit.ts'),
  },
  policy: {
    summary: 'test signalbox.yaml with cases, or replay recorded requests',
    run: () => import('./policy.ts'),
  },
  manifest: {
    summary: 'write the manifest of the Slack app',
    run: () => import('./manifest.ts'),
  },
  backup: {
    summary: 'copy the database to a new file, also while Signalbox runs',
    run: () => import('./backup.ts'),
  },
  restore: {
    summary: 'replace the database with a backup, while Signalbox is stopped',
    run: () => import('./restore.ts'),
  },
};

const width = Math.max(...Object.keys(SUBCOMMANDS).map(({ length }) => length));
const USAGE = `signalbox [--env <file>] <command> [options]

${Object.entries(SUBCOMMANDS)
  .map(([name, { summary }]) => `    ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

    --env <file>   read the variables from this file only, not from the environment
    --help         after a command: its options

Exit code: 0 success, 1 failure, 2 wrong options; start: 78 for a configuration that a person must fix.
`;

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n\n${USAGE}`);
  process.exit(2);
}

/** The arguments without `--env <file>`, whose variables replace all others but PATH. */
function withEnvironmentOf(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--env');
  if (at < 0) return args;
  const file = args[at + 1];
  if (file === undefined) return refuse('--env needs a file.');
  const { PATH } = process.env;
  process.env = { ...(PATH === undefined ? {} : { PATH }), ...variablesOf(file) };
  return args.toSpliced(at, 2);
}

function variablesOf(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    return refuse(`The file ${file} is not readable (${code}).`);
  }
}

const [name, ...rest] = withEnvironmentOf(process.argv.slice(2));
if (name === undefined || name === 'help' || name === '--help') {
  process.stdout.write(USAGE);
} else {
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) refuse(unknownCommand(name, Object.keys(SUBCOMMANDS)));
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...rest);
  await subcommand.run();
}
