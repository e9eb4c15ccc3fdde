import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { quoted, suggestion } from '../base/problem.ts';
import { type AuditKey, readKeyRing } from '../log/old/key-ring.ts';
import { databaseSentence } from '../storage/errors.ts';
import { readStore } from './environment.ts';

/** Parses options and words. Returns a sentence for an unknown option, with the nearest known one. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    if (unknown === undefined) return { sentence: message };
    const known = Object.keys(options).map((name) => `--${name}`);
    return { sentence: unknownWord('option', unknown, known) };
  }
}

/** Returns the sentence for an unknown subcommand, with the nearest known one. */
export function unknownCommand(word: string, known: readonly string[]): string {
  return unknownWord('command', word, known);
}

function unknownWord(what: string, word: string, known: readonly string[]): string {
  const hint = suggestion(word, known) ?? '';
  return `Unknown ${what} ${quoted(word)}: ${hint}${hint.endsWith('?') ? '' : '.'}`;
}

interface Store {
  readonly url: string;
  readonly key: AuditKey;
}

/** The database and its keys. Without valid variables it writes each problem and exits with 2. */
export function storeOf(env: NodeJS.ProcessEnv): Store {
  const store = readStore(env, (path) => readFileSync(path, 'utf8'));
  if (!store.ok) {
    const sentences = store.problems.map(({ where, problem, hint }) =>
      [`${where} ${problem}`, ...(hint ? [hint] : [])].join(': '),
    );
    return leave(sentences.join('\n'), 2);
  }
  const { DATABASE_URL, SIGNALBOX_KEY, SIGNALBOX_PREVIOUS_KEYS: previous } = store.value;
  const key = readKeyRing(
    SIGNALBOX_KEY?.reveal() ?? null,
    previous.map((one) => one.reveal()),
  );
  return { url: DATABASE_URL.reveal(), key };
}

/** Writes the sentence as an error and exits: 1 for a failure, 2 for wrong options or variables. */
export function leave(sentence: string, code: 1 | 2): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(code);
}

interface FileCommand {
  readonly name: string;
  readonly usage: string;
  /** What did not happen, before the reason: `No backup was made`. */
  readonly failure: string;
}

/**
 * Runs a command that takes the database and one file, and writes the sentence that `run` returns.
 * Exits with 1 if `run` throws, and with 2 for wrong options.
 */
export async function runFileCommand(
  { name, usage, failure }: FileCommand,
  args: readonly string[],
  run: (url: string, file: string) => Promise<string>,
): Promise<void> {
  const parsed = parseOptions(args, { help: { type: 'boolean' } });
  if ('sentence' in parsed) leave(`${parsed.sentence}\n\n${usage}`, 2);
  const [file, ...more] = parsed.positionals;
  if (parsed.values.help) {
    process.stdout.write(usage);
    return;
  }
  if (file === undefined || more.length > 0) leave(`${name} needs one file.\n\n${usage}`, 2);
  const done = await run(storeOf(process.env).url, file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return leave(`${failure}: ${databaseSentence(error) ?? reason}`, 1);
  });
  process.stdout.write(`${done}\n`);
}

/** libpq's variable for each part of the address. */
const PARAMETERS: Readonly<Record<string, string>> = {
  host: 'PGHOST',
  port: 'PGPORT',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

/**
 * Runs pg_dump or pg_restore on the database. Its address and password are variables, because other users of
 * the machine can read arguments. Throws if the tool is missing or fails.
 */
export function runPostgresTool(
  tool: 'pg_dump' | 'pg_restore',
  url: string,
  args: readonly string[],
): void {
  const variables = connectionVariables(url);
  const env = { PATH: process.env.PATH, ...variables };
  const { error, status } = spawnSync(tool, ['--dbname', variables.PGDATABASE ?? '', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error) {
    const reason = `${tool} cannot be run here (${'code' in error ? error.code : error.message})`;
    throw new Error(`${reason}: run it with the client tools of PostgreSQL, see docs/shipping.md`);
  }
  if (status !== 0) throw new Error(`${tool} failed with exit code ${status}`);
}

export function connectionVariables(address: string): Readonly<Record<string, string>> {
  const url = new URL(address);
  const parts = {
    PGHOST: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
  };
  const parameters = [...url.searchParams].flatMap(([name, value]) => {
    const variable = PARAMETERS[name];
    return variable === undefined ? [] : [[variable, value]];
  });
  const given = Object.entries(parts).filter(([, value]) => value !== '');
  return withLibpqTls(Object.fromEntries([...given, ...parameters]));
}

type Variables = Readonly<Record<string, string>>;

/** libpq has no no-verify, and uses the public CAs only on request (since version 16). */
function withLibpqTls(variables: Variables): Variables {
  const { PGSSLMODE: mode, PGSSLROOTCERT: ca = 'system' } = variables;
  if (mode === 'no-verify') return { ...variables, PGSSLMODE: 'require' };
  return mode === 'verify-full' ? { ...variables, PGSSLROOTCERT: ca } : variables;
}
