import type { RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer, listenProblem, openServers } from '../src/app-server.ts';
import { listening } from './harness/listening.ts';

const EVENTS = '/slack/events';

const PROBES = {
  notReady: async () => null,
  readinessWarning: async () => null,
  disconnected: () => null,
  metrics: async () => 'figures',
};

/** The door on a port of its own, and what came through it to Slack's listener. */
async function open(notReady: () => Promise<string | null>, hasListener = true) {
  const passed: string[] = [];
  const listener: RequestListener = (request, response) => {
    passed.push(`${request.method} ${request.url}`);
    response.end('heard');
  };
  const clock = { ms: 0, connected: true };
  const disconnected = () => (clock.connected ? null : 'Slack is not connected.');
  const probes = { ...PROBES, notReady, disconnected, elapsed: () => clock.ms };
  const { server: door } = createHttpServer({ slack: hasListener ? listener : null, probes });
  const url = await listening(door);
  const ask = async (path: string, request: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, request);
    return { status: response.status, text: await response.text() };
  };
  return { ask, passed, clock };
}

function seconds(fromNow: number): string {
  return String(Math.floor(Date.now() / 1_000) + fromNow);
}

function delivery(timestamp: string | null, method = 'POST'): RequestInit {
  return { method, headers: timestamp === null ? {} : { 'x-slack-request-timestamp': timestamp } };
}

const ready = async () => null;

test('/healthz answers 200, whether the process is ready or not', async () => {
  const { ask } = await open(async () => 'Slack is not connected.');
  expect(await ask('/healthz')).toEqual({ status: 200, text: 'alive\n' });
  expect(await ask('/healthz?from=probe')).toMatchObject({ status: 200 });
  expect(await ask('/healthz', { method: 'HEAD' })).toEqual({ status: 200, text: '' });
});

test.for<[string, () => Promise<string | null>, number, string]>([
  ['is ready', ready, 200, 'ready\n'],
  ['is not', async () => 'The database does not answer.', 503, 'The database does not answer.\n'],
  ['throws', () => Promise.reject(new Error('x')), 503, expect.stringContaining('check failed')],
])('/readyz of a process that %s', async ([, notReady, status, text]) => {
  const { ask } = await open(notReady);
  expect(await ask('/readyz')).toEqual({ status, text });
});

test('any number of requests for readiness cause one check per second', async () => {
  let checks = 0;
  const { ask, clock } = await open(async () => {
    checks += 1;
    return null;
  });
  const askOften = () => Promise.all(Array.from({ length: 50 }, () => ask('/readyz')));
  await askOften();
  clock.ms = 999;
  await askOften();
  expect(checks).toBe(1);
  clock.ms = 1_000;
  await askOften();
  expect(checks).toBe(2);
});

test('a process that stops is not ready at once, although the last check was good', async () => {
  const { ask, clock } = await open(ready);
  expect(await ask('/readyz')).toMatchObject({ status: 200 });
  clock.connected = false;
  expect(await ask('/readyz')).toEqual({ status: 503, text: 'Slack is not connected.\n' });
});

test.for<[string, string, string]>([
  ['an unknown page', 'GET', '/'],
  ['a path that begins like health', 'GET', '/healthz/x'],
  ['health, to write it', 'POST', '/healthz'],
  ['the door of deliveries, to read it', 'GET', EVENTS],
  ['a longer path', 'POST', `${EVENTS}/`],
  ['a path in other letters', 'POST', '/Slack/Events'],
  ['a path that climbs', 'POST', `/x/..%2f${EVENTS}`],
])('%s answers 404', async ([, method, path]) => {
  const { ask, passed } = await open(ready);
  expect(await ask(path, delivery(seconds(0), method))).toMatchObject({ status: 404 });
  expect(passed).toEqual([]);
});

test('in Socket Mode no delivery is accepted over HTTP', async () => {
  const { ask } = await open(ready, false);
  expect(await ask(EVENTS, delivery(seconds(0)))).toMatchObject({ status: 404 });
});

test('slow requests time out', () => {
  const { server } = createHttpServer({ slack: null, probes: null });
  const { requestTimeout, headersTimeout } = server;
  expect({ requestTimeout, headersTimeout }).toEqual({
    requestTimeout: 10_000,
    headersTimeout: 5_000,
  });
});

test('a port of another process is named, and may become free', async () => {
  const first = await openServers({ port: 0, opsPort: null, bindAddress: null }, PROBES);
  onTestFinished(first.closeConnections);
  const taken = { port: first.port, opsPort: null, bindAddress: null };
  const refused = await openServers(taken, PROBES).catch((error: unknown) => error);
  const problem = `${first.port} is in use by another process`;
  expect(listenProblem(refused, taken)).toMatchObject({ where: 'PORT', problem, lasting: false });
  const probes = { ...taken, opsPort: first.port };
  expect(listenProblem(refused, probes)).toMatchObject({ where: 'OPS_PORT', lasting: false });
});

test('an address of another machine is named', async () => {
  const addresses = { port: 0, opsPort: null, bindAddress: '203.0.113.9' };
  const refused = await openServers(addresses, PROBES).catch((error: unknown) => error);
  expect(listenProblem(refused, addresses)).toMatchObject({
    where: 'BIND_ADDRESS',
    problem: '203.0.113.9 is not an address of this machine',
  });
});

test('a port that this user may not open needs a person', () => {
  const addresses = { port: 80, opsPort: null, bindAddress: null };
  const refused = Object.assign(new Error('listen EACCES'), {
    ...{ code: 'EACCES', syscall: 'listen', port: 80 },
  });
  expect(listenProblem(refused, addresses)).toMatchObject({ where: 'PORT', lasting: true });
});

test.for<[string, unknown]>([
  ['another error', new Error('other')],
  ['no error', null],
  ['another call', Object.assign(new Error('open'), { code: 'EACCES', syscall: 'open' })],
  ['another reason', Object.assign(new Error('listen'), { code: 'EMFILE', syscall: 'listen' })],
])('%s is no problem of a port', ([, error]) => {
  const addresses = { port: 80, opsPort: null, bindAddress: null };
  expect(listenProblem(error, addresses)).toBeNull();
});
