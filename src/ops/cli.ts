import { readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { commands, nouns } from '../commands/registry.ts';
import { manifestOf } from '../slack/manifest.ts';
import { reasonOf } from './environment.ts';
import { leave, parseOptions, unknownCommand } from './options.ts';

const USAGE = `signalbox manifest [--prefix db-] [--url https://…/slack/events] [--out <file>]
    Writes the manifest of the Slack app.
    --prefix  put before each command: db- makes /db-service
    --url     the address of deliveries over HTTP; without it the app uses Socket Mode
    --out     the file; default manifest.json, with a prefix or an address manifest.local.json
Exit code: 0 success, 1 failure, 2 wrong options.
`;
const OPTIONS = {
  prefix: { type: 'string', default: '' },
  url: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean' },
} as const;

function refuse(sentence: string): never {
  return leave(`${sentence}\n\n${USAGE}`, 2);
}

function readOptions(args: readonly string[]) {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return refuse(parsed.sentence);
  const [word] = parsed.positionals;
  return word === undefined ? parsed.values : refuse(`manifest takes options only, not ${word}.`);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    leave(`${file} cannot be written (${reasonOf(error)}). Name another file with --out.`, 1);
  }
}

/** `signalbox manifest` */
export async function runManifest(args: readonly string[]): Promise<void> {
  const { prefix, url = null, out, help = false } = readOptions(args);
  if (help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  if (!/^[a-z0-9-]*$/.test(prefix)) {
    refuse(`--prefix may contain lower-case letters, digits and dashes only, not ${prefix}.`);
  }
  if (url !== null && !(URL.canParse(url) && url.startsWith('https://'))) {
    refuse(`--url must begin with https://, not ${url}.`);
  }
  // The committed file has no prefix and no address, because the sandbox and the tests use it.
  const own = prefix !== '' || url !== null ? 'manifest.local.json' : 'manifest.json';
  const file = out ?? own;
  const manifest = manifestOf({ commands, nouns, prefix, url });
  write(file, `${JSON.stringify(manifest, null, 2)}\n`);
  process.stdout.write(`${file} was written. Paste it at https://api.slack.com/apps\n`);
}

import packageJson from '../../package.json' with { type: 'json' };

interface Subcommand {
  readonly summary: string;
  /** Reads its own options from the arguments after its name, and sets the exit code. */
  readonly run: (args: readonly string[]) => Promise<unknown>;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  start: {
    summary: 'run Signalbox; SIGTERM stops it, SIGHUP reads the configuration again',
    run: start,
  },
  doctor: {
    summary: 'check the installation; changes no setting',
    run: async (args) => (await import('./doctor.ts')).runDoctor(args),
  },
  audit: {
    summary: 'verify, export or archive the audit trail, or announce a restored database',
    run: async (args) => (await import('./audit.ts')).runAudit(args),
  },
  policy: {
    summary: 'test signalbox.yaml with cases',
    run: async (args) => (await import('./policy.ts')).runPolicy(args),
  },
  manifest: {
    summary: 'write the manifest of the Slack app',
    run: async (args) => (await import('./cli.ts')).runManifest(args),
  },
  backup: {
    summary: 'copy the database to a new file, also while Signalbox runs',
    run: async (args) => (await import('./backup.ts')).runBackup(args),
  },
  restore: {
    summary: 'replace the database with a backup, while Signalbox is stopped',
    run: async (args) => (await import('./backup.ts')).runRestore(args),
  },
};

const width = Math.max(...Object.keys(SUBCOMMANDS).map(({ length }) => length));
const USAGE_SIGNALBOX = `signalbox [--env <file>] <command> [options]

${Object.entries(SUBCOMMANDS)
  .map(([name, { summary }]) => `    ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

    --env <file>   read the variables from this file only, not from the environment
    --help         after a command: its options
    --version      the version of Signalbox

Exit code: 0 success, 1 failure, 2 wrong options; start: 78 for a configuration that a person must fix.
`;

const START_USAGE = `signalbox start
    Runs Signalbox. It has no options: variables and signalbox.yaml configure it (docs/operating.md).
    SIGTERM or SIGINT stops it, SIGHUP reads the configuration again.
Exit code: 0 stopped, 1 failure, 2 wrong options, 78 for a configuration that a person must fix.
`;

/** A misspelt option must not start a second Signalbox. */
async function start(args: readonly string[]): Promise<unknown> {
  const parsed = parseOptions(args, { help: { type: 'boolean' } });
  if ('sentence' in parsed) return refuseSignalbox(parsed.sentence, START_USAGE);
  const [word] = parsed.positionals;
  if (word !== undefined)
    return refuseSignalbox(`start takes no arguments, not ${word}.`, START_USAGE);
  if (!parsed.values.help) return 'start';
  process.stdout.write(START_USAGE);
  return undefined;
}

function refuseSignalbox(sentence: string, usage = USAGE_SIGNALBOX): never {
  process.stderr.write(`${sentence}\n\n${usage}`);
  process.exit(2);
}

/** The arguments without `--env <file>`, whose variables replace all others but PATH. */
function withEnvironmentOf(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--env');
  if (at < 0) return args;
  const file = args[at + 1];
  if (file === undefined) return refuseSignalbox('--env needs a file.');
  const { PATH } = process.env;
  process.env = { ...(PATH === undefined ? {} : { PATH }), ...variablesOf(file) };
  return args.toSpliced(at, 2);
}

function variablesOf(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    return refuseSignalbox(`The file ${file} is not readable (${code}).`);
  }
}

/** Runs the command in these words. Returns `start` if Signalbox itself is to be started. */
export async function runCommandLine(words: readonly string[]): Promise<unknown> {
  const [name, ...rest] = withEnvironmentOf(words);
  if (name === undefined || name === 'help' || name === '--help') {
    process.stdout.write(USAGE_SIGNALBOX);
    return undefined;
  }
  if (name === '--version') {
    process.stdout.write(`Signalbox ${packageJson.version}\n`);
    return undefined;
  }
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) return refuseSignalbox(unknownCommand(name, Object.keys(SUBCOMMANDS)));
  return subcommand.run(rest);
}
