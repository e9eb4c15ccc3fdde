import { type Call, isObject, type JsonObject } from '../api/call.ts';
import { isSuccess, jsonReply, type Reply } from '../api/reply.ts';
import type { Fault } from './fault.ts';

const SERVICE_REPLIES = ['create service', 'scale', 'set state'];
const ECHOES = ['create service', 'create endpoint', 'scale', 'update alert'];

const ENUM_FIELDS = new Set([
  'state',
  'status',
  'type',
  'source',
  'thresholdType',
  'provider',
  'region',
  'tier',
  'entityType',
  'protocol',
]);

/** Successful answers whose content is not what anyone would expect. */
export const PAYLOAD_FAULTS: readonly Fault[] = [
  {
    name: 'empty-object',
    summary: 'Takes effect, then 200 with {}',
    answered: (reply) => (isSuccess(reply) ? jsonReply(200, {}) : reply),
  },
  {
    name: 'null-result',
    summary: 'Takes effect, then 200 whose result (or data) is null',
    answered: (reply) => bend(reply, () => null),
  },
  {
    name: 'unknown-enum',
    summary: 'Every closed word of the answer (state, type, source …) is one never heard of',
    answered: (reply) =>
      bendLeaves(reply, (value, key) =>
        ENUM_FIELDS.has(key) && typeof value === 'string' ? 'brand-new' : value,
      ),
  },
  {
    name: 'missing-field',
    summary: 'Every second field but the id is left out',
    answered: (reply) => bendObjects(reply, everySecond),
  },
  {
    name: 'extra-field',
    summary: 'Fields that no contract knows, some of them nested',
    answered: (reply) =>
      bendObjects(reply, (one) => ({ ...one, addedLater: { by: ['the', 'server'] }, beta: true })),
  },
  {
    name: 'number-as-string',
    summary: 'Every number of the answer comes as a string',
    answered: (reply) =>
      bendLeaves(reply, (value) => (typeof value === 'number' ? String(value) : value)),
  },
  {
    name: 'nulls',
    summary: 'Every field but the id is null',
    answered: (reply) => bendLeaves(reply, (value, key) => (key === 'id' ? value : null)),
  },
  {
    name: 'stale-state',
    summary: 'Takes effect, but the answer still shows the service as it was',
    only: ['scale', 'set state'],
  },
  {
    name: 'no-state',
    summary: 'The answer does not name the state',
    only: [...SERVICE_REPLIES, 'get alert', 'list alerts', 'update alert'],
    answered: (reply) => bendObjects(reply, ({ state: _, ...rest }) => rest),
  },
  {
    name: 'reply-differs',
    summary: 'Takes effect, but the answer shows another value than the one sent',
    only: ECHOES,
    answered: (reply, call) => bendObjects(reply, (one) => contradict(one, call)),
  },
  {
    name: 'wrong-object',
    summary: 'The answer is about something else: another id',
    only: [...SERVICE_REPLIES, 'create endpoint', 'backup', 'get alert', 'update alert'],
    answered: (reply) =>
      bendLeaves(reply, (value, key) => (key === 'id' ? otherId(String(value)) : value)),
  },
];

/** Changes what the envelope carries, and only in a successful JSON answer. */
export function bend(reply: Reply, change: (payload: unknown) => unknown): Reply {
  if (reply.kind !== 'json' || !isSuccess(reply) || !isObject(reply.value)) return reply;
  const key = 'data' in reply.value ? 'data' : 'result';
  return { ...reply, value: { ...reply.value, [key]: change(reply.value[key]) } };
}

function bendObjects(reply: Reply, change: (one: JsonObject) => JsonObject): Reply {
  return bend(reply, (payload) => {
    if (Array.isArray(payload)) return payload.map((one) => (isObject(one) ? change(one) : one));
    if (!isObject(payload)) return payload;
    if (isObject(payload.service)) return { ...payload, service: change(payload.service) };
    return change(payload);
  });
}

function bendLeaves(reply: Reply, change: (value: unknown, key: string) => unknown): Reply {
  return bend(reply, (payload) => leaves(payload, '', change));
}

function leaves(
  value: unknown,
  key: string,
  change: (value: unknown, key: string) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((one) => leaves(one, key, change));
  if (!isObject(value)) return change(value, key);
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, leaves(v, k, change)]));
}

function everySecond(one: JsonObject): JsonObject {
  const kept = Object.entries(one).filter(([key, _], index) => key === 'id' || index % 2 === 0);
  return Object.fromEntries(kept);
}

function contradict(one: JsonObject, { body }: Call): JsonObject {
  if (body.kind !== 'json' || !isObject(body.value)) return one;
  const sent = body.value;
  const key = Object.keys(sent).find((name) => {
    const value = one[name];
    return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean';
  });
  return key === undefined ? one : { ...one, [key]: otherThan(one[key]) };
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 4;
  if (typeof value === 'boolean') return !value;
  return `${String(value)} (changed)`;
}

function otherId(id: string): string {
  return id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
}
