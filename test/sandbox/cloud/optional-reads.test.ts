import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../../sandbox/seed/organization.ts';
import { cloudServer, serviceId } from '../servers.ts';

const PROD = `/services/${serviceId('analytics-prod')}`;
const ENDPOINTS = `${PROD}/pipesReversePrivateEndpoints`;
const SERVICE_ENDPOINT = {
  ...{ description: '', type: 'VPC_ENDPOINT_SERVICE', vpcEndpointServiceName: 'svc' },
};

test('a secondary service has no backups', async () => {
  const { ask } = await cloudServer();
  const { status, json } = await ask('GET', `/services/${serviceId('staging')}/backups`);
  expect([status, json.status]).toEqual([404, 404]);
});

test.for<['accepts' | 'rejects' | 'does nothing', string]>([
  ['accepts', 'Ready'],
  ['rejects', 'Rejected'],
  ['does nothing', 'PendingAcceptance'],
])('an endpoint whose owner %s it ends as %s', async ([endpointOwner, end]) => {
  const { ask, clock } = await cloudServer({ behaviour: { endpointOwner } });
  const created = await ask('POST', ENDPOINTS, SERVICE_ENDPOINT);
  const path = `${ENDPOINTS}/${String(created.json.result?.id)}`;
  const status = async () => (await ask('GET', path)).json.result?.status;
  const seen = [await status()];
  for (const ms of [59_999, 1, 299_999, 1]) {
    clock.advance(ms);
    seen.push(await status());
  }
  const waiting = ['Provisioning', 'Provisioning', 'PendingAcceptance', 'PendingAcceptance'];
  expect(seen).toEqual([...waiting, end]);
  const { json } = await ask('GET', ENDPOINTS);
  expect(json.result).toEqual([(await ask('GET', path)).json.result]);
});

test('an endpoint of another service is not found', async () => {
  const { ask } = await cloudServer();
  const { json } = await ask('POST', ENDPOINTS, SERVICE_ENDPOINT);
  const other = `/services/${serviceId('lab-core')}/pipesReversePrivateEndpoints`;
  expect((await ask('GET', `${other}/${String(json.result?.id)}`)).status).toBe(404);
  expect((await ask('GET', other)).json.result).toEqual([]);
});

test.for(['/pipes', '/pipesReversePrivateEndpoints'])(
  'while a service does not run, %s is answered with 424 and the state',
  async (path) => {
    const { ask } = await cloudServer();
    const { status, json } = await ask('GET', `/services/${serviceId('archive')}${path}`);
    expect(status).toBe(424);
    expect(json.error).toMatch(/Current state: stopped$/);
  },
);

const typesIn = (result: unknown) => Object.values(Object(result)).map((one) => Object(one).type);

test('the activity log shows an event after 30 seconds, by its key or user', async () => {
  const { ask, cloud, clock } = await cloudServer();
  const today = '/activities?from_date=2026-11-20&to_date=2026-11-20';
  await ask('PATCH', `/services/${serviceId('staging')}/state`, { command: 'stop' });
  cloud.scaleInConsole(serviceId('finance'), { maxReplicaMemoryGb: 64, numReplicas: 3 }, 'Mara');
  clock.advance(29_999);
  expect(typesIn((await ask('GET', today)).json.result)).not.toContain('service_stop');
  clock.advance(1);
  const entries = Object.values((await ask('GET', today)).json.result ?? {}).slice(-3);
  expect(entries).toMatchObject([
    { type: 'service_stop', actorType: 'api', actorId: CLOUD_KEY.id },
    { type: 'service_update_autoscaling_memory', actorType: 'user' },
    { type: 'service_update_autoscaling_replicas', actorDetails: 'mara@example.com' },
  ]);
  expect(entries[1]).toMatchObject({
    serviceId: serviceId('finance'),
    createdAt: '2026-11-20T12:00:00.000Z',
  });
  expect(cloud.service(serviceId('finance'))?.scaling.maxReplicaMemoryGb).toBe(64);
  expect(cloud.effects()).toHaveLength(1);
});

test('the end of a transition is an event of the system, at its own time', async () => {
  const { ask, cloud, clock } = await cloudServer();
  const path = `/services/${serviceId('archive')}`;
  await ask('PATCH', `${path}/state`, { command: 'start' });
  clock.advance(600_000);
  cloud.service(serviceId('archive'));
  const { json } = await ask('GET', '/activities?from_date=2026-11-20&to_date=2026-11-20');
  const last = Object.values(json.result ?? {}).at(-1);
  expect(last).toMatchObject({ type: 'service_running', createdAt: '2026-11-20T12:01:00.000Z' });
});
