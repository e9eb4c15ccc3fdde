import type { Json, JsonObject } from '../../base/text.ts';
import type { Cell } from '../../domain/answer.ts';
import { appliedFields, memoryText, policyFacts, replicasText } from '../../domain/targets.ts';
import { endpointText } from '../../servers/facts.ts';
import {
  accessTexts,
  type Fact,
  knownSnapshot,
  type ServiceView,
  scheduleTexts,
} from './service-overview.ts';

/** Everything that is known, read now or last seen; addresses are for private answers only. */
export function detailFacts(view: ServiceView): readonly Fact[] {
  const { service, read, schedule } = view;
  const { tags, warehouse } = policyFacts(service);
  const known = knownSnapshot(view);
  const reading = read.known ? read.value : null;
  const own: readonly Fact[] = [
    ['Id', service.id],
    ['Tags', tags?.join(', ') || null],
    ['Warehouse', warehouse],
    ['Team', service.team],
    ['Pipes', service.pipes.map(({ name }) => name).join(', ') || null],
    ['Source', service.source],
    ...seenFacts(known?.fields ?? {}),
  ];
  const entries = schedule.known ? scheduleTexts(schedule.value) : [];
  return [
    ...own,
    ...entries.slice(0, ENTRIES_MAX).map((text): Fact => ['Schedule', text]),
    ...(reading?.endpoints ?? []).flatMap(endpointText).map((text): Fact => ['Endpoint', text]),
    ...accessTexts(reading?.ipAccessList ?? [])
      .slice(0, ACCESS_MAX)
      .map((text): Fact => ['IP access', text]),
    ['Last seen', known?.seenAt ?? 'never'],
    ...(known ? [['Seen in', known.source] as const] : []),
  ];
}

const ENTRIES_MAX = 10;
const ACCESS_MAX = 50;

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
