import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuseFolder } from '../storage/errors.ts';
import { refuseOtherFile } from '../storage/index.ts';
import {
  copySqlite,
  createPrivately,
  immutableName,
  incomingPath,
  lockProcess,
  refuseExisting,
  sqlitePath,
} from '../storage/sqlite.ts';
import { inUsed, isUnused } from './inspect.ts';
import { databaseOf, failureText, leave, readOptions, refuseOptions } from './options.ts';
import { recordBackup } from './store.ts';

const BACKUP_USAGE = `signalbox backup <file> | --made
    Copies the database to a new file that only its owner can read, also while Signalbox runs.
    SQLite: a database file. PostgreSQL: an archive of pg_dump, which must be installed.
    --made  makes none, and records that another tool made one: the doctor and the alert know it then.
    Reads DATABASE_URL. A copy is useless without the key: SIGNALBOX_KEY, or the key file next to the
    database. Store it apart from the copies.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

/** `signalbox backup <file>` */
export async function runBackup(args: readonly string[]): Promise<void> {
  const options = readOptions(args, { made: { type: 'boolean' } }, BACKUP_USAGE, 1);
  const [file] = options.words;
  if ((file === undefined) !== 'made' in options)
    return refuseOptions('backup needs one file, or --made without a file.', BACKUP_USAGE);
  await finish('No backup was made', (url) =>
    file === undefined ? record(url) : backUp(url, file),
  );
}

const RESTORE_USAGE = `signalbox restore <file>
    Replaces the database with a copy that “signalbox backup” made, while Signalbox is stopped.
    SQLite: the previous file is kept under another name. PostgreSQL: the database must be empty, and
    pg_restore must be installed.
    At its next start Signalbox reads its cards in Slack and ends the changes whose cards show more.
    Reads DATABASE_URL.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

/** `signalbox restore <file>` */
export async function runRestore(args: readonly string[]): Promise<void> {
  const [file] = readOptions(args, {}, RESTORE_USAGE, 1).words;
  if (file === undefined) return refuseOptions('restore needs one file.', RESTORE_USAGE);
  await finish('The database was not restored', (url) => restore(url, file));
}

/** Writes the sentence that `run` returns; if it throws, what did not happen and why, and exits with 1. */
async function finish(failure: string, run: (url: string) => Promise<string>): Promise<void> {
  const done = await run(databaseOf(process.env).url).catch((error: unknown) =>
    leave(`${failure}: ${failureText(error)}`, 1),
  );
  process.stdout.write(`${done}\n`);
}

async function backUp(url: string, file: string): Promise<string> {
  // A file that is not the database of a Signalbox is refused here, with a sentence.
  await inUsed(url, 'reader', async () => undefined);
  await (url.startsWith('file:') ? copySqlite(sqlitePath(url), file) : dump(url, file));
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  // A standby server can be copied, and accepts no write.
  const unrecorded = await record(url).then(
    () => '',
    (error: unknown) => ` It is not recorded: ${failureText(error)}.`,
  );
  return `${file} has a complete copy of the database (${megabytes} MB).${unrecorded}${keyNote(url)}`;
}

async function record(url: string): Promise<string> {
  await inUsed(url, 'beside', recordBackup);
  return 'The backup is recorded.';
}

/** Without its key, a copy of the database can neither be verified nor continued. */
function keyNote(url: string): string {
  const path = keyFile(url);
  // The bot may have its key in a variable that this command does not get.
  if (path === null || !existsSync(path)) return '';
  return ` It is useless without the key file ${path}: store a copy of that file apart from it.`;
}

/** The key file of the database; null with SIGNALBOX_KEY. */
function keyFile(url: string): string | null {
  const hasKey = process.env.SIGNALBOX_KEY || process.env.SIGNALBOX_KEY_FILE;
  return hasKey || !url.startsWith('file:') ? null : `${sqlitePath(url)}.key`;
}

function dump(url: string, file: string): void {
  refuseExisting(file);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  createPrivately(partial);
  try {
    runPostgresTool('pg_dump', url, ['--format=custom', `--file=${partial}`]);
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

async function restore(url: string, file: string): Promise<string> {
  refuseFolder(file);
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  await (url.startsWith('file:') ? restoreFile(url, file) : restoreServer(url, file));
  const key = keyFile(url);
  const missing = key !== null && !existsSync(key);
  return (
    'Restored. At its next start Signalbox reads its cards in Slack and ends the changes whose cards ' +
    `show more than this copy.${missing ? ` The key file ${key} is missing: copy it there before.` : ''}`
  );
}

// The file first: a start must not use the file without its write-ahead log.
const SUFFIXES = ['', '-wal', '-shm'];

async function restoreFile(url: string, file: string): Promise<void> {
  await refuseOtherFile(file);
  const path = sqlitePath(url);
  const unlock = await lockProcess(path);
  try {
    const incoming = incomingPath(path);
    // From a restore that was interrupted.
    for (const suffix of SUFFIXES) rmSync(`${incoming}${suffix}`, { force: true });
    await copySqlite(immutableName(file), incoming);
    keepPrevious(path);
    renameSync(incoming, path);
  } finally {
    unlock();
  }
}

/** The journals belong to the file: with the restored one they would damage it. */
function keepPrevious(path: string): void {
  const kept = keptName(path);
  const found = SUFFIXES.filter((suffix) => existsSync(`${path}${suffix}`));
  for (const suffix of found) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
  if (found.length === 0) return;
  process.stdout.write(
    `The previous database is ${kept}. Delete it when the restored one is verified.\n`,
  );
}

/** Journals without their database belong to the one that an interrupted restore has moved. */
function keptName(path: string): string {
  const start = `${basename(path)}.before-restore-`;
  const moved = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(start) && name.endsWith('Z'),
  );
  const newest = existsSync(path) ? undefined : moved.toSorted().at(-1);
  return newest === undefined
    ? `${path}.before-restore-${new Date().toISOString().replaceAll(':', '')}`
    : join(dirname(path), newest);
}

async function restoreServer(url: string, file: string): Promise<void> {
  if (!(await isUnused(url))) {
    throw new Error(
      'Signalbox has used the database of DATABASE_URL: create an empty one, and name it there',
    );
  }
  const options = ['--exit-on-error', '--no-owner', '--single-transaction'];
  runPostgresTool('pg_restore', url, [...options, file]);
}

/** Parts of the address for which libpq has a variable: `PGHOST`. */
const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/**
 * Runs pg_dump or pg_restore on the database. Its address and password are variables, because other users of
 * the machine can read arguments. Throws if the tool is missing or fails.
 */
function runPostgresTool(tool: 'pg_dump' | 'pg_restore', url: string, args: readonly string[]) {
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
  if (status !== 0) throw new Error(`${tool} ${args.join(' ')} failed with exit code ${status}`);
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
  const parameters = [...url.searchParams]
    .filter(([name]) => PARAMETERS.includes(name))
    .map(([name, value]) => [`PG${name.toUpperCase()}`, value]);
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
