import { expect, test } from 'vitest';
import type { ServiceState } from '../../../sandbox/seed/shapes.ts';
import { cloudServer, serviceId } from '../servers.ts';

const STAGING = serviceId('staging');
const path = (id: string) => `/services/${id}/state`;

const STATES: readonly ServiceState[] = [
  'running',
  'degraded',
  'partially_running',
  'stopped',
  'idle',
  'provisioning',
  'starting',
  'awaking',
  'stopping',
  'failed',
  'terminating',
  'softdeleting',
  'terminated',
  'softdeleted',
];

test('each state accepts or refuses each command', async () => {
  const { ask, cloud, clock } = await cloudServer();
  const seen: string[] = [];
  for (const state of STATES) {
    for (const command of ['start', 'stop']) {
      cloud.setServiceState(STAGING, state);
      const { status, json } = await ask('PATCH', path(STAGING), { command });
      clock.advance(600_000);
      const later = cloud.service(STAGING)?.state;
      seen.push(`${state} · ${command} → ${status} ${json.result?.state ?? ''} → ${later}`);
    }
  }
  expect(seen.join('\n')).toMatchInlineSnapshot(`
    "running · start → 200 running → running
    running · stop → 200 stopping → stopped
    degraded · start → 200 degraded → degraded
    degraded · stop → 200 stopping → stopped
    partially_running · start → 200 partially_running → partially_running
    partially_running · stop → 200 stopping → stopped
    stopped · start → 200 starting → running
    stopped · stop → 200 stopped → stopped
    idle · start → 200 idle → idle
    idle · stop → 200 stopping → stopped
    provisioning · start → 200 provisioning → provisioning
    provisioning · stop → 409  → provisioning
    starting · start → 200 starting → starting
    starting · stop → 409  → starting
    awaking · start → 200 awaking → awaking
    awaking · stop → 409  → awaking
    stopping · start → 409  → stopping
    stopping · stop → 200 stopping → stopping
    failed · start → 409  → failed
    failed · stop → 409  → failed
    terminating · start → 404  → terminating
    terminating · stop → 404  → terminating
    softdeleting · start → 404  → softdeleting
    softdeleting · stop → 404  → softdeleting
    terminated · start → 404  → terminated
    terminated · stop → 404  → terminated
    softdeleted · start → 404  → softdeleted
    softdeleted · stop → 404  → softdeleted"
  `);
});

test('a conflict names the state', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.setServiceState(STAGING, 'starting');
  const { json } = await ask('PATCH', path(STAGING), { command: 'stop' });
  expect(json.error).toMatch(/^CONFLICT: .* Current state: 'starting'$/);
});

test('a primary with secondaries does not stop', async () => {
  const { ask, cloud } = await cloudServer();
  const id = serviceId('reporting-core');
  const { status, json } = await ask('PATCH', path(id), { command: 'stop' });
  expect(status).toBe(409);
  expect(json.error).toMatch(/^CONFLICT: /);
  expect(cloud.effectCount('set state', id)).toBe(0);
});

test("the contract's service has no state, provider or region", async () => {
  const { ask } = await cloudServer({ profile: 'contract' });
  const { json } = await ask('PATCH', path(STAGING), { command: 'stop' });
  expect(json.result).toMatchObject({ id: STAGING, name: 'staging' });
  for (const field of ['state', 'provider', 'region', 'currentScaling', 'tags']) {
    expect(json.result).not.toHaveProperty(field);
  }
});

test.for<[string, unknown, string]>([
  ['a word of another kind', { command: 'restart' }, 'request body.command: must be one of'],
  ['a wake, which the contract lacks', { command: 'awake' }, 'request body.command'],
  ['nothing', {}, 'request body.command: is required'],
  ['a list', [], 'request body: must be an object'],
  ['what is no JSON', '{"command":', 'request body: invalid JSON'],
])('%s is refused', async ([, body, text]) => {
  const { ask, cloud } = await cloudServer();
  const { status, json } = await ask('PATCH', path(STAGING), body);
  expect(status).toBe(400);
  expect(json.error).toContain(`BAD_REQUEST: ${text}`);
  expect(cloud.effects()).toEqual([]);
});

test('a body with another content type than JSON is ignored', async () => {
  const { ask } = await cloudServer();
  const headers = { 'content-type': 'text/plain' };
  const { json } = await ask('PATCH', path(STAGING), { command: 'stop' }, headers);
  expect(json.error).toBe('BAD_REQUEST: request body: required');
});

test('unknown fields are ignored', async () => {
  const { ask } = await cloudServer();
  const body = { command: 'start', force: true, constructor: 'odd' };
  expect((await ask('PATCH', path(STAGING), body)).status).toBe(200);
});

test('only a command that changes the state is an effect', async () => {
  const { ask, cloud } = await cloudServer();
  await ask('PATCH', path(STAGING), { command: 'start' });
  await ask('PATCH', path(STAGING), { command: 'stop' });
  await ask('PATCH', path(STAGING), { command: 'stop' });
  expect(cloud.count('set state')).toBe(3);
  expect(cloud.effects()).toEqual([
    {
      at: '2026-11-20T12:00:00.000Z',
      operation: 'set state',
      target: STAGING,
      body: { command: 'stop' },
    },
  ]);
});
