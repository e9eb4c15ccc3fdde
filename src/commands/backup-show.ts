import { z } from 'zod';
import { bytesText, durationText } from '../base/text.ts';
import type { Answer, Cell } from '../domain/answer.ts';
import { slashCommand, textAnswer } from '../domain/answer.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { latestGood } from '../intent/answers/backup-text.ts';
import { unknownList } from '../intent/answers/unknown-read.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';
import { type Backup, backupStatus, isFinished } from '../servers/cloud-replies.ts';

const BackupId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be latest or a backup id from the console')
  .meta({
    label: 'Backup',
    hint: 'latest, or an id from the console',
    lists: 'backup',
  });

export const backupShow = queryCommand({
  name: 'backup show',
  title: 'Look up a backup',
  summary: 'Look up one backup of a service',
  examples: ['backup show analytics-prod 5f0e4f0a-8f58-4f6f-8b1c-2d3e4f5a6b7c'],
  permission: 'service:view-backups',
  args: z.strictObject({ service: ServiceName, backup: BackupId }),

  target: ({ service }) => serviceTarget(service),
  answer: async ({ service, backup }, context) => {
    const found = await idOf(service, backup, context);
    if (typeof found !== 'string') return found;
    const { result, requestId } = await context.cloud.getBackup(service.id, found);
    const done = isFinished(result);
    return {
      title: `Backup of ${service.name}: ${backupStatus(result)}`,
      parts: [
        { kind: 'facts', facts: facts(result, done) },
        ...(done ? [] : [soFar]),
        { kind: 'note', text: `Request ${requestId ?? 'id unknown'}` },
      ],
    };
  },
});

const LATEST = 'latest';

/** The typed id, or the one of the latest finished backup; the answer if that is unknown. */
async function idOf(
  service: Service,
  typed: string,
  { reads, prefix }: CommandContext,
): Promise<string | Answer> {
  if (typed.toLowerCase() !== LATEST) return typed;
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

const soFar = {
  kind: 'text',
  text: 'Not finished: size and duration are the values so far.',
} as const;

function facts(backup: Backup, done: boolean): readonly (readonly [string, Cell])[] {
  const { id, serviceId, startedAt, finishedAt, sizeInBytes, durationInSeconds } = backup;
  const label = (words: string) => (done ? words : `${words} so far`);
  return [
    ['Id', id],
    ['Service', serviceId],
    ['Type', backup.type],
    ['Status', backup.status],
    ['Started', instant(startedAt)],
    ['Finished', instant(finishedAt)],
    [label('Size'), sizeInBytes === null ? null : bytesText(sizeInBytes)],
    [label('Duration'), durationInSeconds === null ? null : durationText(durationInSeconds)],
    ['Name in the bucket', backup.backupName],
    ...bucketFacts(backup.bucket),
  ];
}

// The fields depend on the cloud provider of the bucket. Access keys are not shown.
function bucketFacts(bucket: Backup['bucket']): readonly (readonly [string, Cell])[] {
  if (!bucket) return [['Bucket', 'not your own bucket']];
  return Object.entries(bucket)
    .filter(([key, value]) => !/key/i.test(key) && value !== null && value !== undefined)
    .map(([key, value]) => [`Bucket: ${spaced(key)}`, String(value)] as const);
}

function spaced(key: string): string {
  return key.replace(/([A-Z])/g, ' $1').toLowerCase();
}

function instant(text: string | null): Cell {
  if (text === null) return null;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at;
}
