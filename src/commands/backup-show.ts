import { z } from 'zod';
import { type Backup, backupStatus, isFinished } from '../cloud/replies.ts';
import { serviceTarget } from '../directory/directory.ts';
import type { Cell } from '../intent/answers/answer.ts';
import { bytesText, durationText } from '../intent/answers/units.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const BackupId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a backup id from the console')
  .meta({ label: 'Backup' });

export const backupShow = queryCommand({
  name: 'backup show',
  summary: 'Look up one backup of a service',
  examples: ['backup show analytics-prod 5f0e4f0a-8f58-4f6f-8b1c-2d3e4f5a6b7c'],
  permission: 'service:view-backups',
  args: z.strictObject({ service: ServiceName, backup: BackupId }),

  target: ({ service }) => serviceTarget(service),
  answer: async ({ service, backup }, { cloud }) => {
    const { result, requestId } = await cloud.getBackup(service.id, backup);
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
