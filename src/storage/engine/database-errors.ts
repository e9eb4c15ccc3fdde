import { withTimeout } from '../../base/errors.ts';
import { FullDisk } from './sqlite/disk-space.ts';

/** The result code of SQLite, in the low byte of the error number that Node reports. */
const SQLITE: Readonly<Record<number, string>> = {
  5: 'Another program locks the database. Stop that program, then try again.',
  6: 'Another program locks the database. Stop that program, then try again.',
  8: 'The database is read-only. Check the permissions of its file and folder.',
  10: 'The disk of the database failed to read or write. Check the disk first.',
  11: 'The database is damaged. Keep the damaged file, and restore a backup to a new one.',
  13: 'The disk of the database is full. Free some space; a running Signalbox then continues by itself.',
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
  ENOSPC:
    'The disk of the database is full. Free some space; a running Signalbox then continues by itself.',
  '53100':
    'The disk of the database is full. Free some space; a running Signalbox then continues by itself.',
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
    'PgBouncer refuses the limits of Signalbox. Set ignore_startup_parameters: docs/operating.md, PgBouncer.',
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
