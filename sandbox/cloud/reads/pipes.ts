import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import type { PipeSeed } from '../../seed/shapes.ts';
import { success } from '../replies.ts';
import type { CloudState, PipeRecord } from '../state.ts';
import { findRunning, serviceNow } from '../targets.ts';

export function listPipes(cloud: CloudState, call: Call): Reply {
  const service = findRunning(cloud, call, 'Pipes are available');
  const own = [...cloud.pipes.values()].filter(({ serviceId }) => serviceId === service.id);
  return success(
    cloud,
    own.map((pipe) => pipeReply(cloud, pipe)),
  );
}

const SOURCES: Readonly<Record<PipeSeed['family'], Json>> = {
  streaming: { stream: { type: 'msk', brokers: 'b-1.stream.example:9098', iamRole: 'role-pipes' } },
  'object storage': { objectStorage: { type: 's3', url: 's3://example-bucket/events/*.json' } },
  database: { postgres: { type: 'neon', host: 'orders.pg.example', caCertificate: 'PEM' } },
};

function pipeReply(cloud: CloudState, pipe: PipeRecord): Json {
  const { id, serviceId, name, family, settings } = pipe;
  const isDatabase = family === 'database';
  const table = isDatabase ? {} : { table: name.replaceAll('-', '_'), managedTable: true };
  return {
    id,
    serviceId,
    name,
    state: stateOf(cloud, pipe),
    createdAt: '2026-03-02T08:15:00.000Z',
    updatedAt: '2026-09-14T10:40:00.000Z',
    ...(family === 'streaming' ? { scaling: SCALING } : {}),
    source: SOURCES[family],
    destination: { database: 'default', ...table, columns: [] },
    fieldMappings: [],
    ...(settings === null ? {} : { settings }),
  };
}

const SCALING = { replicas: 2, replicaCpuMillicores: 250, replicaMemoryGb: 1 };

// A pipe stops with its service; the two families have different names for that.
function stateOf(cloud: CloudState, { serviceId, family }: PipeRecord): string {
  const state = serviceNow(cloud, serviceId)?.state ?? '';
  if (['running', 'partially_running', 'degraded'].includes(state)) return 'Running';
  return family === 'database' ? 'Paused' : 'Stopped';
}
