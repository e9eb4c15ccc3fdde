import { expect, test } from 'vitest';
import { cloudServer, pipeId, serviceId } from '../servers.ts';

const path = (service: string, pipe: string) =>
  `/services/${serviceId(service)}/pipes/${pipe}/settings`;

test('the settings of a pipe have twelve keys', async () => {
  const { ask } = await cloudServer();
  const { status, json } = await ask('GET', path('analytics-prod', pipeId('orders')));
  expect(status).toBe(200);
  expect(Object.keys(json.result ?? {})).toHaveLength(12);
  expect(json.result?.object_storage_max_insert_bytes).toBe(10_737_418_240);
});

test('only the settings of live servers have nulls and keys that are not in the contract', async () => {
  const { ask, cloud } = await cloudServer();
  const clicks = path('analytics-prod', pipeId('clicks'));
  const events = path('analytics-eu', pipeId('events-eu'));
  expect((await ask('GET', clicks)).json.result?.stream_read_committed).toBe(true);
  expect((await ask('GET', events)).json.result?.engine_max_threads).toBeNull();
  cloud.profile('contract');
  expect((await ask('GET', clicks)).json.result).not.toHaveProperty('stream_read_committed');
  expect((await ask('GET', events)).json.result).not.toHaveProperty('engine_max_threads');
});

test.for<[string, string, string, number]>([
  ["another service's pipe", 'staging', pipeId('orders'), 404],
  ['an id that is no uuid', 'analytics-prod', 'orders', 400],
])('%s is not found in this service', async ([, service, pipe, status]) => {
  const { ask } = await cloudServer();
  expect((await ask('GET', path(service, pipe))).status).toBe(status);
});

test('the settings of a stopped service are returned', async () => {
  const { ask } = await cloudServer();
  expect((await ask('GET', path('archive', pipeId('old-imports')))).status).toBe(200);
});
