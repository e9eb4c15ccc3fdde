import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { success } from '../replies.ts';
import { pick } from '../service-reply.ts';
import type { BackupRecord, CloudState } from '../state.ts';
import { findService, lookUp } from '../targets.ts';

const MINUTE_MS = 60_000;
// Live servers send durations with fractions of a second.
const FRACTION = 0.437;
const CONTRACT_BUCKET = ['bucketPath', 'iamRoleArn', 'iamRoleSessionName'];

/** Backups belong to the primary service; the server does not find them under a secondary. */
export function backup(cloud: CloudState, call: Call): Reply {
  const service = findService(cloud, call);
  const found = lookUp(cloud, 'backup', call.params.backupId, (id) => {
    const record = cloud.backups.get(id);
    const isHere = record?.serviceId === service.id && record.expired !== true;
    return isHere ? record : undefined;
  });
  const all = backupReply(found, service.id, cloud.now());
  return success(cloud, cloud.profile === 'extended' ? all : contractPart(found, all));
}

/** A backup with all fields of a live server. */
export function backupReply(record: BackupRecord, serviceId: string, now: Date): Json {
  const totalMs = record.takesMinutes * MINUTE_MS;
  const passedMs = Math.min(totalMs, now.getTime() - record.startedAt.getTime());
  const isOver = passedMs >= totalMs;
  const size = isOver ? record.sizeInBytes : record.sizeInBytes * (passedMs / totalMs);
  const isFailed = isOver && record.outcome === 'error';
  return {
    id: record.id,
    serviceId,
    status: isOver ? record.outcome : 'in_progress',
    type: record.type,
    startedAt: record.startedAt.toISOString(),
    ...(isOver && !isFailed && record.hasNoEnd !== true ? { finishedAt: endOf(record) } : {}),
    sizeInBytes: isFailed ? null : Math.round(size),
    durationInSeconds: passedMs / 1_000 + FRACTION,
    ...pick({ backupName: record.backupName, bucket: record.bucket }, ['backupName', 'bucket']),
  };
}

function endOf({ startedAt, takesMinutes }: BackupRecord): string {
  return new Date(startedAt.getTime() + takesMinutes * MINUTE_MS).toISOString();
}

// The contract describes the bucket of only one of the three providers, and every finished backup has
// an end and a size.
function contractPart(record: BackupRecord, all: Json): Json {
  const { status, type: _type, bucket, ...rest } = all;
  const isOver = status !== 'in_progress';
  return {
    ...rest,
    ...(isOver ? { finishedAt: endOf(record), sizeInBytes: record.sizeInBytes } : {}),
    durationInSeconds: Math.floor(Number(all.durationInSeconds)),
    // The seed's buckets are flat records of strings.
    ...(bucket === undefined ? {} : { bucket: pick(bucket as Json, CONTRACT_BUCKET) }),
  };
}
