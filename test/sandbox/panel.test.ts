import { createServer } from 'node:http';
import express from 'express';
import { expect, test } from 'vitest';
import { ALERT_READS, CLOUD_READS } from '../../sandbox/api/optional-reads.ts';
import { panelRoutes } from '../../sandbox/api/panel.ts';
import { listening } from '../harness/listening.ts';
import { alertsServer, cloudServer, send, serviceId } from './servers.ts';

const SLOW_QUERIES = 'd89ded1cd0202f913c62d284';

async function panelServer() {
  const [{ cloud, ask: askCloud }, { alerts, ask: askAlerts }] = [
    await cloudServer(),
    await alertsServer(),
  ];
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const app = express().use('/sandbox', panelRoutes({ cloud, alerts, changed }));
  const address = await listening(createServer(app));
  const ask = (method: string, path: string, body?: unknown) =>
    send({
      method,
      url: `${address}/sandbox${path}`,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { cloud, alerts, ask, askCloud, askAlerts, changes: () => changes };
}

test('the panel lists operations, faults and alerts', async () => {
  const { ask } = await panelServer();
  const { status, json } = await ask('GET', '/panel');
  expect(status).toBe(200);
  expect(json).toMatchObject({
    requests: [],
    operations: {
      cloud: [
        ...['create service', 'create endpoint', 'scale', 'set state', 'usage cost'],
        ...['pipe settings', 'backup', ...CLOUD_READS],
      ],
      alerts: ['list alerts', 'get alert', 'update alert', ...ALERT_READS],
    },
    activeFaults: [],
    alerts: expect.arrayContaining([{ id: SLOW_QUERIES, name: 'Slow queries', state: 'OK' }]),
  });
});

test('requests of both APIs are listed, newest first, without headers or passwords', async () => {
  const { ask, askCloud, askAlerts } = await panelServer();
  const body = { name: 'brand new', provider: 'aws', region: 'eu-west-1' };
  const created = await askCloud('POST', '/services', body);
  await askAlerts('GET', '');
  const { json, text } = await ask('GET', '/panel');
  const operations = [json.requests?.[0]?.operation, json.requests?.[1]?.operation];
  expect(operations).toEqual(['list alerts', 'create service']);
  expect(json.requests?.[0]).not.toHaveProperty('reply');
  expect(text).not.toContain(String(created.json.result?.password));
  expect(text).not.toContain('authorization');
});

test('a fault from the page applies to the next request and can be cleared', async () => {
  const { ask, askCloud } = await panelServer();
  const fault = { api: 'cloud', operation: 'set state', fault: '503', times: 3 };
  const injected = await ask('POST', '/panel/faults', fault);
  expect(injected.json.activeFaults).toEqual([fault]);
  const path = `/services/${serviceId('staging')}/state`;
  expect((await askCloud('PATCH', path, { command: 'stop' })).status).toBe(503);
  const cleared = await ask('POST', '/panel/clear', {});
  expect(cleared.json.activeFaults).toEqual([]);
  expect((await askCloud('PATCH', path, { command: 'stop' })).status).toBe(200);
});

test.for<[string, string, object]>([
  ['an alert without a state', '/panel/alert', { id: SLOW_QUERIES }],
  ['an alert whose webhook nobody receives', '/panel/alert', { id: SLOW_QUERIES, to: 'firing' }],
  [
    'a fault that does not apply to the operation',
    '/panel/faults',
    { api: 'cloud', operation: 'backup', fault: 'costs-null', times: 1 },
  ],
  ['an incomplete fault', '/panel/faults', { api: 'cloud', fault: '503' }],
])('%s is refused with a reason', async ([, path, body]) => {
  const { ask, cloud } = await panelServer();
  const { status, json } = await ask('POST', path, body);
  expect(status).toBe(400);
  expect(json.error).toEqual(expect.any(String));
  expect(cloud.activeFaults()).toEqual([]);
});

test('the page is notified of every request and every change of a setting', async () => {
  const { ask, askAlerts, changes } = await panelServer();
  await askAlerts('GET', '');
  const afterRequest = changes();
  expect(afterRequest).toBe(2);
  await ask('GET', '/panel');
  expect(changes()).toBe(afterRequest);
  await ask('POST', '/panel/clear', {});
  expect(changes()).toBe(afterRequest + 1);
});
