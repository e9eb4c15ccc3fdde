import { existsSync, renameSync } from 'node:fs';
import { copySqlite } from '../storage/engine/copy-sqlite.ts';
import { openDatabase } from '../storage/engine/database.ts';
import { isUnused } from '../storage/engine/inspect-database.ts';
import { lockProcess } from '../storage/engine/process-lock.ts';
import { openReader } from '../storage/engine/reader.ts';
import { sqlitePath } from '../storage/engine/sqlite.ts';
import { announceRestore } from '../storage/tables/restore-mark.ts';
import { runFileCommand } from './file-command.ts';
import { runPostgresTool } from './postgres-tool.ts';

const USAGE = `signalbox restore <file>
    Replaces the database with a copy that “signalbox backup” made, while Signalbox is stopped.
    SQLite: the previous file is kept under another name. PostgreSQL: the database must be empty, and
    pg_restore must be installed.
    At its next start Signalbox marks every open change as stale and sends none of them.
    Reads DATABASE_URL.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

async function restore(url: string, file: string): Promise<string> {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  await (url.startsWith('file:') ? restoreFile(url, file) : restoreServer(url, file));
  // Without this mark an older copy could send changes that were already sent.
  const database = await openDatabase(url);
  try {
    await database.transaction((tx) => announceRestore(tx, new Date()));
  } finally {
    await database.close();
  }
  return (
    'Restored. At its next start Signalbox marks every open change as stale and sends none of them. ' +
    'They can be requested again.'
  );
}

async function restoreFile(url: string, file: string): Promise<void> {
  await (await openReader(`file:${file}`)).close();
  const path = sqlitePath(url);
  const unlock = lockProcess(path);
  try {
    const incoming = `${path}.incoming`;
    await copySqlite(file, incoming);
    keepPrevious(path);
    renameSync(incoming, path);
  } finally {
    unlock();
  }
}

/** The journals belong to the file: with the restored one they would damage it. */
function keepPrevious(path: string): void {
  if (!existsSync(path)) return;
  const kept = `${path}.before-restore-${new Date().toISOString().replaceAll(':', '')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
  }
  process.stdout.write(
    `The previous database is ${kept}. Delete it when the restored one is verified.\n`,
  );
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

await runFileCommand(
  { name: 'restore', usage: USAGE, failure: 'The database was not restored' },
  restore,
);
