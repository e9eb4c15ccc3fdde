import { expect, test } from 'vitest';
import { cloudServer, serviceId } from '../servers.ts';

const PATH = `/services/${serviceId('analytics-prod')}/pipesReversePrivateEndpoints`;

const RESOURCE = {
  description: 'orders database',
  type: 'VPC_RESOURCE',
  vpcResourceConfigurationId: 'rcfg-1',
  vpcResourceShareArn: 'arn:share',
};
const STREAM = {
  description: 'events',
  type: 'STREAMING_MULTI_VPC',
  streamClusterArn: 'arn:cluster',
  streamAuthentication: 'SASL_IAM',
};
const SERVICE = { description: '', type: 'VPC_ENDPOINT_SERVICE', vpcEndpointServiceName: 'svc' };

test('the reply repeats the body and has the status Provisioning', async () => {
  const { ask, cloud } = await cloudServer();
  const { status, json } = await ask('POST', PATH, RESOURCE);
  expect(status).toBe(200);
  expect(json.result).toMatchObject({
    ...RESOURCE,
    streamClusterArn: null,
    serviceId: serviceId('analytics-prod'),
    status: 'Provisioning',
    dnsNames: [],
  });
  expect(cloud.effectCount('create endpoint', serviceId('analytics-prod'))).toBe(1);
});

test.for<[object, string, boolean]>([
  [SERVICE, 'PendingAcceptance', false],
  [RESOURCE, 'Ready', true],
  [STREAM, 'Failed', false],
])('the endpoint %j ends with the status %s', async ([body, status, hasNames]) => {
  const { ask, cloud, clock } = await cloudServer();
  await ask('POST', PATH, body);
  expect(cloud.endpoints()).toMatchObject([{ status: 'Provisioning' }]);
  clock.advance(60_000);
  const [endpoint] = cloud.endpoints();
  expect(endpoint?.status).toBe(status);
  expect(endpoint?.dnsNames).toHaveLength(hasNames ? 1 : 0);
});

test.for<[string, object, string]>([
  ['256 characters of description', { ...RESOURCE, description: 'd'.repeat(256) }, 'description'],
  ['no type', { ...RESOURCE, type: undefined }, 'type'],
  ['an unknown type', { ...RESOURCE, type: 'VPN' }, 'type'],
  [
    'a resource without its configuration',
    { ...RESOURCE, vpcResourceConfigurationId: undefined },
    'vpcResourceConfigurationId',
  ],
  ['a resource without share', { ...RESOURCE, vpcResourceShareArn: null }, 'vpcResourceShareArn'],
  ['a stream without its cluster', { ...STREAM, streamClusterArn: null }, 'streamClusterArn'],
  ['no authentication', { ...STREAM, streamAuthentication: null }, 'streamAuthentication'],
  ['another authentication', { ...STREAM, streamAuthentication: 'PLAIN' }, 'streamAuthentication'],
])('%s is refused', async ([, body, field]) => {
  const { ask, cloud } = await cloudServer();
  const { status, json } = await ask('POST', PATH, body);
  expect(status).toBe(400);
  expect(json.error).toContain(`BAD_REQUEST: request body.${field}: `);
  expect(cloud.endpoints()).toEqual([]);
});

test.for(['archive', 'ci'])(
  'an endpoint of a service that does not run (%s) is refused',
  async (name) => {
    const { ask, cloud } = await cloudServer();
    const path = `/services/${serviceId(name)}/pipesReversePrivateEndpoints`;
    const { status, json } = await ask('POST', path, RESOURCE);
    expect(status).toBe(424);
    expect(json.error).toMatch(/^FAILED_DEPENDENCY: .*Current state: (stopped|idle)$/);
    expect(cloud.effects()).toEqual([]);
  },
);
