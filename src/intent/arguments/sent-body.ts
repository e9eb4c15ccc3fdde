import type { JsonObject } from '../../changes/change.ts';
import type { CloudService, CreatedService, ReversePrivateEndpoint } from '../../cloud/replies.ts';
import type { Reply } from '../../http/client.ts';
import type { SendResult } from '../define.ts';

// What may be kept and shown of a service. Keys, roles and address lists are not among it.
const SHOWN = [
  'state',
  'provider',
  'region',
  'tier',
  'engineVersion',
  'minReplicaMemoryGb',
  'maxReplicaMemoryGb',
  'numReplicas',
  'idleScaling',
  'idleTimeoutMinutes',
  'isPrimary',
  'isReadonly',
  'dataWarehouseId',
  'byocId',
  'hasTransparentDataEncryption',
  'releaseChannel',
  'createdAt',
] as const;

/** A reply that holds a service, for the target it was asked of. It proves no completion. */
export function sentService(
  id: string,
  name: string,
  { result, requestId }: Reply<CloudService | null>,
  body: JsonObject = {},
): SendResult {
  if (!result) return { requestId, reported: [], learned: null };

  const fields = factsOf(result);
  const state = result.state === null ? [] : [result.state];
  const reported = [
    ...state,
    ...confirmed(body, result),
    ...inForce(result, body),
    ...differing(body, result),
  ];
  return { requestId, reported, learned: { id, name: result.name ?? name, fields } };
}

/** Said only where the reply repeats every single value: a reply without them confirms nothing. */
function confirmed(body: JsonObject, reply: Readonly<Record<string, unknown>>): readonly string[] {
  const sent = Object.entries(body);
  const all = sent.length > 0 && sent.every(([field, value]) => reply[field] === value);
  return all ? ['all values as requested'] : [];
}

/** Where the reply shows another value than was sent. What it left out is not known, and no sign. */
function differing(body: JsonObject, reply: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(body).flatMap(([field, sent]) => {
    const got = reply[field];
    if (!isPlain(got) || !isPlain(sent) || String(got) === String(sent)) return [];
    const isPrivate = /key|role|arn$/i.test(field);
    return [`⚠ ${field} is ${isPrivate ? 'not' : `${got}, not ${sent}`} as sent`];
  });
}

// A schedule can be in force in place of what was just asked for, or the old size for a while.
function inForce({ currentScaling }: CloudService, body: JsonObject): readonly string[] {
  const others = Object.entries(currentScaling ?? {}).filter(
    ([field, now]) => isPlain(now) && isPlain(body[field]) && String(now) !== String(body[field]),
  );
  const words = others.map(([field, now]) => `${field} ${now}`);
  return words.length > 0 ? [`in force now: ${words.join(', ')}`] : [];
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function factsOf(service: CloudService): JsonObject {
  const endpoints = (service.endpoints ?? []).flatMap(endpointText);
  return Object.fromEntries([
    ...SHOWN.flatMap((key) => (service[key] === null ? [] : [[key, service[key]] as const])),
    ...(endpoints.length > 0 ? [['endpoints', endpoints] as const] : []),
  ]);
}

/** A created service with the password that is shown once. Without a result: no details. */
export function sentCreation(
  { result, requestId }: Reply<CreatedService | null>,
  body: JsonObject = {},
): SendResult {
  const service = result?.service ?? null;
  if (!service?.id) {
    return { requestId, reported: [], learned: null, secret: result?.password ?? null };
  }
  const learned = { id: service.id, name: service.name ?? service.id, fields: factsOf(service) };
  const state = service.state === null ? [] : [service.state];
  const reported = [
    ...state,
    `id ${service.id}`,
    ...(service.endpoints ?? []).flatMap(endpointText),
    ...differing(body, service),
  ];
  return { requestId, reported, learned, secret: result?.password ?? null };
}

function endpointText({ protocol, host, port, username }: Record<string, unknown>): string[] {
  if (!isPlain(host)) return [];
  const address = isPlain(port) ? `${host}:${port}` : `${host}`;
  const words = [protocol, address, isPlain(username) && username !== '' && `as ${username}`];
  return [words.filter(Boolean).join(' ')];
}

export function sentEndpoint(
  { result, requestId }: Reply<ReversePrivateEndpoint | null>,
  body: JsonObject = {},
): SendResult {
  if (!result) return { requestId, reported: [], learned: null };
  const { id, endpointId, status, dnsNames, privateDnsNames } = result;
  const facts: readonly (readonly [string, string | null])[] = [
    ['status', status],
    ['id', id],
    ['endpoint', endpointId],
    ['DNS', dnsNames?.join(' ') || null],
    ['private DNS', privateDnsNames?.join(' ') || null],
  ];
  // Until it is set up, servers leave its address and its name empty.
  const known = facts.flatMap(([label, value]) => (value ? [`${label} ${value}`] : []));
  const reported = [...known, ...differing(body, result)];
  return { requestId, reported, learned: null };
}
