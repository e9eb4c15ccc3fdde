import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { copySqlite } from '../storage/engine/copy-sqlite.ts';
import { databaseProblem } from '../storage/engine/database-errors.ts';
import { openReader } from '../storage/engine/reader.ts';
import { createPrivately, sqlitePath } from '../storage/engine/sqlite.ts';
import { parseOptions } from './parse-options.ts';
import { runPostgresTool } from './postgres-tool.ts';
import { leave, storeOf } from './store.ts';

const USAGE = `signalbox backup <file>
    Copies the database to a new file that only its owner can read, also while Signalbox runs.
    SQLite: a database file. PostgreSQL: an archive of pg_dump, which must be installed.
    Reads DATABASE_URL. Store SIGNALBOX_KEY apart from the copies.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

async function backUp(url: string, file: string): Promise<void> {
  // A file that is not the database of a Signalbox is refused here, with a sentence.
  await (await openReader(url)).close();
  await (url.startsWith('file:') ? copySqlite(sqlitePath(url), file) : dump(url, file));
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

const parsed = parseOptions(process.argv.slice(2), { help: { type: 'boolean' } });
if ('sentence' in parsed) leave(`${parsed.sentence}\n\n${USAGE}`, 2);
const [file, ...more] = parsed.positionals;
if (parsed.values.help) {
  process.stdout.write(USAGE);
} else if (file === undefined || more.length > 0) {
  leave(`backup needs one file.\n\n${USAGE}`, 2);
} else {
  await backUp(storeOf(process.env).url, file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    leave(`No backup was made: ${databaseProblem(error) ?? reason}`, 1);
  });
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  process.stdout.write(`${file} has a complete copy of the database (${megabytes} MB).\n`);
}
