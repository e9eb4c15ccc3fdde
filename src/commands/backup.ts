import { z } from 'zod';
import { ageText, bytesText, grouped, shortBytesText, spanText } from '../base/text.ts';
import { type Answer, type Cell, slashCommand, textAnswer } from '../domain/answer.ts';
import { menuReference, type Service } from '../domain/targets.ts';
import { plainWords, wordIn, wordOf } from '../domain/words.ts';
import type { BackupReading } from '../servers/cloud-readings.ts';
import { type Backup, backupStatus, isFinished } from '../servers/cloud-replies.ts';
import { commandLine, ServiceName } from './arguments.ts';
import { type CommandContext, queryCommand } from './define.ts';
import { quotedName } from './names.ts';
import { reportedTime, timeCell, unknownList } from './reported.ts';

const BackupId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be latest or a backup id from the console')
  .meta({
    label: 'Backup',
    hint: 'latest, or an id from the console',
    lists: 'backup',
    means: { latest: 'latest', last: 'latest', newest: 'latest', recent: 'latest' },
  });

export const backupShow = queryCommand({
  name: 'backup show',
  program: 'read',
  title: 'Look up a backup',
  summary: 'Look up one backup of a service',
  examples: ['backup show analytics-prod 5f0e4f0a-8f58-4f6f-8b1c-2d3e4f5a6b7c'],
  permission: 'service:view-backups',
  args: z.strictObject({ service: ServiceName, backup: BackupId }),

  answer: async ({ service, backup }, context) => {
    const found = await idOf(service, backup, context);
    if (typeof found !== 'string') return found;
    const { result, requestId } = await context.cloud.getBackup(service.id, found);
    const done = isFinished(result);
    return {
      title: `Backup of ${service.name}: ${wordOf(backupStatus(result))}`,
      parts: [
        { kind: 'facts', facts: facts(result, done) },
        ...(done ? [] : [soFar]),
        { kind: 'note', text: `Request ${requestId ?? 'id unknown'}` },
      ],
    };
  },
});

/** The typed id, or the one of the latest finished backup; the answer if that is unknown. */
async function idOf(
  service: Service,
  typed: string,
  { reads, prefix }: Pick<CommandContext, 'reads' | 'prefix'>,
): Promise<string | Answer> {
  if (/^(?=.*\d)[\w-]{9,}$/.test(typed)) return typed;
  if (typed.toLowerCase() !== 'latest') return similarBackups(service, typed, reads);
  const title = `Latest backup of ${service.name}`;
  const read = await reads.cloud.backups(service.id, { waiting: true });
  if (read.known) {
    const latest = latestGood(read.value);
    return latest ? latest.id : textAnswer(title, 'The server lists no finished backup.');
  }
  const show = slashCommand(prefix, `backup show ${service.name} <backup id>`);
  const instead = [`${show} works with an id from the console.`];
  return unknownList({ title, read, instead, offers: [] });
}

/** The backups whose id begins so, of one of which the id was shortened; else the list of all. */
async function similarBackups(service: Service, typed: string, reads: CommandContext['reads']) {
  const read = await reads.cloud.backups(service.id, { waiting: true });
  const near = read.known ? read.value.filter(({ id }) => id.startsWith(typed.toLowerCase())) : [];
  const offers = near
    .slice(0, 4)
    .map(({ id }) => ({ label: id, line: `backup show ${quotedName(service.name)} ${id}` }));
  const list = { label: 'List its backups', line: `backup list ${quotedName(service.name)}` };
  const text = `${service.name} has no backup with the id “${typed}”. Choose one by its id; “latest” is the last finished one.`;
  return textAnswer('Which backup?', text, [...offers, list]);
}

const soFar = {
  kind: 'text',
  text: 'Unless it is finished, size and duration are the values so far.',
} as const;

function facts(backup: Backup, done: boolean): readonly (readonly [string, Cell])[] {
  const { id, serviceId, startedAt, finishedAt, sizeInBytes, durationInSeconds } = backup;
  const label = (words: string) => (done ? words : `${words} so far`);
  return [
    ['Id', id],
    ['Service', serviceId],
    ['Type', backup.type],
    ['Status', wordIn(backup.status)],
    ['Started', timeCell(startedAt)],
    ['Finished', timeCell(finishedAt)],
    [label('Size'), sizeInBytes === null ? null : bytesText(sizeInBytes)],
    [label('Duration'), durationInSeconds === null ? null : durationText(durationInSeconds)],
    ['Name in the bucket', backup.backupName],
    ...bucketFacts(backup.bucket),
  ];
}

// The fields depend on the cloud provider of the bucket. Access keys are not shown.
function bucketFacts(bucket: Backup['bucket']): readonly (readonly [string, Cell])[] {
  return Object.entries(bucket ?? {})
    .filter(([key, value]) => !/key/i.test(key) && value !== null && value !== undefined)
    .map(([key, value]) => [`Bucket: ${plainWords(key)}`, String(value)] as const);
}

export const backupList = queryCommand({
  name: 'backup list',
  program: 'read',
  title: 'List backups',
  summary: 'List the backups of a service',
  examples: ['backup list analytics-prod'],
  permission: 'service:view-backups',
  args: z.strictObject({ service: ServiceName }),

  answer: async ({ service }, context) => {
    const read = await context.reads.cloud.backups(service.id, { waiting: true });
    if (read.known) return listAnswer(service, newestFirst(read.value), read.readAt, context);
    const show = slashCommand(context.prefix, `backup show ${service.name} <backup id>`);
    const secondary = 'A secondary service has no backups of its own.';
    return unknownList({
      title: `Backups of ${service.name}`,
      read,
      instead: [
        ...(read.gap === 'not-found' ? [secondary] : []),
        `${show} works with an id from the console.`,
      ],
      offers: [{ label: 'Look one up…', line: `backup show ${service.id}` }],
    });
  },
});

const SO_FAR = 'Sizes of unfinished backups are those so far.';
const COLUMNS = ['Started', 'Status', 'Type', 'Size', 'Duration', 'Id'];

function listAnswer(
  service: Service,
  backups: readonly BackupReading[],
  readAt: Date,
  { now, services }: Pick<CommandContext, 'now' | 'services'>,
): Answer {
  const reference = menuReference(service, services);
  const offers = backups.map((backup) => ({
    label: backupSummary(backup, now()),
    line: commandLine(backupShow, { service: reference, backup: backup.id }, ''),
  }));
  return {
    title: titleOf(service, backups, now()),
    parts: [
      { kind: 'table', columns: COLUMNS, rows: backups.map(row) },
      { kind: 'menu', label: 'Show a backup…', offers },
      { kind: 'note', text: backups.every(isFinished) ? '' : SO_FAR, asOf: readAt },
    ],
  };
}

function titleOf({ name }: Service, backups: readonly BackupReading[], now: Date): string {
  const latest = latestGood(backups);
  if (latest) return `Latest backup of ${name}: ${backupSummary(latest, now)}`;
  return backups.length > 0 ? `${name} has no finished backup` : `${name} has no backups`;
}

function row(backup: BackupReading): readonly Cell[] {
  const { id, startedAt, status, type, sizeInBytes: bytes, durationInSeconds: seconds } = backup;
  return [
    timeCell(startedAt),
    wordIn(status),
    type,
    bytes === null ? null : { value: bytes, text: shortBytesText(bytes) },
    seconds === null ? null : { value: seconds, text: durationText(seconds) },
    id,
  ];
}

/** Whether a restore can start from this backup, as far as its status says. */
export function isGood({ status }: BackupReading): boolean {
  return status === 'done';
}

/** The backup that was finished last, or null. */
function latestGood(backups: readonly BackupReading[]): BackupReading | null {
  return newestFirst(backups).find(isGood) ?? null;
}

/** Servers usually list the newest first. A backup without a time is the last one. */
export function newestFirst(backups: readonly BackupReading[]): readonly BackupReading[] {
  return backups.toSorted((a, b) => timeOf(b) - timeOf(a));
}

/** `done · 3 h ago · 12 GiB · full`; values that the server does not send are left out. */
export function backupSummary(backup: BackupReading, now: Date): string {
  const { status, type, sizeInBytes } = backup;
  const at = reportedTime(backup.finishedAt ?? backup.startedAt);
  const unfinished = isFinished(backup) ? '' : ' so far';
  const size = sizeInBytes === null ? null : `${shortBytesText(sizeInBytes)}${unfinished}`;
  const parts = [wordIn(status) ?? 'status unknown', at && ageText(at, now), size, type];
  return parts.filter((part) => part !== null).join(' · ');
}

function timeOf({ startedAt, finishedAt }: BackupReading): number {
  return reportedTime(startedAt ?? finishedAt)?.getTime() ?? 0;
}

/** `12.5 s`, `8 min (480 s)`; a part of a minute shows in the seconds only. */
function durationText(seconds: number): string {
  const text = spanText(1_000 * seconds);
  return seconds < 60 ? text : `${text} (${grouped(Math.round(seconds))} s)`;
}
