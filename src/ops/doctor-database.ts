import { type TimedResult, TimeoutError } from '../base/errors.ts';
import { skewText } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { utcStamp } from '../domain/answer.ts';
import { databaseProblem, FullDisk, UnusableDatabase } from '../storage/errors.ts';
import { type CheckLine, failed, ok, skipped, warning } from './doctor-report.ts';
import { serverAddress } from './environment.ts';
import type { DatabaseInspection, FileFacts } from './inspect.ts';

interface DatabaseResults {
  readonly url: string;
  readonly file: FileFacts | null;
  /** Null without a file to examine. */
  readonly examined: TimedResult<DatabaseInspection> | null;
  readonly written: TimedResult<void> | null;
}

/** Connection, schema, permissions, log, durability and clock of the database. */
export function databaseLines(answers: DatabaseResults): readonly CheckLine[] {
  const { url, file, examined, written } = answers;
  if (file && !file.exists) return [absent(file)];
  if (examined === null) return [skipped('database', 'in memory: lost when the process ends')];
  if (!examined.ok) return [errorLine('database', examined.error), ...fileLines(file)];
  const found = examined.value;
  return [
    ok('database', placeOf(url, file)),
    schemaLine(found),
    ...rightLines(found),
    ...logLines(found),
    writtenLine(found, file, written),
    ...backupLines(found),
    ...fileLines(file),
    ...transportLines(url),
    ...limitLines(found),
    ...durabilityLines(found),
    ...clockLines(found),
  ];
}

function placeOf(url: string, file: FileFacts | null): string {
  if (file) return `SQLite, ${file.path}`;
  if (!URL.canParse(url)) return 'PostgreSQL';
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL, ${hostname}${port && `:${port}`}${pathname}`;
}

function foreignLock(path: string): CheckLine {
  const fix = 'make the user of Signalbox its owner';
  return failed('lock', `${path}.lock belongs to another user, so that a start is refused`, fix);
}

function absent(file: FileFacts): CheckLine {
  const { path, folder, folderIsWritable, lockIsUsable, restoreInterrupted } = file;
  if (restoreInterrupted) {
    const fix = 'run signalbox restore again with the same file';
    return failed('database', `a restore of ${path} was interrupted`, fix);
  }
  if (folderIsWritable && !lockIsUsable) return foreignLock(path);
  if (folderIsWritable) return ok('database', `SQLite, ${path}: created at the first start`);
  const fix = `create ${folder} where the disk is writable, and give the user of Signalbox write permission`;
  return failed('database', `${folder} does not exist or is not writable`, fix);
}

function errorLine(name: string, error: unknown): CheckLine {
  if (error instanceof TimeoutError) {
    const fix = 'check DATABASE_URL, and whether a firewall blocks the connection';
    return failed(name, error.message, fix);
  }
  if (error instanceof FullDisk || error instanceof UnusableDatabase)
    return failed(name, error.message, error.hint);
  const known = databaseProblem(error);
  if (known) return failed(name, 'is not usable', known);
  const reason = error instanceof Error ? error.message : String(error);
  return failed(name, `is not usable: ${reason}`, 'check DATABASE_URL');
}

function schemaLine({ schema }: DatabaseInspection): CheckLine {
  const name = 'schema';
  if (schema === 'current') return ok(name, 'as in this release');
  if (schema === 'empty') return ok(name, 'empty: created at the first start');
  const says = 'of an earlier release: the next start changes it';
  return warning(name, says, 'back up the database before you start this release');
}

function rightLines({ schema, mayCreateTables }: DatabaseInspection): readonly CheckLine[] {
  if (schema === 'current' || mayCreateTables) return [];
  const fix = 'start this release once with an owner of the schema, or grant create on the schema';
  return [failed('rights', 'this user may not create tables, but the next start needs it', fix)];
}

function logLines({ log }: DatabaseInspection): readonly CheckLine[] {
  if (log === null) return [];
  if (log.ok) return [ok('log', 'its events follow each other, and the last one is signed')];
  return [failed('log', log.problem, log.hint)];
}

const FOREIGN = 'not checked: the file has another owner; Signalbox is ready only if it can write';

function writtenLine(
  { schema }: DatabaseInspection,
  file: FileFacts | null,
  written: TimedResult<void> | null,
): CheckLine {
  const name = 'writable';
  // With a user that systemd makes, nobody can run the doctor as the owner of the file.
  if (file && !file.ownedByUs) return skipped(name, FOREIGN);
  const why = schema === 'empty' ? 'the database is empty' : 'it has another schema';
  if (written === null) return skipped(name, `not checked: ${why}`);
  if (!written.ok) return errorLine(name, written.error);
  return ok(
    name,
    `a test write was stored and deleted${file?.running ? ' next to a running Signalbox' : ''}`,
  );
}

/** As the alert SignalboxBackupOld. */
const BACKUP_DAYS = 2;

function backupLines({ schema, backupAt }: DatabaseInspection): readonly CheckLine[] {
  if (schema !== 'current') return [];
  const name = 'backup';
  const fix = 'run signalbox backup every night, or signalbox backup --made after another tool';
  if (backupAt === null) return [warning(name, 'none is recorded', fix)];
  const says = `the last one was made at ${utcStamp(backupAt)}`;
  const isOld = Date.now() - backupAt.getTime() > BACKUP_DAYS * DAY_MS;
  return [isOld ? warning(name, says, fix) : ok(name, says)];
}

function fileLines(file: FileFacts | null): readonly CheckLine[] {
  if (file === null) return [];
  const { path, readableByOthers: loose, running, ownedByUs, lockIsUsable } = file;
  const rights =
    loose.length === 0
      ? ok('file rights', 'only the owner can read the file')
      : failed(
          'file rights',
          'other users of this machine can read the file',
          `chmod 600 ${loose.join(' ')}`,
        );
  const lock = running
    ? 'held by a running Signalbox; a second one cannot start'
    : 'free: no Signalbox uses the file';
  if (!ownedByUs) return [rights];
  return [rights, lockIsUsable ? ok('lock', lock) : foreignLock(path)];
}

// A configuration that needs TLS names it: docs/database.md#tls-to-the-database.
function transportLines(text: string): readonly CheckLine[] {
  const address = serverAddress(text);
  if (address === null || address.isLocal) return [];
  const mode = address.url.searchParams.get('sslmode');
  if (mode === 'verify-full') return [ok('transport', 'TLS with a verified certificate')];
  const says = mode === 'no-verify' ? 'TLS without a verified certificate' : 'without TLS';
  return [warning('transport', `${says}, as DATABASE_INSECURE permits`, 'use sslmode=verify-full')];
}

function limitLines({ statementTimeout }: DatabaseInspection): readonly CheckLine[] {
  if (statementTimeout !== '0') return [];
  const says = 'a statement has no time limit: a pooler drops the limits of Signalbox';
  const fix = 'set the limits for the role: docs/database.md, PgBouncer';
  return [warning('time limits', says, fix)];
}

// A server that may lose a confirmed commit by itself is refused when it is opened.
function durabilityLines({ standby, clock }: DatabaseInspection): readonly CheckLine[] {
  if (clock === null) return [];
  if (standby === null) return [ok('durability', 'commits are on disk before they are confirmed')];
  const fix = 'set synchronous_standby_names; without it, changes end whose last events were lost';
  return [warning('durability', standby, fix)];
}

const SKEW_MS = 5_000;

function clockLines({ clock }: DatabaseInspection): readonly CheckLine[] {
  if (clock === null) return [];
  const aheadMs = clock.here - clock.server.getTime();
  if (Math.abs(aheadMs) <= SKEW_MS) return [ok('clock', 'this machine and the database agree')];
  const says = `this machine is ${skewText(aheadMs, 'the database')}`;
  return [
    warning('clock', says, 'switch on NTP on both machines; leases use the clock of the database'),
  ];
}
