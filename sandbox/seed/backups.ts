import type { BackupSeed } from './shapes.ts';

const HOUR = 60;

const FULL = { service: 'analytics-prod', outcome: 'done', type: 'full' } as const;

export const BACKUPS: readonly BackupSeed[] = [
  {
    ...{ ...FULL, id: '53837fde-9e4f-4c3d-b63e-8c949cf4822f', backupName: 'analytics-prod-full' },
    ...{ startedMinutesAgo: 9 * HOUR, takesMinutes: 41, sizeInBytes: 1_284_918_231_040 },
    bucket: {
      bucketProvider: 'AWS',
      bucketPath: 'company-backups/analytics-prod',
      iamRoleArn: 'arn:example:role/backups',
      iamRoleSessionName: 'backups',
    },
  },
  {
    ...{ ...FULL, id: 'c6a20eb7-42fe-4995-b901-d32fb4f1fa9e', type: 'incremental' },
    ...{ startedMinutesAgo: 3 * HOUR, takesMinutes: 6, sizeInBytes: 9_663_676_416 },
  },
  {
    ...{ ...FULL, id: 'a562f066-16fd-4cd4-ab2c-8fc1f92d2fde' },
    ...{ startedMinutesAgo: 12, takesMinutes: 45, sizeInBytes: 1_291_003_117_568 },
  },
  {
    ...{ ...FULL, id: '226ca770-b6ad-4efb-b0a6-3e704a59a649', service: 'reporting-core' },
    ...{ startedMinutesAgo: 11 * HOUR, takesMinutes: 33, sizeInBytes: 640_118_996_992 },
    backupName: 'reporting-full',
    bucket: {
      bucketProvider: 'GCP',
      bucketPath: 'company-backups/reporting',
      accessKeyId: 'EXAMPLE-ACCESS-KEY-ID',
    },
  },
  {
    ...{ id: '7286a06a-a449-45c0-8967-7a17475a29ed', service: 'reporting-core' },
    ...{ outcome: 'error', type: 'incremental' },
    ...{ startedMinutesAgo: 2 * HOUR, takesMinutes: 3, sizeInBytes: 0 },
  },
  {
    ...{ ...FULL, id: 'bc084d52-9d01-4bf4-88e9-0bed3b7ff7d7', service: 'lab-core' },
    ...{ startedMinutesAgo: 20 * HOUR, takesMinutes: 8, sizeInBytes: 42_949_672_960 },
    ...{
      backupName: 'lab-full',
      bucket: { bucketProvider: 'AZURE', containerName: 'company-backups' },
    },
    hasNoEnd: true,
  },
  {
    ...{ ...FULL, id: '52fbfd64-6063-4304-8ab1-e62736ca833c', expired: true },
    ...{ startedMinutesAgo: 33 * HOUR, takesMinutes: 40, sizeInBytes: 1_279_900_090_368 },
  },
];
