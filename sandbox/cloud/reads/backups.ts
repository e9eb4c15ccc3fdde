import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { backupReply } from '../operations/backups.ts';
import { cloudRefusal, success } from '../replies.ts';
import type { CloudState, ServiceRecord } from '../state.ts';
import { findService, type Lookup } from '../targets.ts';

/** The backups that have not expired, newest first. */
export function listBackups(cloud: CloudState, call: Call): Reply {
  const service = findPrimary(cloud, call);
  if ('refused' in service) return service.refused;
  const { id } = service.found;
  const own = [...cloud.backups.values()]
    .filter(({ serviceId, expired }) => serviceId === id && expired !== true)
    .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
  return success(
    cloud,
    own.map((record) => backupReply(record, id, cloud.now())),
  );
}

// A secondary service has no backups of its own.
function findPrimary(cloud: CloudState, call: Call): Lookup<ServiceRecord> {
  const service = findService(cloud, call);
  if ('refused' in service || service.found.isPrimary) return service;
  return { refused: cloudRefusal(cloud, 404, `NOT_FOUND: ${service.found.id}`) };
}
