import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withTimeout } from '../base/errors.ts';

/** The disk of a file has too little space. It passes without a new start when there is space again. */
export class FullDisk extends Error {
  override readonly name = 'FullDisk';
  readonly hint: string;

  constructor(path: string, cause: Error & { code: string }) {
    const disk = mountPoint(path);
    super(`the disk ${disk} has less than 1 MiB free for ${path} (${cause.code})`, { cause });
    this.hint = `free some space on ${disk}; a running Signalbox then continues by itself`;
  }
}

/** No space on the disk, a quota of the user, a limit of the process. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** The index of a write-ahead log alone has 32 KiB, and its log grows up to 4 MiB. */
const PROBE_BYTES = 1_048_576;

/**
 * Writes 1 MiB next to the file and deletes it. Throws `FullDisk` where there is no room for it. A transaction that is
 * rolled back shows no full disk: SQLite keeps its pages in memory.
 */
export async function checkDiskSpace(path: string): Promise<void> {
  const probe = `${path}.disk-test-${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(probe, 'wx', 0o600);
    await fill(file).finally(() => rm(probe, { force: true }));
  } catch (error) {
    throw hasNoSpace(error) ? new FullDisk(path, error) : error;
  }
}

async function fill(file: FileHandle): Promise<void> {
  try {
    await file.writeFile(Buffer.alloc(PROBE_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Whether the file system refused to write because of a full disk, a quota or a limit. */
export function hasNoSpace(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && FULL.includes(String(error.code));
}

/** The highest folder of the path on the same file system. */
function mountPoint(path: string): string {
  const folder = dirname(path);
  const parent = dirname(folder);
  return parent === folder || statSync(parent).dev !== statSync(folder).dev
    ? folder
    : mountPoint(folder);
}

const FREE_SPACE = 'Free some space; a running Signalbox then continues by itself.';
const FULL_DISK = `The disk of the database is full. ${FREE_SPACE}`;

/** The result code of SQLite, in the low byte of the error number that Node reports. */
const SQLITE: Readonly<Record<number, string>> = {
  5: 'Another program locks the database. Stop that program, then try again.',
  6: 'Another program locks the database. Stop that program, then try again.',
  8: 'The database is read-only. Check the permissions of its file and folder.',
  10: 'The disk of the database failed to read or write. Check the disk first.',
  11: 'The database is damaged. Keep the damaged file, and restore a backup to a new one.',
  13: FULL_DISK,
  14: 'The database cannot be opened, or does not exist. Check DATABASE_URL.',
  26: 'The file is not a Signalbox database, or it is damaged. Check DATABASE_URL.',
};

/** These pass without a person: a lock, a full or slow disk, a server that starts or fails over. */
const PASSING_SQLITE = [5, 6, 10, 13];
const LASTING_SERVER = ['28P01', '28000', '3D000', '42501'];
const ALTNAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** A database that Signalbox must not use until a person changes its settings or the release. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
  readonly hint: string;

  constructor(problem: string, hint: string) {
    super(problem);
    this.hint = hint;
  }
}

const NO_ANSWER = 'The database does not answer. Check that the server of DATABASE_URL is running.';
const RESTARTING = 'The database is starting or stopping. Try again in a minute.';

const NOT_TRUSTED =
  'The certificate of the database server is not trusted. Name the file of its CA with sslrootcert in DATABASE_URL.';

/** The error codes of PostgreSQL and of the connection to it. */
const SERVER: Readonly<Record<string, string>> = {
  ECONNREFUSED: NO_ANSWER,
  ECONNRESET: NO_ANSWER,
  EPIPE: NO_ANSWER,
  EHOSTUNREACH: NO_ANSWER,
  ENETUNREACH: NO_ANSWER,
  ENOTFOUND: 'The server of DATABASE_URL cannot be found.',
  EAI_AGAIN: 'The server of DATABASE_URL cannot be found.',
  ETIMEDOUT: NO_ANSWER,
  '28P01': 'The database rejected the user or the password of DATABASE_URL.',
  '28000': 'The database rejected the user of DATABASE_URL.',
  '3D000': 'The server has no database with the name in DATABASE_URL.',
  '25006': 'The database is read-only. Check that it is not a standby server.',
  '42501': 'The user of DATABASE_URL lacks a permission in this database.',
  '53100': FULL_DISK,
  '53300': 'The server accepts no more connections.',
  '57P01': RESTARTING,
  '57P02': RESTARTING,
  '57P03': RESTARTING,
  CERT_HAS_EXPIRED: 'The certificate of the database server has expired. Renew it.',
  [ALTNAME]:
    'The certificate of the database server is for another host name. Use that name in DATABASE_URL.',
  ...Object.fromEntries(UNTRUSTED.map((code) => [code, NOT_TRUSTED])),
};

/** Errors that only a person can fix and that the driver reports without a code of their own. */
const WRONG_SETTINGS: readonly (readonly [RegExp, string])[] = [
  [
    /^The server does not support SSL connections/,
    'The database server offers no TLS. Switch it on, or set DATABASE_INSECURE=allowed for a network that you trust.',
  ],
  [
    /^unsupported startup parameter/,
    'PgBouncer refuses the limits of Signalbox. Set ignore_startup_parameters: docs/database.md, PgBouncer.',
  ],
];

function wrongSetting({ message }: Error): string | null {
  return WRONG_SETTINGS.find(([pattern]) => pattern.test(message))?.[1] ?? null;
}

// The driver reports a broken or late connection without a code, only with these messages.
const BROKEN = /^(Connection terminated|timeout exceeded when trying to connect|Client has enc)/;

/** Returns what is wrong with the database, as a sentence; null for an error of another kind. */
export function databaseProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof UnusableDatabase || error instanceof FullDisk) return error.message;
  const number = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
  if (number !== null) return SQLITE[number & 0xff] ?? null;
  if (hasNoSpace(error) && 'path' in error)
    return `The disk of ${String(error.path)} is full. ${FREE_SPACE}`;
  const wrong = wrongSetting(error);
  if (wrong !== null) return wrong;
  const known = 'code' in error ? SERVER[String(error.code)] : undefined;
  return known ?? (BROKEN.test(error.message) ? NO_ANSWER : null);
}

/** Returns the problem and how to fix it, for a command; null for an error of another kind. */
export function databaseSentence(error: unknown): string | null {
  const isExplained = error instanceof UnusableDatabase || error instanceof FullDisk;
  if (!isExplained) return databaseProblem(error);
  return `${error.message.replace(/\.$/, '')}: ${error.hint}`;
}

/** Whether only a person can fix the problem, so that a restart cannot help. */
export function isLastingDatabaseError(error: unknown): boolean {
  if (error instanceof UnusableDatabase) return true;
  if (!(error instanceof Error)) return false;
  const number = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
  if (number !== null) return !PASSING_SQLITE.includes(number & 0xff);
  if (wrongSetting(error) !== null) return true;
  const lasting = [...LASTING_SERVER, ...UNTRUSTED, ALTNAME];
  return 'code' in error && lasting.includes(String(error.code));
}

/** Returns an error that `databaseProblem` explains as a database that does not answer. */
export function databaseTimeout(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** Health checks of an orchestrator give up after 5 to 10 s: the reason must come before that. */
const ANSWER_LIMIT_MS = 3_000;

/** Rejects as a database that does not answer if the work takes longer than 3 s. */
export function withAnswerLimit<T>(work: Promise<T>): Promise<T> {
  const message = `The database did not answer within ${ANSWER_LIMIT_MS / 1_000} s`;
  return withTimeout(ANSWER_LIMIT_MS, work, () => databaseTimeout(message));
}

/** SQLITE_IOERR and SQLITE_FULL. Without space for its index SQLite reports the former. */
const DISK = [10, 13];
/** SQLITE_READONLY and SQLITE_CANTOPEN. */
const RIGHTS = [8, 14];

/** Returns the cause that SQLite does not report: a full disk, the owner of the file or its folder; otherwise the error itself. */
export async function explainSqliteError(path: string, error: unknown): Promise<unknown> {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  if (DISK.includes(code)) return (await fullDisk(path)) ?? error;
  if (!RIGHTS.includes(code)) return error;
  refuseFolder(path);
  return foreignFile(path) ?? folderProblem(path) ?? error;
}

/** Null also where the disk cannot be measured: the error of SQLite is then the best explanation. */
async function fullDisk(path: string): Promise<FullDisk | null> {
  const measured = await checkDiskSpace(path).catch((error: unknown) => error);
  return measured instanceof FullDisk ? measured : null;
}

export function refuseFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UnusableDatabase(`${path} is a folder`, 'name a file');
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
  } catch (error) {
    const problem = `The folder ${folder} cannot be written, and ${path} needs journals in it`;
    const fix = 'give the user of Signalbox write permission';
    return readOnlyProblem(path, error) ?? new UnusableDatabase(problem, fix);
  }
}

/** No owner and no permission helps where the file system is read-only. Null for an error of another kind. */
export function readOnlyProblem(path: string, error: unknown): UnusableDatabase | null {
  const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS';
  if (!isReadOnly) return null;
  const fix = 'mount it for writing, or name another place';
  return new UnusableDatabase(`The file system of ${path} is read-only`, fix);
}
