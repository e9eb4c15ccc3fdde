import type { Call } from '../api/call.ts';
import { isSuccess, jsonReply, type Reply } from '../api/reply.ts';
import { isJson, type Json } from '../json.ts';
import { answering, type Fault, fault } from './fault.ts';

const SERVICE_REPLIES = ['create service', 'scale', 'set state'];
const REPEATING_REPLIES = ['create service', 'create endpoint', 'scale', 'update alert'];

const ENUM_FIELDS = new Set([
  ...['state', 'status', 'type', 'source', 'thresholdType'],
  ...['provider', 'region', 'tier', 'entityType', 'protocol'],
]);

/** Successful replies with unexpected content. */
export const PAYLOAD_FAULTS: readonly Fault[] = [
  fault('empty-object', 'Takes effect, then 200 with {}', answering(jsonReply(200, {}))),
  fault('null-result', 'Takes effect, then 200 whose result (or data) is null', {
    change: (reply) => changePayload(reply, () => null),
  }),
  fault('unknown-enum', 'Every enum of the reply (state, type, source …) has an unknown value', {
    change: (reply) =>
      changeValues(reply, (value, key) =>
        ENUM_FIELDS.has(key) && typeof value === 'string' ? 'brand-new' : value,
      ),
  }),
  fault('missing-field', 'Every second field is missing, but not the id', {
    change: (reply) => changeObjects(reply, everySecondField),
  }),
  fault('extra-field', 'Additional fields that are not in the contract, some of them nested', {
    change: (reply) =>
      changeObjects(reply, (one) => ({
        ...one,
        addedLater: { by: ['the', 'server'] },
        beta: true,
      })),
  }),
  fault('number-as-string', 'Every number of the reply is a string', {
    change: (reply) =>
      changeValues(reply, (value) => (typeof value === 'number' ? String(value) : value)),
  }),
  fault('nulls', 'Every field except the id is null', {
    change: (reply) => changeValues(reply, (value, key) => (key === 'id' ? value : null)),
  }),
  fault('null-in-list', 'The first entry of the list is null', {
    only: ['list alerts'],
    change: (reply) =>
      changePayload(reply, (rows) => (Array.isArray(rows) ? [null, ...rows.slice(1)] : rows)),
  }),
  // The operations themselves check for this fault.
  fault('stale-state', 'Takes effect, but the reply shows the previous state', {
    only: ['scale', 'set state'],
  }),
  fault('no-state', 'The reply has no state', {
    only: [
      ...[...SERVICE_REPLIES, 'get alert', 'list alerts', 'update alert'],
      ...['get service', 'list services'],
    ],
    change: (reply) => changeObjects(reply, ({ state: _, ...rest }) => rest),
  }),
  fault('reply-differs', 'Takes effect, but the reply has a value other than the requested one', {
    only: REPEATING_REPLIES,
    change: (reply, call) => changeObjects(reply, (one) => contradict(one, call)),
  }),
  fault('wrong-object', 'The reply has the id of another object', {
    only: [
      ...[...SERVICE_REPLIES, 'create endpoint', 'backup', 'get alert', 'update alert'],
      ...['get service', 'get endpoint'],
    ],
    change: (reply) =>
      changeValues(reply, (value, key) => (key === 'id' ? otherId(String(value)) : value)),
  }),
];

/** The reply with a changed `data` or `result`; only a successful JSON reply changes. */
export function changePayload(reply: Reply, change: (payload: unknown) => unknown): Reply {
  if (reply.kind !== 'json' || !isSuccess(reply) || !isJson(reply.value)) return reply;
  const key = 'data' in reply.value ? 'data' : 'result';
  return { ...reply, value: { ...reply.value, [key]: change(reply.value[key]) } };
}

function changeObjects(reply: Reply, change: (one: Json) => Json): Reply {
  return changePayload(reply, (payload) => {
    if (Array.isArray(payload)) return payload.map((one) => (isJson(one) ? change(one) : one));
    if (!isJson(payload)) return payload;
    if (isJson(payload.service)) return { ...payload, service: change(payload.service) };
    return change(payload);
  });
}

function changeValues(reply: Reply, change: (value: unknown, key: string) => unknown): Reply {
  return changePayload(reply, (payload) => mapValues(payload, '', change));
}

function mapValues(
  value: unknown,
  key: string,
  change: (value: unknown, key: string) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((one) => mapValues(one, key, change));
  if (!isJson(value)) return change(value, key);
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, mapValues(v, k, change)]));
}

function everySecondField(one: Json): Json {
  const fields = Object.entries(one).filter(([key, _], index) => key === 'id' || index % 2 === 0);
  return Object.fromEntries(fields);
}

function contradict(one: Json, { body }: Call): Json {
  if (body.kind !== 'json' || !isJson(body.value)) return one;
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
