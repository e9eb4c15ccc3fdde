import type { Call } from '../api/call.ts';
import { isJson, type Json } from '../json.ts';
import { recordActivity, SYSTEM } from './activity-log.ts';
import { settle } from './lifecycle.ts';
import { badRequest, formatValue, notRunning, refuse } from './replies.ts';
import type { CloudState, ServiceRecord } from './state.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const GONE: readonly string[] = ['terminating', 'terminated', 'softdeleting', 'softdeleted'];

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

export function isGone({ state }: ServiceRecord): boolean {
  return GONE.includes(state);
}

export function checkOrganization(cloud: CloudState, { params }: Call): void {
  const { organizationId } = params;
  // The reads of the key itself name no organization.
  if (organizationId === undefined) return;
  if (!isUuid(organizationId))
    badRequest(cloud, `Invalid organization id ${formatValue(organizationId)}`);
  if (organizationId !== cloud.organization.id) refuse(cloud, 404, 'NOT_FOUND');
}

/** The current service of the request; a deleted service is not found. */
export function findService(cloud: CloudState, { params }: Call): ServiceRecord {
  const found = lookUp(cloud, 'service', params.serviceId, (id) => serviceNow(cloud, id));
  return isGone(found) ? refuse(cloud, 404, `NOT_FOUND: ${found.id}`) : found;
}

export function serviceNow(cloud: CloudState, id: string): ServiceRecord | undefined {
  const record = cloud.services.get(id);
  if (record === undefined) return undefined;
  const settled = settle(record, cloud.now());
  cloud.services.set(id, settled);
  if (record.transition !== null && settled.transition === null) reportArrival(cloud, record);
  return settled;
}

/** All services that are not deleted. */
export function servicesNow(cloud: CloudState): readonly ServiceRecord[] {
  return [...cloud.services.keys()]
    .flatMap((id) => serviceNow(cloud, id) ?? [])
    .filter((service) => !isGone(service));
}

// The log names only these two of the states in which a transition ends.
function reportArrival(cloud: CloudState, { id, transition }: ServiceRecord): void {
  if (transition?.to !== 'running' && transition?.to !== 'idle') return;
  const { to, at } = transition;
  recordActivity(cloud, SYSTEM, { type: `service_${to}`, serviceId: id, at });
}

/** The service of a request about pipes, which is refused while the service does not run. */
export function findRunning(cloud: CloudState, call: Call, what: string): ServiceRecord {
  const service = findService(cloud, call);
  const { state } = service;
  const isUp = ['running', 'partially_running', 'degraded'].includes(state);
  return isUp ? service : notRunning(cloud, what, state);
}

export function lookUp<T>(
  cloud: CloudState,
  kind: string,
  id: string | undefined,
  read: (id: string) => T | undefined,
): T {
  if (!isUuid(id)) return badRequest(cloud, `Invalid ${kind} id ${formatValue(id)}`);
  return read(id.toLowerCase()) ?? refuse(cloud, 404, `NOT_FOUND: ${id}`);
}

export function readBody(cloud: CloudState, { body }: Call): Json {
  if (body.kind === 'invalid') return badRequest(cloud, 'request body: invalid JSON');
  if (body.kind === 'none') return badRequest(cloud, 'request body: required');
  if (isJson(body.value)) return body.value;
  return badRequest(cloud, `request body: must be an object ${formatValue(body.value)}`);
}
