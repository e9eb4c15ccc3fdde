import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../../src/app-server.ts';
import { Secret } from '../../src/base/errors.ts';
import { createAlertDoor } from '../../src/ops/index.ts';
import type { AlertReport } from '../../src/servers/alert-webhook.ts';

const SECRET = 'a-secret-path-of-thirty-two-letters';
const REPORT = JSON.stringify({ alert: 'a1', status: 'firing', title: '5xx rate' });

/** The door in the server of the bot, and what came through it. */
async function openDoor(secret: string | null = SECRET) {
  const stage = {
    received: [] as AlertReport[],
    endings: [] as string[],
    lines: [] as string[],
    fails: false,
    now: Date.parse('2026-11-20T14:05:00Z'),
  };
  const log = pino({ level: 'trace' }, { write: (line: string) => void stage.lines.push(line) });
  const alerts = createAlertDoor({
    intake: () => ({
      secret: secret === null ? null : new Secret(secret),
      receive: async (report) => {
        if (stage.fails) throw new Error('the database is away');
        stage.received.push(report);
        return 'accepted';
      },
    }),
    now: () => new Date(stage.now),
    log,
    measures: { alertDelivered: (ending) => stage.endings.push(ending) },
  });
  const { server } = createHttpServer({ slack: null, probes: null, doors: [alerts] });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  // A server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo;
  const post = async (path: string, body: string | null = REPORT) => {
    const request = body === null ? {} : { method: 'POST', body };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, request);
    return { status: response.status, text: await response.text() };
  };
  return { stage, post };
}

test('a delivery with the secret is received', async () => {
  const { stage, post } = await openDoor();
  expect(await post(`/alerts/${SECRET}`)).toEqual({
    status: 202,
    text: 'The report is accepted.\n',
  });
  expect(stage.received).toMatchObject([{ id: 'a1', state: 'firing' }]);
  expect(stage.endings).toEqual(['accepted']);
});

test.for<[string, string | null, string, string | null]>([
  ['another secret', SECRET, `/alerts/${SECRET}x`, REPORT],
  ['no secret', SECRET, '/alerts/', REPORT],
  ['a query', SECRET, `/alerts/${SECRET}?`, REPORT],
  ['another method', SECRET, `/alerts/${SECRET}`, null],
  ['no configuration', null, '/alerts/null', REPORT],
])('%s is an unknown page, and no line of the log', async ([, secret, path, body]) => {
  const { stage, post } = await openDoor(secret);
  expect(await post(path, body)).toEqual({ status: 404, text: 'Not found.\n' });
  expect(stage).toMatchObject({ received: [], endings: [], lines: [] });
});

test('a body that is no report is refused with what to correct', async () => {
  const { stage, post } = await openDoor();
  const refused = await post(`/alerts/${SECRET}`, '{"alert":"<!channel>"}');
  expect(refused).toEqual({ status: 400, text: 'Not read: status is none that an alert has.\n' });
  expect(stage.endings).toEqual(['unreadable']);
  expect(stage.lines.join()).not.toContain('channel');
});

test('a body above 64 KiB is refused before it is read', async () => {
  const { stage, post } = await openDoor();
  const large = JSON.stringify({ title: 'x'.repeat(70_000) });
  expect(await post(`/alerts/${SECRET}`, large)).toMatchObject({ status: 413 });
  expect(stage).toMatchObject({ endings: ['large'], received: [] });
});

test('above 300 deliveries in a minute, a sender has to try again', async () => {
  const { stage, post } = await openDoor();
  const statuses = new Set<number>();
  for (let sent = 0; sent < 300; sent += 1) statuses.add((await post(`/alerts/${SECRET}`)).status);
  expect([...statuses]).toEqual([202]);
  expect(await post(`/alerts/${SECRET}`)).toMatchObject({ status: 429 });
  stage.now += 60_000;
  expect(await post(`/alerts/${SECRET}`)).toMatchObject({ status: 202 });
});

test('a report that could not be stored is sent again by its sender', async () => {
  const { stage, post } = await openDoor();
  stage.fails = true;
  expect(await post(`/alerts/${SECRET}`)).toMatchObject({ status: 503 });
  expect(stage.lines.join()).not.toContain(SECRET);
  stage.fails = false;
  expect(await post(`/alerts/${SECRET}`)).toMatchObject({ status: 202 });
});
