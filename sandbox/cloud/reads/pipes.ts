import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import type { PipeSeed } from '../../seed/shapes.ts';
import { success } from '../replies.ts';
import type { CloudState, PipeRecord } from '../state.ts';
import { findRunning } from '../targets.ts';

export function listPipes(cloud: CloudState, call: Call): Reply {
  const service = findRunning(cloud, call, 'Pipes are available');
  const own = [...cloud.pipes.values()].filter(({ serviceId }) => serviceId === service.id);
  return success(cloud, own.map(pipeReply));
}

const SOURCES: Readonly<Record<PipeSeed['family'], Json>> = {
  streaming: { stream: { type: 'msk', brokers: 'b-1.stream.example:9098', iamRole: 'role-pipes' } },
  'object storage': { objectStorage: { type: 's3', url: 's3://example-bucket/events/*.json' } },
  database: { postgres: { type: 'neon', host: 'orders.pg.example', caCertificate: 'PEM' } },
};

function pipeReply({ id, serviceId, name, family, settings }: PipeRecord): Json {
  const isDatabase = family === 'database';
  const table = isDatabase ? {} : { table: name.replaceAll('-', '_'), managedTable: true };
  return {
    id,
    serviceId,
    name,
    // Pipes stop with their service, and are listed only while it runs.
    state: 'Running',
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
