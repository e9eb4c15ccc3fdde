import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { refuse, success } from '../replies.ts';
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
  return success(cloud, serviceReply(cloud, findService(cloud, call)));
}

/** A service without a schedule has the reply 404, which is not an error. */
export function scalingSchedule(cloud: CloudState, call: Call): Reply {
  const found = findService(cloud, call);
  if (found.schedule.length === 0) return refuse(cloud, 404, 'NOT_FOUND: no schedule');
  return success(cloud, scheduleReply(found, cloud.now()));
}
