import { z } from 'zod';
import type { Json, JsonObject } from '../changes/change.ts';
import { serviceTarget } from '../directory/directory.ts';
import type { Cell } from '../intent/answers/answer.ts';
import { appliedFields, memoryText, replicasText } from '../intent/answers/service-size.ts';
import { ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

export const serviceShow = queryCommand({
  name: 'service show',
  summary: 'Show what Signalbox knows about a service',
  examples: ['service show analytics-prod'],
  args: z.strictObject({ service: ServiceName }),

  target: ({ service }) => serviceTarget(service),
  answer: ({ service }) => ({
    title: service.name,
    parts: [
      {
        kind: 'facts',
        facts: [
          ['Id', service.id],
          ['Tags', service.tags?.join(', ') || null],
          ['Warehouse', service.warehouse],
          ['Team', service.team],
          ['Pipes', service.pipes.map(({ name }) => name).join(', ') || null],
          ['Source', service.source],
          ...seenFacts(service.lastSeen?.fields ?? {}),
          ['Last seen', service.lastSeen?.seenAt ?? 'never'],
          ...(service.lastSeen ? [['Seen in', service.lastSeen.source] as const] : []),
        ],
      },
      {
        kind: 'offers',
        offers: [
          { label: 'Stop…', line: `service stop ${service.id}` },
          { label: 'Start…', line: `service start ${service.id}` },
        ],
      },
    ],
  }),
});

const LABELS: Readonly<Record<string, string>> = {
  engineVersion: 'Engine version',
  autoscalingMode: 'Autoscaling mode',
  idleScaling: 'Scales to zero when idle',
  idleTimeoutMinutes: 'Idle timeout (minutes)',
  isPrimary: 'Primary',
  isReadonly: 'Read-only',
  dataWarehouseId: 'Warehouse id',
  byocId: 'Own cloud region',
  hasTransparentDataEncryption: 'Transparent data encryption',
  releaseChannel: 'Release channel',
  createdAt: 'Created',
};

type Fact = readonly [label: string, value: Cell];

/** The last seen fields with their labels, and the applied size where it differs from them. */
function seenFacts(fields: JsonObject): readonly Fact[] {
  const others = Object.entries(fields).filter(([name]) => !SIZES.includes(name));
  return [
    ...sizeFacts(fields),
    ...others.map(([name, value]) => [LABELS[name] ?? capitalized(name), shown(value)] as const),
    ...appliedFacts(fields),
  ];
}

const SIZES: readonly string[] = [
  ...['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'replicaMemoryGb'],
  ...['numReplicas', 'minReplicas', 'maxReplicas', 'applied', 'approximate'],
];

/** The memory and the replicas; both bounds are one fact, and a fixed number has no range. */
function sizeFacts(fields: JsonObject): readonly Fact[] {
  const facts = [
    ['Memory per replica', memoryText(fields)],
    ['Replicas', replicasText(fields)],
  ] as const;
  return facts.filter(([, value]) => value !== null);
}

function appliedFacts(fields: JsonObject): readonly Fact[] {
  const applied = appliedFields(fields);
  if (applied === null) return [];
  const requested = new Map(sizeFacts(fields));
  const others = sizeFacts(applied).filter(
    ([label, value]) => requested.has(label) && requested.get(label) !== value,
  );
  if (others.length === 0) return [];
  const { scheduleEntry } = applied;
  const entry = scheduleEntry ? ` (scaling schedule entry ${scheduleEntry})` : '';
  return [['Applied now', others.map(([label, value]) => `${label}: ${value}`).join(', ') + entry]];
}

function shown(value: Json): Cell {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? value.map(String).join(', ') : JSON.stringify(value);
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
