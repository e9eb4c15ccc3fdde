import { z } from 'zod';
import { durationText, shortBytesText } from '../base/text.ts';
import type { Answer, Cell } from '../domain/answer.ts';
import { slashCommand } from '../domain/answer.ts';
import { menuReference, type Service, serviceTarget } from '../domain/targets.ts';
import {
  backupSummary,
  latestGood,
  newestFirst,
  reportedTime,
} from '../intent/answers/backup-text.ts';
import { unknownList } from '../intent/answers/unknown-read.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { type QueryCommand, queryCommand } from '../intent/define.ts';
import { commandLine } from '../intent/parse/suggest-line.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';
import type { BackupReading } from '../servers/cloud-readings.ts';
import { isFinished } from '../servers/cloud-replies.ts';
import { backupShow } from './backup-show.ts';

export const backupList: QueryCommand = queryCommand({
  name: 'backup list',
  title: 'List backups',
  summary: 'List the backups of a service',
  examples: ['backup list analytics-prod'],
  permission: 'service:view-backups',
  args: z.strictObject({ service: ServiceName }),

  target: ({ service }) => serviceTarget(service),
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
  { now, services }: CommandContext,
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
    reportedTime(startedAt) ?? startedAt,
    status,
    type,
    bytes === null ? null : { value: bytes, text: shortBytesText(bytes) },
    seconds === null ? null : { value: seconds, text: durationText(seconds) },
    id,
  ];
}
