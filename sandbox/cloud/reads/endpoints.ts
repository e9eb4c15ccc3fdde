import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { endpointReply } from '../operations/create-endpoint.ts';
import { success } from '../replies.ts';
import type { CloudState } from '../state.ts';
import { findRunning, lookUp } from '../targets.ts';

export function listEndpoints(cloud: CloudState, call: Call): Reply {
  const service = findRunning(cloud, call, 'Reverse private endpoints are available');
  const own = [...cloud.endpoints.values()].filter(({ serviceId }) => serviceId === service.id);
  return success(
    cloud,
    own.map((endpoint) => endpointReply(cloud, endpoint)),
  );
}

export function getEndpoint(cloud: CloudState, call: Call): Reply {
  const service = findRunning(cloud, call, 'Reverse private endpoints are available');
  const endpoint = lookUp(cloud, 'endpoint', call.params.endpointId, (id) => {
    const found = cloud.endpoints.get(id);
    return found?.serviceId === service.id ? found : undefined;
  });
  return success(cloud, endpointReply(cloud, endpoint));
}
