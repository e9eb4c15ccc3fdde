import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SocketSettings } from '../../../sandbox/slack/delivery/socket-mode.ts';
import { SLACK_TIMEOUT_MS } from '../../harness/simulators.ts';
import { ana, general, socketBot, startSlack } from './bolt-app.ts';
import { clientOf, type SlackForTest } from './client.ts';

const DISPATCH_FAILED = '/service failed with the error "dispatch_failed"';

const slackWith = (settings: SocketSettings = {}, ackTimeoutMs = SLACK_TIMEOUT_MS) =>
  startSlack({ delivery: { mode: 'socket', ...settings }, ackTimeoutMs });

async function urlOf(slack: SlackForTest): Promise<string> {
  const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open({});
  return url;
}

/** A plain WebSocket to Slack, which acknowledges every envelope. */
async function connect(slack: SlackForTest) {
  const socket = new WebSocket(await urlOf(slack));
  onTestFinished(() => socket.terminate());
  const received: Record<string, unknown>[] = [];
  const events: string[] = [];
  socket.on('ping', () => events.push('ping'));
  socket.on('pong', () => events.push('pong'));
  socket.on('close', () => events.push('close'));
  socket.on('error', () => undefined);
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    received.push(message);
    const { envelope_id } = message;
    if (envelope_id) socket.send(JSON.stringify({ envelope_id }));
  });
  await expect.poll(() => received.length).toBeGreaterThan(0);
  return { socket, received, events };
}

const reasons = (received: readonly Record<string, unknown>[]) =>
  received.filter(({ type }) => type === 'disconnect').map(({ reason }) => reason);

test('two connections receive payloads in turn, each payload once', async () => {
  const slack = await slackWith();
  const received: string[] = [];
  for (const name of ['one', 'two']) {
    await socketBot(slack, (app) => {
      app.command('/service', async ({ ack }) => {
        received.push(name);
        await ack();
      });
    });
  }
  for (let n = 0; n < 4; n += 1) await slack.command(ana, general, '/service stop');
  expect(received.toSorted()).toEqual(['one', 'one', 'two', 'two']);
});

test('hello contains the app, the number of connections and the approximate time', async () => {
  const slack = await slackWith({ connectionTimeS: 18_060 });
  await connect(slack);
  const { received } = await connect(slack);
  expect(received[0]).toMatchObject({
    type: 'hello',
    num_connections: 2,
    connection_info: { app_id: 'A0SIGNALBOX' },
    debug_info: { approximate_connection_time: 18_060 },
  });
});

test.for(['warning', 'refresh_requested'] as const)(
  'a refresh announces "%s", then closes the oldest connection',
  async (reason) => {
    const slack = await slackWith();
    const [first, second] = [await connect(slack), await connect(slack)];
    const announced = Promise.withResolvers<void>();
    const closesWhen = () => announced.promise;
    const refreshed = slack.refreshSockets({ reason, closing: 'handshake', closesWhen });
    await expect.poll(() => reasons(first.received)).toEqual([reason]);
    expect([slack.connections(), first.events]).toEqual([2, []]);
    announced.resolve();
    await refreshed;
    expect(slack.connections()).toBe(1);
    await expect.poll(() => first.events).toEqual(['close']);
    expect(reasons(first.received)).toEqual([reason]);
    expect(second.socket.readyState).toBe(WebSocket.OPEN);
  },
);

test('a connection is warned 10 s before the end of its time, then refreshed', async () => {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const refreshWait = (ms: number) =>
    new Promise<void>((end) => {
      waits.push({ ms, end });
    });
  const slack = await slackWith({ connectionTimeS: 360, refreshWait });
  const { received, events } = await connect(slack);
  waits[0]?.end();
  await expect.poll(() => reasons(received)).toEqual(['warning']);
  expect(slack.connections()).toBe(1);
  waits[1]?.end();
  await expect.poll(() => events).toEqual(['close']);
  expect(reasons(received)).toEqual(['warning', 'refresh_requested']);
  expect(waits.map(({ ms }) => ms)).toEqual([350_000, 10_000]);
});

test('an abrupt closing sends neither a message nor a close frame', async () => {
  const slack = await slackWith();
  const { socket, received } = await connect(slack);
  const code = new Promise((resolve) => socket.once('close', resolve));
  await slack.refreshSockets({ reason: null, closing: 'reset' });
  expect(await code).toBe(1006);
  expect(reasons(received)).toEqual([]);
});

test('the TCP connection can stay open after the close handshake', async () => {
  const slack = await slackWith();
  // Unlike `ws`, the WebSocket of Node.js leaves the end of the TCP connection to the server.
  const sockets = [new globalThis.WebSocket(await urlOf(slack))];
  await expect.poll(slack.connections).toBe(1);
  sockets.push(new globalThis.WebSocket(await urlOf(slack)));
  await expect.poll(slack.connections).toBe(2);
  await slack.refreshSockets({ reason: null, closing: 'tcp-left-open' });
  await slack.refreshSockets({ reason: null, closing: 'handshake' });
  const states = () => sockets.map(({ readyState }) => readyState);
  await expect.poll(states).toEqual([WebSocket.CLOSING, WebSocket.CLOSED]);
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({
    error: DISPATCH_FAILED,
  });
});

test('Slack sends pings and answers the pings of the app', async () => {
  const slack = await slackWith({ pingMs: 5 });
  const { socket, events } = await connect(slack);
  socket.ping();
  await expect.poll(() => [...new Set(events)].toSorted()).toEqual(['ping', 'pong']);
});

test('a silent connection answers no ping and loses the payloads that it gets', async () => {
  const slack = await slackWith({}, 50);
  const { socket, events, received } = await connect(slack);
  slack.silenceOldestSocket();
  socket.ping();
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({
    error: DISPATCH_FAILED,
  });
  // Slack gives up after 50 ms, which may be before the payload arrives.
  await expect.poll(() => received).toHaveLength(2);
  expect(events).toEqual([]);
});

test('a ticket is valid for one connection', async () => {
  const slack = await slackWith();
  const url = await urlOf(slack);
  const tryIn = async () => {
    const socket = new WebSocket(url);
    onTestFinished(() => socket.terminate());
    return new Promise((resolve) => {
      socket.on('message', (data) => resolve(JSON.parse(String(data)).type));
      socket.on('error', () => resolve('refused'));
    });
  };
  expect([await tryIn(), await tryIn()]).toEqual(['hello', 'refused']);
});

test('an eleventh connection is refused a moment after its hello', async () => {
  const slack = await slackWith();
  for (let n = 0; n < 10; n += 1) await connect(slack);
  const { received } = await connect(slack);
  await expect.poll(() => received.map(({ type }) => type)).toEqual(['hello', 'disconnect']);
  expect(reasons(received)).toEqual(['too_many_websockets']);
  expect(slack.connections()).toBe(10);
});
