import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { commandNames } from '../commands/index.ts';
import { pruneCosts } from '../costs/index.ts';
import type { AcceptedGap } from '../log/old/accepted-gaps.ts';
import { auditHead, type Head } from '../log/old/append.ts';
import { type Archived, archiveTrail, findRange } from '../log/old/archive.ts';
import { exportEvents, type Format } from '../log/old/audit-export.ts';
import type { Holder } from '../log/old/boundary.ts';
import { problemSentence } from '../log/old/chain-problems.ts';
import { type ArchiveCheckpoint, lastCheckpoint } from '../log/old/checkpoints.ts';
import { gapName, measureGap } from '../log/old/gap.ts';
import type { AuditKey } from '../log/old/key-ring.ts';
import { findProblem } from '../log/old/verify-chain.ts';
import { verifySegments } from '../log/old/verify-segments.ts';
import { type Database, type Db, openDatabase } from '../storage/old/database.ts';
import { listInstances } from '../storage/old/instances.ts';
import { openReader } from '../storage/old/reader.ts';
import { markRestored } from './backup.ts';
import { readConfigFile } from './config-file.ts';
import {
  failureText,
  leave,
  leaveWith,
  parseOptions,
  readText,
  refuseOptions,
  storeOf,
  unknownCommand,
  write,
} from './options.ts';

const USAGE = `signalbox audit verify [--anchor <number>:<hash>] [--segments <folder>]
    Verifies the whole audit trail; after an archive, from the last checkpoint on.
    --segments  verifies the archived events of this folder as well, from event 1 on
    --anchor    an anchor line “audit <number> <hash>” from the audit channel: detects a removed end

signalbox audit export --since <when> [--until <when>] [--format jsonl|csv]
    Writes the events from --since (included) to --until (excluded) to standard output.
    <when> is a UTC date, for example 2026-11-01, or a time, for example 2026-11-01T09:30Z

signalbox audit archive --segments <folder> [--dry-run]
    Writes old events to a new file of this folder, signs a checkpoint and deletes these events, their
    changes and old costs, as retention in signalbox.yaml permits. SQLite: with Signalbox stopped.
    --dry-run   writes and deletes nothing

signalbox audit restored
    After a restore, with Signalbox stopped: the next start sends no open change of this database.

Reads DATABASE_URL, SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS from the environment, like Signalbox.
archive reads signalbox.yaml, or the file of SIGNALBOX_CONFIG, as well.
verify and export also work while Signalbox runs.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

const { stdout, stderr } = process;

/** `signalbox audit …`: sets the exit code. */
export async function runAudit(args: readonly string[]): Promise<void> {
  // A reader such as `export | head` may close the pipe early.
  stdout.on('error', (error) => {
    process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1);
  });
  const request = readAuditOptions(args);
  if ('sentence' in request) return refuseOptions(request.sentence, USAGE);
  process.exitCode = await run(request).catch((error: unknown) => leave(failureText(error), 1));
}

type AuditRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'verify'; readonly anchor: Head | null; readonly segments: string | null }
  | { readonly kind: 'archive'; readonly segments: string; readonly dryRun: boolean }
  | {
      readonly kind: 'export';
      readonly since: Date;
      readonly until: Date | null;
      readonly format: Format;
    }
  | { readonly kind: 'restored' };

/** `sentence`: why the options are wrong. */
type AuditOptions = AuditRequest | { readonly sentence: string };

const OPTIONS = {
  anchor: { type: 'string' },
  segments: { type: 'string' },
  'dry-run': { type: 'boolean' },
  since: { type: 'string' },
  until: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const TAKES: Readonly<Record<string, readonly string[]>> = {
  verify: ['anchor', 'segments'],
  archive: ['segments', 'dry-run'],
  export: ['since', 'until', 'format'],
  restored: [],
};

function readAuditOptions(args: readonly string[]): AuditOptions {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return parsed;
  const { values, positionals } = parsed;
  const [what, ...more] = positionals;
  if (values.help || what === 'help' || args.length === 0) return { kind: 'help' };
  const takes = TAKES[what ?? ''];
  if (!takes) return reject(unknownCommand(what ?? '', Object.keys(TAKES)));
  if (more.length > 0) return reject(`Unexpected argument: “${more.join(' ')}”.`);
  const foreign = Object.keys(values).find((name) => !takes.includes(name));
  if (foreign) return reject(`${what} does not take --${foreign}.`);
  if (values.segments === '') return reject('--segments must name a folder.');
  if (what === 'verify') return verifyOptions(values.anchor, values.segments ?? null);
  if (what === 'archive') return archiveOptions(values.segments, values['dry-run'] === true);
  return what === 'export' ? exportOptions(values) : { kind: 'restored' };
}

function archiveOptions(segments: string | undefined, dryRun: boolean): AuditOptions {
  if (segments === undefined) return reject('archive needs --segments, the folder of the files.');
  return { kind: 'archive', segments, dryRun };
}

function verifyOptions(text: string | undefined, segments: string | null): AuditOptions {
  if (text === undefined) return { kind: 'verify', anchor: null, segments };
  const [, number, hash] = /^(?:audit\s+)?(\d{1,15})[:\s]([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (!number || !hash) {
    return reject(`--anchor must be a number, a colon and a hash of 64 characters, not ${text}.`);
  }
  return { kind: 'verify', anchor: { seq: Number(number), hash }, segments };
}

type ExportWords = { readonly [Name in 'since' | 'until' | 'format']?: string };

function exportOptions({ since, until, format = 'jsonl' }: ExportWords): AuditOptions {
  if (since === undefined) return reject('export needs --since, for example --since 2026-11-01.');
  const from = instantOf(since);
  if (!from) return reject(`--since must be a date, for example 2026-11-01, not ${since}.`);
  const to = until === undefined ? null : instantOf(until);
  if (until !== undefined && !to) {
    return reject(`--until must be a date, for example 2026-11-30, not ${until}.`);
  }
  if (to && to <= from) return reject('--until must be after --since.');
  if (format !== 'jsonl' && format !== 'csv') {
    return reject(`--format must be jsonl or csv, not ${format}.`);
  }
  return { kind: 'export', since: from, until: to, format };
}

/** A UTC date, or a time with its zone; null for other texts. */
function instantOf(text: string): Date | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  if (!isDay && !isTime) return null;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return null;
  // Date would read 30 February as a day in March.
  return isDay && instant.toISOString().slice(0, 10) !== text ? null : instant;
}

function reject(sentence: string): AuditOptions {
  return { sentence };
}

const END_OF_TIME = new Date(8.64e15);

async function run(request: AuditRequest): Promise<number> {
  if (request.kind === 'help') return write(USAGE).then(() => 0);
  const { url, key } = storeOf(process.env);
  if (request.kind === 'restored') return announce(url);
  if (request.kind === 'archive') return runArchive(request);
  const reader = await openReader(url);
  try {
    if (request.kind === 'verify') {
      const isTerminal = stderr.isTTY === true;
      const progress = (text: string) => void stderr.write(text);
      const out = (text: string) => void stdout.write(text);
      const { anchor, segments } = request;
      return (await verify(reader.db, { key, anchor, segments }, { out, progress, isTerminal }))
        ? 0
        : 1;
    }
    const { since, until, format } = request;
    const span = { since, until: until ?? END_OF_TIME };
    const archived = await lastCheckpoint(reader.db, key);
    if (archived && since < archived.before)
      stderr.write(
        `Events 1 to ${archived.last} are archived: segments have them, not this output.\n`,
      );
    for await (const text of exportEvents(reader.db, span, format)) await write(text);
    return 0;
  } finally {
    await reader.close();
  }
}

async function announce(url: string): Promise<number> {
  await markRestored(url);
  await write(
    'Recorded. At its next start Signalbox marks every open change of this database as stale ' +
      'and sends none of them. They can be requested again.\n',
  );
  return 0;
}

async function runArchive(request: AuditRequest & { kind: 'archive' }): Promise<number> {
  const { url, key } = storeOf(process.env);
  const path = process.env.SIGNALBOX_CONFIG || './signalbox.yaml';
  const config = readConfigFile({ path, readFile: readText, commands: commandNames, hasKey: true });
  if (!config.ok) return leaveWith(config.problems);
  const { retention } = config.value;
  const { version } = packageJson;
  const database = await openDatabase(url);
  try {
    const lines = await archive(database, { ...request, key, version, retention });
    await write(`${lines.join('\n')}\n`);
  } finally {
    await database.close();
  }
  return 0;
}

interface ArchiveOptions {
  readonly key: AuditKey;
  readonly segments: string;
  readonly dryRun: boolean;
  readonly version: string;
  readonly retention: { readonly changesMs: number | null; readonly costsMs: number | null };
}

/** Archives and deletes what the retention permits. Returns what it did, as lines. */
export async function archive(
  database: Database,
  { key, segments, dryRun, version, retention }: ArchiveOptions,
): Promise<readonly string[]> {
  const { changesMs, costsMs } = retention;
  if (changesMs === null && costsMs === null) throw new Error(NO_RETENTION);
  const at = await database.now();
  if (changesMs !== null) refuseNoFolder(segments);
  await refuseOtherVersions(database, version, at);
  const lines: string[] = [];
  if (changesMs !== null) {
    const request = { before: new Date(at.getTime() - changesMs), at, folder: segments };
    if (dryRun) lines.push(...rangeLines(await findRange(database.db, key, request)));
    else lines.push(...archivedLines(await archiveTrail(database, key, request)));
    lines.push(...partialLines(segments));
  }
  if (costsMs !== null && !dryRun) {
    const before = new Date(at.getTime() - costsMs);
    const rows = await database.transaction((tx) => pruneCosts(tx, before));
    lines.push(`Deleted ${rows} rows of costs from before ${before.toISOString().slice(0, 10)}.`);
  }
  return lines;
}

const NO_RETENTION =
  'signalbox.yaml has no retention, so nothing was archived or deleted. Set for example ' +
  'retention: { changes: 400d, costs: 800d }';

function refuseNoFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`${path} is not a folder. Create it, on a disk that is backed up`);
}

const SEEN_WITHIN_MS = 600_000;

// An earlier release would report the archived events as missing, and stop executions.
async function refuseOtherVersions({ db }: Database, version: string, at: Date): Promise<void> {
  const running = (await listInstances(db)).filter(
    ({ seenAt }) => seenAt.getTime() > at.getTime() - SEEN_WITHIN_MS,
  );
  const other = running.find((one) => one.version !== version);
  if (!other) return;
  throw new Error(
    `A replica runs Signalbox ${other.version}, and this command is ${version}. Nothing was archived. ` +
      'Finish the upgrade of all replicas, and run it again after 10 minutes',
  );
}

function archivedLines({ checkpoint, holder, deleted }: Archived): readonly string[] {
  const { events, changes } = deleted;
  const rows = `Deleted ${events} events and ${changes} changes.`;
  if (!checkpoint) {
    const continued = `Continued the interrupted run. ${rows}`;
    const lines = events + changes > 0 ? [continued, NOTHING_MORE] : [NOTHING];
    return [...lines, ...holderLines(holder)];
  }
  const { file, first, last, seq, sha256 } = checkpoint;
  return [
    `${file} has the events ${first} to ${last}. SHA-256: ${sha256}`,
    `Event ${seq} of the audit trail is the signed checkpoint. ${rows}`,
    ...holderLines(holder),
  ];
}

function rangeLines(range: Awaited<ReturnType<typeof findRange>>): readonly string[] {
  const { from, end, holder } = range;
  const what = `Without --dry-run, events ${from.seq + 1} to ${end.seq} would be archived.`;
  return [end.seq > from.seq ? what : NOTHING, ...holderLines(holder)];
}

const PARTIAL = /^audit-[0-9a-f]+-\d+-\d+\.jsonl\.[0-9a-f]{8}\.partial$/;
const NOTHING = 'No event is old enough to be archived.';
const NOTHING_MORE = 'No other event is old enough to be archived.';

function holderLines(holder: Holder | null): readonly string[] {
  if (!holder) return [];
  const { id, seq } = holder;
  return [
    `Later events stay, because change ${id}, which begins at event ${seq}, is still needed.`,
  ];
}

/** A killed run leaves its file. A run at the same time still writes to its own. */
function partialLines(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => PARTIAL.test(name));
  return names.map(
    (name) => `${join(folder, name)} is incomplete. Delete it if no other run is active.`,
  );
}

interface Output {
  readonly out: (text: string) => void;
  /** Writes progress; on a terminal, each text overwrites the line. */
  readonly progress: (text: string) => void;
  readonly isTerminal: boolean;
}

interface VerifyRequest {
  readonly key: AuditKey;
  readonly anchor: Head | null;
  /** The folder of the archived events; null: they are not verified. */
  readonly segments?: string | null;
}

const LINE_EVERY = 100_000;

/**
 * Verifies the audit trail and writes the result. True: every event matches its hash, except for gaps
 * that two operators accepted, which are named.
 */
export async function verify(
  db: Db,
  { key, anchor, segments: folder = null }: VerifyRequest,
  output: Output,
): Promise<boolean> {
  const { seq: total } = await auditHead(db);
  const verified = await findProblem(db, key, {
    onProgress: progressOf(total, output),
    ...(anchor ? { anchor } : {}),
  });
  if (output.isTerminal) output.progress('\r\u001b[K');
  if (!verified.ok) {
    output.out(
      `The audit trail is not intact. ${problemSentence(verified.problem, verified.seq)}\n`,
    );
    if (verified.problem === 'other-key') output.out(`${keyHint(key)}\n`);
    const found = await measureGap(db, key, verified.walk);
    if (found) output.out(`This is gap ${gapName(found.gap)}. ${ACCEPTANCE}\n`);
    return false;
  }
  const archived = await lastCheckpoint(db, key);
  if (folder !== null) {
    const segments = await verifySegments(db, key, { folder, anchor });
    if (!segments.ok) {
      output.out(`The audit trail is not intact. ${segments.sentence}\n`);
      return false;
    }
  }
  const { seq, hash } = await auditHead(db);
  const end = seq === verified.seq ? ` The last event: audit ${seq} ${hash}` : '';
  const { accepted = [] } = verified;
  const result = accepted.length === 0 ? 'all intact' : 'intact except for accepted gaps';
  output.out(`${rangeText(verified.seq, archived, folder)}, ${result}.${end}\n`);
  if (archived && folder === null) output.out(unreadText(archived, anchor));
  for (const one of accepted) output.out(`${acceptedLine(one)}\n`);
  if (!key) output.out(`${UNKEYED}\n`);
  return true;
}

const ACCEPTANCE =
  'If it cannot be repaired, two operators can accept it: docs/operating.md#accept-a-gap.';

function acceptedLine({ gap, operators, seq }: AcceptedGap): string {
  const { first, next, previous, following } = gap;
  return (
    `Accepted gap ${gapName(gap)}: from event ${first} to before event ${next}, accepted by ` +
    `${operators.join(' and ')} in event ${seq}. Hash before it: ${previous}. After it: ${following}.`
  );
}

const UNKEYED =
  'SIGNALBOX_KEY is not set, so this proves little: anyone with write access to the database ' +
  'could have forged the whole trail.';

function keyHint(key: AuditKey): string {
  return key
    ? 'Either SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS lack a key of the trail, or the event is forged.'
    : 'SIGNALBOX_KEY is not set, but Signalbox ran with a key.';
}

function progressOf(total: number, { progress, isTerminal }: Output) {
  let reported = 0;
  return (seq: number) => {
    if (isTerminal) return progress(`\r${Math.floor((seq / Math.max(total, 1)) * 100)}%`);
    if (seq - reported < LINE_EVERY) return;
    reported = seq - (seq % LINE_EVERY);
    progress(`${reported} of ${total} events\n`);
  };
}

function rangeText(
  last: number,
  archived: ArchiveCheckpoint | null,
  folder: string | null,
): string {
  if (!archived) return counted(last);
  if (folder !== null) return `${counted(last)}, of which ${archived.last} are in segments`;
  return `Events ${archived.last + 1} to ${last}`;
}

function unreadText({ last, seq }: ArchiveCheckpoint, anchor: Head | null): string {
  const covered =
    anchor && anchor.seq < last ? ` The anchor of event ${anchor.seq} was not compared.` : '';
  return (
    `Events 1 to ${last} are archived, and were not read: event ${seq} is their signed checkpoint. ` +
    `--segments <folder> verifies them as well.${covered}\n`
  );
}

function counted(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
