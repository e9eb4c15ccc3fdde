import type { Call } from '../../api/call.ts';
import { uuid } from '../../api/random.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { fieldProblem, nullable, oneOf, problemIn, stringRule } from '../body-rules.ts';
import { notRunning, refuseProblem, success } from '../replies.ts';
import type { CloudState, EndpointRecord } from '../state.ts';
import { findService, readBody } from '../targets.ts';

const RULES = {
  description: stringRule(255),
  type: oneOf(['VPC_ENDPOINT_SERVICE', 'VPC_RESOURCE', 'STREAMING_MULTI_VPC']),
  vpcEndpointServiceName: nullable(stringRule()),
  vpcResourceConfigurationId: nullable(stringRule()),
  vpcResourceShareArn: nullable(stringRule()),
  streamClusterArn: nullable(stringRule()),
  streamAuthentication: nullable(oneOf(['SASL_IAM', 'SASL_SCRAM'])),
};

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  VPC_RESOURCE: ['vpcResourceConfigurationId', 'vpcResourceShareArn'],
  STREAMING_MULTI_VPC: ['streamClusterArn', 'streamAuthentication'],
};

// The status of each type after provisioning. A person must accept the first type.
const SETTLED: Readonly<Record<string, string>> = {
  VPC_ENDPOINT_SERVICE: 'PendingAcceptance',
  VPC_RESOURCE: 'Ready',
  STREAMING_MULTI_VPC: 'Failed',
};

export function createEndpoint(cloud: CloudState, call: Call): Reply {
  const { id: serviceId, state } = findService(cloud, call);
  const body = readBody(cloud, call);
  refuseProblem(cloud, endpointProblem(body));
  if (state !== 'running') {
    return notRunning(cloud, 'Endpoint creation is allowed', state);
  }

  const id = uuid(cloud.random);
  const endpoint = { id, serviceId, createdAt: cloud.now(), given: body };
  cloud.endpoints.set(id, endpoint);
  cloud.effects.record(call, serviceId, cloud.now());
  return success(cloud, endpointReply(cloud, endpoint));
}

function endpointProblem(body: Json): string | null {
  const problem = problemIn(body, RULES, ['type']);
  if (problem !== null) return problem;
  const type = String(body.type);
  const missing = (REQUIRED[type] ?? []).find((field) => (body[field] ?? null) === null);
  if (missing === undefined) return null;
  return fieldProblem(missing, `is required when type is ${type}`, body[missing]);
}

/** An endpoint in a reply or in the console, at its current age. */
export function endpointReply(cloud: CloudState, endpoint: EndpointRecord): Json {
  const ageMs = cloud.now().getTime() - endpoint.createdAt.getTime();
  const { id, serviceId, given } = endpoint;
  const repeated = Object.keys(RULES).map((field) => [field, given[field] ?? null]);
  const status = statusAt(cloud, String(given.type), ageMs);
  const isProvisioned = status !== 'Provisioning';
  return {
    ...Object.fromEntries(repeated),
    description: given.description ?? '',
    id,
    serviceId,
    endpointId: isProvisioned ? `vpce-${id.slice(0, 8)}` : '',
    dnsNames: status === 'Ready' ? [`${id.slice(0, 8)}.endpoints.example`] : [],
    privateDnsNames: [],
    status,
  };
}

function statusAt({ behaviour }: CloudState, type: string, ageMs: number): string {
  const { endpoint, acceptance } = behaviour.durations;
  if (ageMs < endpoint) return 'Provisioning';
  const status = SETTLED[type] ?? 'Unknown';
  const isDecided = ageMs >= endpoint + acceptance;
  if (status !== 'PendingAcceptance' || !isDecided) return status;
  const decided = { accepts: 'Ready', rejects: 'Rejected', 'does nothing': status };
  return decided[behaviour.endpointOwner];
}
