import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { openReader } from '../storage/old/reader.ts';
import { copySqlite, createPrivately, sqlitePath } from '../storage/sqlite.ts';
import { runFileCommand } from './file-command.ts';
import { runPostgresTool } from './postgres-tool.ts';

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
