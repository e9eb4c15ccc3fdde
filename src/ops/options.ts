// What the commands of the command line share: their options, variables, output and exit.
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type ConfigProblem, quoted, suggestion } from '../base/problem.ts';
import { KeyProblem, readKeys } from '../log/index.ts';
import { databaseSentence } from '../storage/errors.ts';
import { readStore, reasonOf } from './environment.ts';

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/**
 * The options of a command, and at most so many words. With `--help` it writes the usage and exits with 0; for wrong
 * ones it writes the usage with the reason and exits with 2.
 */
export function readOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
  most = 0,
) {
  const { values, positionals: words } = parsed(args, { ...options, ...HELP }, usage);
  if ('help' in values || words[0] === 'help') {
    process.stdout.write(usage);
    process.exit(0);
  }
  const extra = words.slice(most).join(' ');
  if (extra !== '') return refuseOptions(`Unexpected argument: ${quoted(extra)}.`, usage);
  return { ...values, words };
}

function parsed<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, option = ''] = /ption '(?:-., )?(-[^' ]*)/.exec(message) ?? [];
    const known = Object.keys(options).map((name) => `--${name}`);
    const takes = message.includes('does not take') ? 'takes no' : 'needs a';
    const isUnknown = message.startsWith('Unknown');
    const sentence = isUnknown ? unknownWord('option', option, known) : `${option} ${takes} value.`;
    return refuseOptions(sentence, usage);
  }
}

/** Returns the sentence for an unknown option or command, with the nearest known one. */
export function unknownWord(
  what: 'option' | 'command',
  word: string,
  known: readonly string[],
): string {
  const hint = suggestion(word, known) ?? '';
  return `Unknown ${what} ${quoted(word)}${hint.endsWith('?') ? `: ${hint}` : `; ${hint}.`}`;
}

/** The database of the variables. Without valid ones it writes each problem and exits with 2. */
export function databaseOf(env: NodeJS.ProcessEnv) {
  const store = readStore(env, readText);
  if (!store.ok) return leaveWith(store.problems);
  const {
    DATABASE_URL,
    SIGNALBOX_KEY: key = null,
    SIGNALBOX_PREVIOUS_KEYS: previous,
  } = store.value;
  const url = DATABASE_URL.reveal();
  return {
    url,
    /** Reads the keys of its log. To be called once it is known that the database exists. */
    keys: () => readKeys({ databaseUrl: url, key, previous }),
  };
}

/** A file as text; throws the error of the system. */
export function readText(path: string): string {
  return readFileSync(path, 'utf8');
}

/** A file as text, or exits with 2. */
export function readOrLeave(path: string): string {
  try {
    return readText(path);
  } catch (error) {
    return leave(`The file ${path} is not readable (${reasonOf(error)}).`, 2);
  }
}

/** Replaces a file as a whole, or leaves it as it was and exits with 1. */
export function writeText(path: string, text: string, mode?: number): void {
  try {
    const file = existsSync(path) ? realpathSync(path) : path;
    writeFileSync(`${file}.new`, text, { mode });
    renameSync(`${file}.new`, file);
  } catch (error) {
    leave(`${path} cannot be written (${reasonOf(error)}).`, 1);
  }
}

/** Writes to standard output, and waits where its reader is slow. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Writes the sentence as an error and exits: 1 for a failure, 2 for wrong options or variables. */
export function leave(sentence: string, code: 1 | 2): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(code);
}

/** Why a command failed, as a sentence. */
export function failureText(error: unknown): string {
  if (error instanceof KeyProblem) return `${error.message}: ${error.hint}`;
  return databaseSentence(error) ?? (error instanceof Error ? error.message : String(error));
}

/** Refuses wrong options: writes the sentence and the usage, and exits with 2. */
export function refuseOptions(sentence: string, usage: string): never {
  return leave(`${sentence}\n\n${usage.trimEnd()}`, 2);
}

/** Writes each problem of the variables or the file as a line, and exits with 2. */
export function leaveWith(problems: readonly ConfigProblem[]): never {
  const lines = problems.map(
    ({ where, problem, hint }) => `${where}  ${problem}${hint === null ? '' : ` (${hint})`}`,
  );
  return leave(lines.join('\n'), 2);
}
