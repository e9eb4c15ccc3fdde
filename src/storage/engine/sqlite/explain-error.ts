import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnusableDatabase } from '../database-errors.ts';
import { checkDiskSpace, FullDisk } from './disk-space.ts';

/** SQLITE_IOERR and SQLITE_FULL. Without space for its index SQLite reports the former. */
const DISK = [10, 13];
/** SQLITE_READONLY and SQLITE_CANTOPEN. */
const RIGHTS = [8, 14];

/** Returns the cause that SQLite does not report: a full disk, the owner of the file or its folder; otherwise the error itself. */
export async function explainSqliteError(path: string, error: unknown): Promise<unknown> {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  if (DISK.includes(code)) return (await fullDisk(path)) ?? error;
  return RIGHTS.includes(code) ? (foreignFile(path) ?? folderProblem(path) ?? error) : error;
}

/** Null also where the disk cannot be measured: the error of SQLite is then the best explanation. */
async function fullDisk(path: string): Promise<FullDisk | null> {
  const measured = await checkDiskSpace(path).catch((error: unknown) => error);
  return measured instanceof FullDisk ? measured : null;
}

function foreignFile(path: string): UnusableDatabase | null {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  const user = process.getuid?.();
  if (owner === undefined || user === undefined || owner === user) return null;
  return new UnusableDatabase(
    `${path} belongs to the user with the id ${owner}, and this process runs as the user with the id ${user}`,
    'run the command as the owner of the file, or make the user of Signalbox its owner',
  );
}

/** SQLite creates its journals next to the file. Returns null without a file, or where this process can create files. */
export function folderProblem(path: string): UnusableDatabase | null {
  if (!existsSync(path)) return null;
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch {
    const problem = `The folder ${folder} cannot be written, and ${path} needs journals in it`;
    return new UnusableDatabase(problem, 'give the user of Signalbox write permission');
  }
}
