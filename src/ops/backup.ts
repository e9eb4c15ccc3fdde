import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { announceRestore } from '../log/old/restore-mark.ts';
import { openDatabase } from '../storage/old/database.ts';
import { openReader, refuseOtherFile } from '../storage/old/reader.ts';
import {
  copySqlite,
  createPrivately,
  immutableName,
  incomingPath,
  lockProcess,
  sqlitePath,
} from '../storage/sqlite.ts';
import { isUnused } from './inspect.ts';
import { runFileCommand, runPostgresTool } from './options.ts';

const USAGE = `signalbox backup <file>
    Copies the database to a new file that only its owner can read, also while Signalbox runs.
    SQLite: a database file. PostgreSQL: an archive of pg_dump, which must be installed.
    Reads DATABASE_URL. Store SIGNALBOX_KEY apart from the copies.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

async function backUp(url: string, file: string): Promise<string> {
  // A file that is not the database of a Signalbox is refused here, with a sentence.
  await (await openReader(url)).close();
  await (url.startsWith('file:') ? copySqlite(sqlitePath(url), file) : dump(url, file));
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  return `${file} has a complete copy of the database (${megabytes} MB).`;
}

function dump(url: string, file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already: name a new file`);
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

/** `signalbox backup <file>` */
export function runBackup(args: readonly string[]): Promise<void> {
  const command = { name: 'backup', usage: USAGE, failure: 'No backup was made' };
  return runFileCommand(command, args, backUp);
}

const USAGE_RESTORE = `signalbox restore <file>
    Replaces the database with a copy that “signalbox backup” made, while Signalbox is stopped.
    SQLite: the previous file is kept under another name. PostgreSQL: the database must be empty, and
    pg_restore must be installed.
    At its next start Signalbox marks every open change as stale and sends none of them.
    Reads DATABASE_URL.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

// The file first: a start must not use the file without its write-ahead log.
const SUFFIXES = ['', '-wal', '-shm'];

async function restore(url: string, file: string): Promise<string> {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  await (url.startsWith('file:') ? restoreFile(url, file) : restoreServer(url, file));
  return (
    'Restored. At its next start Signalbox marks every open change as stale and sends none of them. ' +
    'They can be requested again.'
  );
}

/** Without this mark an older copy could send changes that were already sent. */
async function announce(url: string): Promise<void> {
  const database = await openDatabase(url);
  try {
    await database.transaction((tx) => announceRestore(tx, new Date()));
  } finally {
    await database.close();
  }
}

async function restoreFile(url: string, file: string): Promise<void> {
  await refuseOtherFile(file);
  const path = sqlitePath(url);
  const unlock = await lockProcess(path);
  try {
    const incoming = incomingPath(path);
    // From a restore that was interrupted.
    for (const suffix of SUFFIXES) rmSync(`${incoming}${suffix}`, { force: true });
    await copySqlite(immutableName(file), incoming);
    // Before the copy gets its name: an interrupted restore never leaves a copy without the mark.
    await announce(`file:${incoming}`);
    keepPrevious(path);
    renameSync(incoming, path);
    rmSync(`${incoming}.lock`, { force: true });
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
  await announce(url);
}

/** `signalbox restore <file>` */
export function runRestore(args: readonly string[]): Promise<void> {
  const command = {
    name: 'restore',
    usage: USAGE_RESTORE,
    failure: 'The database was not restored',
  };
  return runFileCommand(command, args, restore);
}
