import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { cloudRefusal, success } from '../replies.ts';
import { scheduleReply } from '../schedule-reply.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudState } from '../state.ts';
import { findService, servicesNow } from '../targets.ts';

/** Every service that the key may see, in one reply. */
export function listServices(cloud: CloudState): Reply {
  return success(
    cloud,
    servicesNow(cloud).map((service) => serviceReply(cloud, service)),
  );
}

export function getService(cloud: CloudState, call: Call): Reply {
  const service = findService(cloud, call);
  return 'refused' in service
    ? service.refused
    : success(cloud, serviceReply(cloud, service.found));
}

/** A service without a schedule has the reply 404, which is not an error. */
export function scalingSchedule(cloud: CloudState, call: Call): Reply {
  const service = findService(cloud, call);
  if ('refused' in service) return service.refused;
  const { found } = service;
  if (found.schedule.length === 0) return cloudRefusal(cloud, 404, 'NOT_FOUND: no schedule');
  return success(cloud, scheduleReply(found, cloud.now()));
}
