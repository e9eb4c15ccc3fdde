import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { backupReply } from '../operations/backups.ts';
import { refuse, success } from '../replies.ts';
import type { CloudState, ServiceRecord } from '../state.ts';
import { findService } from '../targets.ts';

/** The backups that have not expired, newest first. */
export function listBackups(cloud: CloudState, call: Call): Reply {
  const { id } = findPrimary(cloud, call);
  const own = [...cloud.backups.values()]
    .filter(({ serviceId, expired }) => serviceId === id && expired !== true)
    .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
  return success(
    cloud,
    own.map((record) => backupReply(record, id, cloud.now())),
  );
}

// A secondary service has no backups of its own.
function findPrimary(cloud: CloudState, call: Call): ServiceRecord {
  const service = findService(cloud, call);
  return service.isPrimary ? service : refuse(cloud, 404, `NOT_FOUND: ${service.id}`);
}
