import type { z } from 'zod';
import type { FieldProblem, Secret } from '../base/errors.ts';
import type { Reply } from '../base/http.ts';
import type { JsonObject } from '../base/text.ts';
import type { LearnedService } from '../domain/targets.ts';
import { plainWords } from '../domain/words.ts';
import { SIZING_LABELS } from './accepted-values.ts';
import type { CloudService, CreatedService, ReversePrivateEndpoint } from './cloud-replies.ts';
import {
  appliedScaling,
  endpointText,
  isPlain,
  notApplied,
  serviceFacts,
  settingText,
} from './facts.ts';

/** The part of a reply that people may see: the request id and the reported values. */
export interface SendResult {
  readonly requestId: string | null;
  readonly reported: readonly string[];
  /** The values of the target in the reply; stored as its last seen values. */
  readonly learned: Pick<LearnedService, 'id' | 'name' | 'fields'> | null;
  /** The id of what the request created, by which optional reads find it. */
  readonly createdId?: string | null;
  /** Shown once, only to the requester. */
  readonly secret?: Secret | null;
}

/** The result of a change of a service. The reply does not prove completion. */
export function sentService(
  id: string,
  name: string,
  reply: Reply<CloudService | null>,
  body: JsonObject = {},
): SendResult {
  const { result, requestId } = reply;
  if (!result) return { requestId, reported: [], learned: null };

  const fields = serviceFacts(result);
  const state = result.state === null ? [] : [result.state];
  const reported = [...state, ...confirmed(body, result), ...differing(body, result)];
  return { requestId, reported, learned: { id, name: result.name ?? name, fields } };
}

/**
 * Confirmed only if the reply repeats every sent value: a missing value confirms nothing. A schedule
 * can override the requested size for hours, and the old size can apply for a while.
 */
function confirmed(body: JsonObject, reply: CloudService): readonly string[] {
  const values: Readonly<Record<string, unknown>> = reply;
  const sent = Object.entries(body);
  const all = sent.length > 0 && sent.every(([field, value]) => values[field] === value);
  const applied = appliedScaling(reply);
  const others = notApplied(body, applied);
  if (others.length === 0) return all ? ['all values as requested'] : [];
  const saved = all ? ['all values are saved as requested'] : [];
  const entry = applied?.scheduleEntry;
  const words = others
    .map(([field, now]) => `${labelFor(field)} is ${settingText(now)}`)
    .join(', ');
  return [
    ...saved,
    entry
      ? `⚠ the scaling schedule entry ${entry} applies now: ${words}`
      : `not applied yet: ${words}`,
  ];
}

/** Fields whose value in the reply differs from the sent one; missing fields do not count. */
function differing(body: JsonObject, reply: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(body).flatMap(([field, sent]) => {
    const got = reply[field];
    if (!isPlain(got) || !isPlain(sent) || String(got) === String(sent)) return [];
    const isPrivate = /key|role|arn$/i.test(field);
    const values = `${settingText(got)}, not ${settingText(sent)}`;
    return [`⚠ ${labelFor(field)} is ${isPrivate ? 'not' : values} as sent`];
  });
}

/** What users read for a field: `releaseChannel` → `release channel`. */
function labelFor(field: string): string {
  const labels: Readonly<Record<string, string>> = SIZING_LABELS;
  return labels[field] ?? plainWords(field);
}

/** A created service with the password that is shown once. Without a result: no details. */
export function sentCreation(
  reply: Reply<CreatedService | null>,
  body: JsonObject = {},
): SendResult {
  const { result, requestId } = reply;
  const service = result?.service;
  const secret = result?.password ?? null;
  if (!service?.id) return { requestId, reported: [], learned: null, secret };
  const { id, name, state } = service;
  const reported = [
    ...(state === null ? [] : [state]),
    `id ${id}`,
    ...(service.endpoints ?? []).flatMap(endpointText),
    ...differing(body, service),
  ];
  const learned = { id, name: name ?? id, fields: serviceFacts(service) };
  return { requestId, reported, learned, createdId: id, secret };
}

export function sentEndpoint(
  reply: Reply<ReversePrivateEndpoint | null>,
  body: JsonObject = {},
): SendResult {
  const { result, requestId } = reply;
  if (!result) return { requestId, reported: [], learned: null };
  const { id, endpointId, status, dnsNames, privateDnsNames } = result;
  const facts: readonly (readonly [string, string | null])[] = [
    ['status', status],
    ['id', id],
    ['endpoint', endpointId],
    ['DNS', dnsNames?.join(' ') || null],
    ['private DNS', privateDnsNames?.join(' ') || null],
  ];
  // Servers leave the address and name empty until the endpoint is set up.
  const known = facts.flatMap(([label, value]) => (value ? [`${label} ${value}`] : []));
  const reported = [...known, ...differing(body, result)];
  return { requestId, reported, learned: null, createdId: id };
}

/** A request body without the fields that were not given. */
export function bodyOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Arguments are strings, numbers, booleans and lists of them, so this is JSON.
  return Object.fromEntries(given) as JsonObject;
}

/** Labels for the field names in messages of the API schemas. */
const LABELS: Readonly<Record<string, string>> = {
  minReplicaMemoryGb: 'the minimum',
  maxReplicaMemoryGb: 'the maximum',
  byocId: 'an own cloud region',
  dataWarehouseId: 'an existing warehouse',
};
const WIRE_NAMES = new RegExp(Object.keys(LABELS).join('|'), 'g');

/** Problems of the whole body by the API schema, for rules that concern several fields. */
export function wireProblems(schema: z.ZodType, body: JsonObject): readonly FieldProblem[] {
  const { error } = schema.safeParse(body);
  const issues = error?.issues ?? [];
  return issues.map(({ path, message }) => ({
    field: String(path[0] ?? ''),
    problem: message.replace(WIRE_NAMES, (name) => LABELS[name] ?? name),
  }));
}

/** Orders the fields of a body as they are sent, so that the preview shows the sent JSON. */
export function inSendOrder(schema: z.ZodType, body: JsonObject): JsonObject {
  const { data } = schema.safeParse(body);
  // An invalid body is refused before it is shown; a parsed one is still JSON.
  return data === undefined ? body : (data as JsonObject);
}
