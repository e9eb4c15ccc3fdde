import type { Call } from '../../api/call.ts';
import { CLOUD_READS, type CloudRead } from '../../api/optional-reads.ts';
import { type Operation, operationOn } from '../../api/pipeline.ts';
import { htmlReply, Refused, type Reply } from '../../api/reply.ts';
import type { CloudState } from '../state.ts';
import { listActivities } from './activities.ts';
import { listBackups } from './backups.ts';
import { getEndpoint, listEndpoints } from './endpoints.ts';
import { getKey, listOrganizations } from './organization.ts';
import { listPipes } from './pipes.ts';
import { getService, listServices, scalingSchedule } from './services.ts';

const ORG = '/v1/organizations/:organizationId';
const SERVICE = `${ORG}/services/:serviceId`;

type Answer = (cloud: CloudState, call: Call) => Reply;

const READS: Readonly<Record<CloudRead, readonly [path: string, answer: Answer]>> = {
  'list organizations': ['/v1/organizations', listOrganizations],
  'get key': [`${ORG}/keys/:keyId`, getKey],
  'list services': [`${ORG}/services`, listServices],
  'get service': [SERVICE, getService],
  'scaling schedule': [`${SERVICE}/scalingSchedule`, scalingSchedule],
  'list backups': [`${SERVICE}/backups`, listBackups],
  'list endpoints': [`${SERVICE}/pipesReversePrivateEndpoints`, listEndpoints],
  'get endpoint': [`${SERVICE}/pipesReversePrivateEndpoints/:endpointId`, getEndpoint],
  'list pipes': [`${SERVICE}/pipes`, listPipes],
  'list activities': [`${ORG}/activities`, listActivities],
};

export function cloudReads(cloud: CloudState): readonly Operation[] {
  const operation = operationOn(cloud);
  return CLOUD_READS.map((name) => operation(name, 'get', ...READS[name]));
}

/** Refuses a read that this server does not have. */
export function checkCloudRead(cloud: CloudState, { operation, method, path }: Call): void {
  const name = CLOUD_READS.find((one) => one === operation);
  if (name === undefined) return;
  const status = cloud.profile === 'contract' ? 404 : cloud.behaviour.absentReads[name];
  if (status !== undefined)
    throw new Refused(htmlReply(status, `Cannot ${method} ${path.split('?')[0]}`));
}
