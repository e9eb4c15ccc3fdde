import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { EXAMPLE_SETTINGS } from '../../seed/pipes.ts';
import { refuse, success } from '../replies.ts';
import type { CloudState } from '../state.ts';
import { findService, lookUp } from '../targets.ts';

const CONTRACT_SETTINGS: ReadonlySet<string> = new Set(Object.keys(EXAMPLE_SETTINGS));

export function pipeSettings(cloud: CloudState, call: Call): Reply {
  const { id: serviceId } = findService(cloud, call);
  const { id, settings } = lookUp(cloud, 'pipe', call.params.pipeId, (id) => {
    const found = cloud.pipes.get(id);
    return found?.serviceId === serviceId ? found : undefined;
  });
  // A healthy pipe that copies a database also gets this reply.
  if (settings === null) {
    return refuse(cloud, 404, `NOT_FOUND: ingestion for pipe "${id}" not found`);
  }
  return success(cloud, cloud.profile === 'extended' ? settings : contractPart(settings));
}

// The contract has twelve settings, and each of them is a number or a boolean.
function contractPart(settings: Readonly<Record<string, unknown>>) {
  const known = Object.entries(settings).filter(
    ([name, value]) => CONTRACT_SETTINGS.has(name) && value !== null,
  );
  return Object.fromEntries(known);
}
