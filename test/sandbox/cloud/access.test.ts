import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import { basic, cloudServer, send, serviceId } from '../servers.ts';

const STATE = `/services/${serviceId('analytics-prod')}/state`;
const COSTS = '/usageCost?from_date=2026-11-01&to_date=2026-11-02';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

test('an unknown key is refused without a request id', async () => {
  const { ask, cloud } = await cloudServer();
  const answer = await ask('PATCH', STATE, { command: 'stop' }, basic({ id: 'x', secret: 'y' }));
  expect(answer.status).toBe(401);
  expect(answer.json).toEqual({ error: 'UNAUTHORIZED: Key is not found', status: 401 });
  expect(cloud.effects()).toEqual([]);
});

test.for<[string, Record<string, string>]>([
  ['the right id and a wrong secret', basic({ ...CLOUD_KEY, secret: 'wrong' })],
  ['a bearer token', { authorization: `Bearer ${CLOUD_KEY.secret}` }],
  ['no header at all', { authorization: '' }],
])('%s is refused', async ([, headers]) => {
  const { ask } = await cloudServer();
  expect((await ask('GET', COSTS, undefined, headers)).status).toBe(401);
});

test('an inactive key is refused with its own error', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.setKey(CLOUD_KEY.id, { active: false });
  const { status, json } = await ask('GET', COSTS);
  expect(status).toBe(401);
  expect(json.error).toBe('UNAUTHORIZED: Key is not active');
  expect(json.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test('a developer key can read but not write', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.setKey(CLOUD_KEY.id, { role: 'developer' });
  expect((await ask('GET', COSTS)).status).toBe(200);
  const { status, json } = await ask('PATCH', STATE, { command: 'stop' });
  expect(status).toBe(403);
  expect(json.error).toMatch(/^FORBIDDEN: /);
  expect(cloud.effectCount('set state')).toBe(0);
});

test('a key without permission for one operation can use the others', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.setKey(CLOUD_KEY.id, { denied: ['usage cost'] });
  expect((await ask('GET', COSTS)).status).toBe(403);
  expect((await ask('PATCH', STATE, { command: 'stop' })).status).toBe(200);
});

test.for<[string, string, number, string]>([
  [
    'an id that is no uuid',
    '/services/not-a-uuid/state',
    400,
    'BAD_REQUEST: Invalid service id <string:not-a-uuid>',
  ],
  ['an id that nobody has', `/services/${UNKNOWN}/state`, 404, `NOT_FOUND: ${UNKNOWN}`],
])('%s is refused with the error text of the server', async ([, path, status, error]) => {
  const { ask } = await cloudServer();
  const answer = await ask('PATCH', path, { command: 'stop' });
  expect([answer.status, answer.json.error]).toEqual([status, error]);
});

test('another organization is refused with NOT_FOUND', async () => {
  const { cloud } = await cloudServer();
  const url = `${cloud.url}/v1/organizations/${UNKNOWN}${COSTS}`;
  const { status, json } = await send({ method: 'GET', url, headers: basic(CLOUD_KEY) });
  expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
});

test.for([
  ['DELETE', `/services/${serviceId('analytics-prod')}`],
  ['POST', STATE],
])('%s %s is not one of the seven operations', async ([method = '', path = '']) => {
  const { ask, cloud } = await cloudServer();
  const answer = await ask(method, path);
  expect(answer.status).toBe(404);
  expect(answer.headers['content-type']).toMatch('text/html');
  expect(cloud.count('no such route')).toBe(1);
});

test('the eleventh request within ten seconds is refused until the first is ten seconds old', async () => {
  const { ask, clock } = await cloudServer({
    behaviour: { rateLimit: { requests: 10, perMs: 10_000 } },
  });
  await ask('GET', COSTS);
  clock.advance(4_000);
  for (let sent = 0; sent < 9; sent += 1) expect((await ask('GET', COSTS)).status).toBe(200);
  const refused = await ask('GET', COSTS);
  expect(refused.status).toBe(429);
  expect(refused.json).toEqual({ status: 429, error: 'Rate limit exceeded' });
  expect(refused.headers['x-ratelimit-reset']).toBe('6');
  clock.advance(6_000);
  expect((await ask('GET', COSTS)).status).toBe(200);
  expect((await ask('GET', COSTS)).status).toBe(429);
});

test('every request is logged with its reply, without the key', async () => {
  const { ask, cloud } = await cloudServer();
  await ask('PATCH', STATE, { command: 'stop' });
  const [seen] = cloud.requests();
  expect(seen).toMatchObject({
    at: '2026-11-20T12:00:00.000Z',
    api: 'cloud',
    operation: 'set state',
    method: 'PATCH',
    path: `/v1/organizations/${ORGANIZATION.id}${STATE}`,
    body: { command: 'stop' },
    status: 200,
    fault: null,
  });
  expect(seen?.headers.authorization).toMatch(/^Basic sha256:[0-9a-f]{12}$/);
  expect(JSON.stringify(seen)).not.toContain(CLOUD_KEY.secret);
});
