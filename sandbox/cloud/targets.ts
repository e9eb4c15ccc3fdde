import type { Call, JsonObject } from '../api/call.ts';
import { isObject } from '../api/call.ts';
import type { Reply } from '../api/reply.ts';
import { settle } from './lifecycle.ts';
import { badRequest, refusal, shown } from './replies.ts';
import type { CloudState, ServiceRecord } from './state.ts';

/** Either what a request is about, or the reply that refuses it. */
export type Found<T> = { readonly found: T } | { readonly refused: Reply };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const GONE: readonly string[] = ['terminating', 'terminated', 'softdeleting', 'softdeleted'];

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

export function isGone({ state }: ServiceRecord): boolean {
  return GONE.includes(state);
}

export function organizationProblem(cloud: CloudState, { params }: Call): Reply | null {
  const { organizationId } = params;
  if (!isUuid(organizationId)) {
    return badRequest(cloud, `Invalid organization id ${shown(organizationId)}`);
  }
  return organizationId === cloud.organization.id ? null : refusal(cloud, 404, 'NOT_FOUND');
}

/** The service as it is by now; one that was deleted is as good as unknown. */
export function findService(cloud: CloudState, { params }: Call): Found<ServiceRecord> {
  const found = lookUp(cloud, 'service', params.serviceId, (id) => serviceNow(cloud, id));
  return 'found' in found && isGone(found.found) ? notFound(cloud, found.found.id) : found;
}

export function serviceNow(cloud: CloudState, id: string): ServiceRecord | undefined {
  const record = cloud.services.get(id);
  if (record === undefined) return undefined;
  const settled = settle(record, cloud.now());
  cloud.services.set(id, settled);
  return settled;
}

export function lookUp<T>(
  cloud: CloudState,
  kind: string,
  id: string | undefined,
  read: (id: string) => T | undefined,
): Found<T> {
  if (!isUuid(id)) return { refused: badRequest(cloud, `Invalid ${kind} id ${shown(id)}`) };
  const found = read(id.toLowerCase());
  if (found !== undefined) return { found };
  if (cloud.behaviour.unknownId === 404) return notFound(cloud, id);
  return { refused: badRequest(cloud, `Invalid ${kind} id string:"${id}"`) };
}

function notFound(cloud: CloudState, id: string): { readonly refused: Reply } {
  return { refused: refusal(cloud, 404, `NOT_FOUND: ${id}`) };
}

export function readBody(cloud: CloudState, { body }: Call): Found<JsonObject> {
  if (body.kind === 'invalid') return { refused: badRequest(cloud, 'request body: invalid JSON') };
  if (body.kind === 'none') return { refused: badRequest(cloud, 'request body: required') };
  if (isObject(body.value)) return { found: body.value };
  return { refused: badRequest(cloud, `request body: must be an object ${shown(body.value)}`) };
}
