import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { success } from '../replies.ts';
import { pick } from '../service-reply.ts';
import type { BackupRecord, CloudState } from '../state.ts';
import { findService, lookUp } from '../targets.ts';

const MINUTE_MS = 60_000;
const CONTRACT_BUCKET = ['bucketPath', 'iamRoleArn', 'iamRoleSessionName'];

/** Backups belong to the primary service; the server does not find them under a secondary. */
export function backup(cloud: CloudState, call: Call): Reply {
  const service = findService(cloud, call);
  if ('refused' in service) return service.refused;
  const found = lookUp(cloud, 'backup', call.params.backupId, (id) => {
    const record = cloud.backups.get(id);
    const isHere = record?.serviceId === service.found.id && record.expired !== true;
    return isHere ? record : undefined;
  });
  if ('refused' in found) return found.refused;
  const all = backupReply(found.found, service.found.id, cloud.now());
  return success(cloud, cloud.profile === 'full' ? all : contractPart(all));
}

function backupReply(record: BackupRecord, serviceId: string, now: Date): Json {
  const totalMs = record.takesMinutes * MINUTE_MS;
  const passedMs = Math.min(totalMs, now.getTime() - record.startedAt.getTime());
  const isOver = passedMs >= totalMs;
  const size = isOver ? record.sizeInBytes : record.sizeInBytes * (passedMs / totalMs);
  return {
    id: record.id,
    serviceId,
    status: isOver ? record.outcome : 'in_progress',
    type: record.type,
    startedAt: record.startedAt.toISOString(),
    ...(isOver ? { finishedAt: new Date(record.startedAt.getTime() + totalMs).toISOString() } : {}),
    sizeInBytes: Math.round(size),
    durationInSeconds: Math.round(passedMs / 1_000),
    ...pick({ backupName: record.backupName, bucket: record.bucket }, ['backupName', 'bucket']),
  };
}

// The contract describes the bucket of only one of the three providers.
function contractPart({ status: _status, type: _type, bucket, ...rest }: Json): Json {
  if (bucket === undefined) return rest;
  // The seed's buckets are flat records of strings.
  return { ...rest, bucket: pick(bucket as Json, CONTRACT_BUCKET) };
}
