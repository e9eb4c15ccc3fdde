import { databaseProblem } from '../../storage/engine/database-errors.ts';
import type { DatabaseInspection, FileFacts } from '../../storage/engine/examine.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';
import type { TimedResult } from '../with-timeout.ts';
import { TimeoutError } from '../with-timeout.ts';

const SKEW_MS = 5_000;

interface Answers {
  readonly url: string;
  readonly file: FileFacts | null;
  /** Null where there is no file to examine. */
  readonly examined: TimedResult<DatabaseInspection> | null;
  readonly written: TimedResult<void> | null;
}

/** Reachable, of this release, writable, safe to lose power. */
export function databaseLines(answers: Answers): readonly CheckLine[] {
  const { url, file, examined, written } = answers;
  if (file && !file.exists) return [absent(file)];
  if (examined === null) return [skipped('database', 'in memory: gone with the process')];
  if (!examined.ok) return [troubleLine('database', examined.error), ...fileLines(file)];
  const found = examined.value;
  return [
    ok('database', placeOf(url, file)),
    schemaLine(found),
    ...rightLines(found),
    ...keyLines(found),
    ...trailLines(found),
    writtenLine(found, file, written),
    ...fileLines(file),
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

function absent({ path, folder, folderIsWritable }: FileFacts): CheckLine {
  if (folderIsWritable) return ok('database', `SQLite, ${path}: made at the first start`);
  const fix = `make ${folder} and let the user that runs Signalbox write there`;
  return failed('database', `${folder} is not there or cannot be written`, fix);
}

function troubleLine(name: string, error: unknown): CheckLine {
  if (error instanceof TimeoutError) {
    const fix = 'look at DATABASE_URL, and whether a firewall holds it up';
    return failed(name, error.message, fix);
  }
  const known = databaseProblem(error);
  if (known) return failed(name, 'cannot be used', known);
  const said = error instanceof Error ? error.message : String(error);
  return failed(name, `cannot be used: ${said}`, 'look at DATABASE_URL');
}

function schemaLine({ schema, known }: DatabaseInspection): CheckLine {
  const name = 'schema';
  if (schema === known) return ok(name, `version ${schema}, that of this release`);
  if (schema === 0) return ok(name, 'empty: made ready at the first start');
  if (schema < known) {
    const pending = countText(known - schema, 'migration');
    const says = `version ${schema}; ${pending} run at the next start, to version ${known}`;
    return warning(name, says, 'back it up before you start this release');
  }
  const says = `version ${schema}, and this Signalbox knows versions up to ${known}`;
  return failed(name, says, 'run the newer Signalbox, or restore the backup made before it');
}

function rightLines({ schema, known, mayCreateTables }: DatabaseInspection): readonly CheckLine[] {
  if (schema >= known || mayCreateTables) return [];
  const fix = 'start this release once with a user who may, or grant create on the schema';
  return [failed('rights', 'this user may not create tables, and the schema needs some', fix)];
}

function keyLines({ keyProblem }: DatabaseInspection): readonly CheckLine[] {
  if (keyProblem === null) return [];
  const says = {
    'key-missing': 'SIGNALBOX_KEY is not set, and the audit trail is written with one',
    'key-differs': 'SIGNALBOX_KEY is not the one that the audit trail is written with',
  }[keyProblem];
  return [failed('audit trail', says, 'set the one it ran with, or name another database')];
}

function trailLines({ trailProblem }: DatabaseInspection): readonly CheckLine[] {
  if (trailProblem === null) return [];
  const says = `it is not as it was written, so nothing is executed. ${trailProblem}`;
  return [failed('audit trail', says, 'npm run audit -- verify; then docs/operating.md')];
}

function writtenLine(
  { schema, known }: DatabaseInspection,
  file: FileFacts | null,
  written: TimedResult<void> | null,
): CheckLine {
  const name = 'writable';
  if (file && !file.ownedByUs) {
    const fix = 'run this as the user that runs Signalbox';
    return warning(name, 'not tried: the file belongs to another user', fix);
  }
  if (written === null) {
    return skipped(name, schema > known ? 'not tried on that schema' : 'not tried: it is empty');
  }
  if (!written.ok) return troubleLine(name, written.error);
  return ok(name, `a line was written and taken back${file?.running ? ', beside Signalbox' : ''}`);
}

function fileLines(file: FileFacts | null): readonly CheckLine[] {
  if (file === null) return [];
  const { readableByOthers: loose, running, ownedByUs } = file;
  const rights =
    loose.length === 0
      ? ok('file rights', 'readable for its owner only')
      : failed('file rights', 'others on this machine can read it', `chmod 600 ${loose.join(' ')}`);
  const lock = running
    ? 'a Signalbox has it open, as it should; a second one would be refused'
    : 'free: no Signalbox has it open';
  return ownedByUs ? [rights, ok('lock', lock)] : [rights];
}

function durabilityLines({ durability }: DatabaseInspection): readonly CheckLine[] {
  if (durability === null) return [];
  const { fsync, synchronousCommit } = durability;
  const off = [
    ...(fsync === 'off' ? ['fsync'] : []),
    ...(synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ];
  if (off.length === 0) return [ok('durability', 'a commit is on the disk before it is confirmed')];
  const fix = `switch ${off.join(' and ')} on for this database; Signalbox does not start without`;
  return [failed('durability', 'an approval could be lost after it was confirmed', fix)];
}

function clockLines({ clock }: DatabaseInspection): readonly CheckLine[] {
  if (clock === null) return [];
  const aheadMs = clock.here - clock.server.getTime();
  if (Math.abs(aheadMs) <= SKEW_MS) return [ok('clock', 'this machine’s is that of the database')];
  const seconds = countText(Math.round(Math.abs(aheadMs) / 1_000), 'second');
  const says = `this machine is ${seconds} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`;
  return [warning('clock', says, 'switch on NTP on both; replicas count with the database’s')];
}
