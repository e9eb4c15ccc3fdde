import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { notRunning, refusal, success } from '../replies.ts';
import type { CloudState } from '../state.ts';
import { findService, lookUp } from '../targets.ts';

const CONTRACT_SETTINGS: ReadonlySet<string> = new Set([
  'streaming_max_insert_wait_ms',
  'object_storage_concurrency',
  'object_storage_polling_interval_ms',
  'object_storage_max_insert_bytes',
  'object_storage_max_file_count',
  'engine_max_threads',
  'engine_max_insert_threads',
  'engine_min_insert_block_size_bytes',
  'engine_max_download_threads',
  'engine_parallel_distributed_insert_select',
  'object_storage_use_cluster_function',
  'engine_parallel_view_processing',
]);

export function pipeSettings(cloud: CloudState, call: Call): Reply {
  const service = findService(cloud, call);
  if ('refused' in service) return service.refused;
  const { id: serviceId, state } = service.found;
  const pipe = lookUp(cloud, 'pipe', call.params.pipeId, (id) => {
    const found = cloud.pipes.get(id);
    return found?.serviceId === serviceId ? found : undefined;
  });
  if ('refused' in pipe) return pipe.refused;
  const { id, settings } = pipe.found;
  // A healthy pipe that copies a database is answered like this, too.
  if (settings === null) {
    return refusal(cloud, 404, `NOT_FOUND: ingestion for pipe "${id}" not found`);
  }
  const isDown = state === 'idle' || state === 'stopped';
  if (isDown && cloud.behaviour.pipeSettingsWhileDown === 424) {
    return notRunning(cloud, 'Pipe settings are available', state);
  }
  return success(cloud, cloud.profile === 'full' ? settings : contractPart(settings));
}

// The contract's settings are plain numbers and booleans, and there are twelve of them.
function contractPart(settings: Readonly<Record<string, unknown>>) {
  const known = Object.entries(settings).filter(
    ([name, value]) => CONTRACT_SETTINGS.has(name) && value !== null,
  );
  return Object.fromEntries(known);
}
