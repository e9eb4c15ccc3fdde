import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SocketSettings } from '../../sandbox/slack/delivery/socket-mode.ts';
import type { Closing } from '../../sandbox/slack/delivery/socket-refresh.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import { Secret } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { type Clock, systemClock } from '../../src/base/time.ts';
import { tokenProblem } from '../../src/slack/api.ts';
import type { Payload } from '../../src/slack/sockets.ts';
import { keepConnections } from '../../src/slack/sockets.ts';
import { ANA } from '../harness/users.ts';
import { clientOf, type SlackForTest } from '../sandbox/slack/client.ts';

interface Options extends SocketSettings {
  /** Handles a payload; by default it acknowledges. */
  readonly receive?: (payload: Payload) => void;
  /** Requests the URL of the first connection before, as a start does. */
  readonly firstUrl?: 'new' | 'used';
  /** Replaces the timeouts of the clock. */
  readonly timeout?: Clock['timeout'];
}

/** Slack and the connections of one replica, on a clock that the test advances. */
async function connected({ receive, firstUrl, timeout, ...settings }: Options = {}) {
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: { mode: 'socket', ...settings },
    // A loaded machine may exceed Slack's three seconds.
    ackTimeoutMs: 20_000,
  });
  onTestFinished(slack.stop);
  const time = { ms: 0 };
  const sleeps: number[] = [];
  const clock = {
    ...systemClock,
    now: () => time.ms,
    sleep: async (ms: number) => {
      sleeps.push(ms);
      await turn();
    },
    random: () => 0,
    ...(timeout ? { timeout } : {}),
  };
  const refusals: string[] = [];
  const others: number[] = [];
  const warnings: string[] = [];
  let check = () => {};
  const every = (work: () => void, ms: number) => {
    check = work;
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  };
  /** Checks the connections; what that begins has reached Slack before the second answer. */
  const checkNow = async () => {
    check();
    for (let n = 0; n < 2; n += 1) await fetch(`${slack.apiUrl}api.test`);
  };
  const connections = keepConnections({
    every,
    appToken: new Secret(slack.appToken),
    slackApiUrl: slack.apiUrl,
    isProxied: false,
    fetch,
    log: createLog({ level: 'warn' }, { write: (line) => warnings.push(line) }),
    clock,
    receive: receive ?? ((payload) => void payload.ack()),
    firstUrl: firstUrl ? await socketUrl(slack, firstUrl) : null,
    onOthers: (count) => others.push(count),
    onRefused: (error) => refusals.push(tokenProblem(error).says),
  });
  onTestFinished(connections.close);
  const opened = () => slack.calls('apps.connections.open').length;
  const command = () => slack.command(ANA, 'ops', '/service list');
  const open = async () => {
    await connections.open();
    await expect.poll(slack.connections).toBe(2);
    // The bot counts a connection from its hello on, which may be on its way. It reads that before a payload.
    if (!receive) for (let n = 0; n < 2; n += 1) await command();
  };
  return {
    ...{ slack, connections, opened, open, command, sleeps, refusals, others, time, checkNow },
    outageLines: () => warnings.filter((line) => line.includes('no new Socket Mode connection')),
    endLines: () => warnings.filter((line) => line.includes('ended unannounced')),
  };
}

/** The connections of one replica, both of which are open. */
async function openedConnections(options: Options = {}) {
  const all = await connected(options);
  await all.open();
  return all;
}

const never = () => new Promise<void>(() => undefined);

/** A URL of a connection; Slack accepts a used one no more. */
async function socketUrl(slack: SlackForTest, state: 'new' | 'used'): Promise<string> {
  const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open({});
  if (state === 'new') return url;
  const socket = new WebSocket(url);
  await once(socket, 'message');
  socket.terminate();
  await expect.poll(slack.connections).toBe(0);
  return url;
}

const opens = (times: number, error: string) =>
  ({ method: 'apps.connections.open', times, how: { error } }) as const;

test('two connections are open, and a payload on either is handled once', async () => {
  const envelopes: string[] = [];
  const receive = (payload: Payload) => {
    envelopes.push(payload.envelope_id);
    void payload.ack();
  };
  const { command, connections, opened } = await openedConnections({ receive });
  for (let n = 0; n < 4; n += 1) expect(await command()).toMatchObject({ error: null });
  expect(new Set(envelopes).size).toBe(4);
  expect(envelopes).toHaveLength(4);
  expect(opened()).toBe(2);
  expect(connections.isOpen()).toBe(true);
});

test.for([
  ['uses', 'new', 2],
  ['replaces', 'used', 3],
] as const)('the first connection %s a %s URL of the start', async ([, firstUrl, calls]) => {
  const { opened, command } = await openedConnections({ firstUrl });
  expect(opened()).toBe(calls);
  expect(await command()).toMatchObject({ error: null });
});

test.for(['warning', 'refresh_requested'] as const)(
  'after "%s" the replacement is open before the old connection is closed',
  async (reason) => {
    const { slack, open, command } = await connected();
    await open();
    void slack.refreshSockets({ reason, closing: 'handshake', closesWhen: never });
    await expect.poll(slack.connections).toBe(3);
    for (let n = 0; n < 3; n += 1) expect(await command()).toMatchObject({ error: null });
    expect(slack.connections()).toBe(3);
  },
);

test('a connection is replaced before its approximate time ends', async () => {
  const { slack, opened, time, checkNow } = await openedConnections({ connectionTimeS: 3_600 });
  time.ms = 3_600_000 - 31_000;
  await checkNow();
  expect(opened()).toBe(2);
  time.ms = 3_600_000 - 29_000;
  await expect.poll(slack.connections).toBe(4);
});

test('a replaced connection that Slack does not close is closed after a minute', async () => {
  const { slack, time } = await openedConnections();
  void slack.refreshSockets({ reason: 'warning', closing: 'handshake', closesWhen: never });
  await expect.poll(slack.connections).toBe(3);
  time.ms = 61_000;
  await expect.poll(slack.connections).toBe(2);
});

test.for<Closing>(['handshake', 'reset', 'tcp-left-open'])(
  'a connection that Slack closes without a message (%s) is replaced without a wait',
  async (closing) => {
    const { slack, open, opened, sleeps, connections } = await connected();
    await open();
    await slack.refreshSockets({ reason: null, closing });
    expect(connections.isOpen()).toBe(true);
    await expect.poll(slack.connections).toBe(2);
    expect(opened()).toBe(3);
    expect(sleeps).toEqual([]);
  },
);

test('a payload whose connection is closed is acknowledged over the other one', async () => {
  const received: Payload[] = [];
  const { slack, command } = await openedConnections({ receive: (each) => received.push(each) });
  const delivery = command();
  await expect.poll(() => received.length).toBe(1);
  await slack.refreshSockets({ reason: null, closing: 'handshake', which: 'oldest' });
  await expect.poll(slack.connections).toBe(2);
  await received[0]?.ack();
  expect(await delivery).toMatchObject({ error: null });
});

test('an acknowledgement that an abrupt closing loses is sent again over the other one', async () => {
  const acknowledged: Payload[] = [];
  const receive = (payload: Payload) => void payload.ack().then(() => acknowledged.push(payload));
  const { slack, command } = await openedConnections({ receive });
  slack.silenceOldestSocket();
  const delivery = command();
  await expect.poll(() => acknowledged.length).toBe(1);
  await slack.refreshSockets({ reason: null, closing: 'reset' });
  expect(await delivery).toMatchObject({ error: null });
});

test('it is not connected only while no connection is open', async () => {
  const { slack, open, connections } = await connected();
  expect(connections.isOpen()).toBe(false);
  await open();
  slack.failNext(opens(10_000, 'internal_error'));
  await slack.refreshSockets({ reason: null, closing: 'handshake', which: 'all' });
  await expect.poll(connections.isOpen).toBe(false);
  slack.clearFaults();
  await expect.poll(slack.connections).toBe(2);
  expect(connections.isOpen()).toBe(true);
});

const limits = (times: number, retryAfterSeconds: number) => {
  const how = 'rate-limited';
  return { method: 'apps.connections.open', times, how, retryAfterSeconds } as const;
};

const WAITS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

type Case = [string, Parameters<SlackForTest['failNext']>[0], readonly number[]];

// The test's random number halves each wait.
test.for<Case>([
  ['after 1, 2, 4 … at most 30 s', opens(7, 'internal_error'), [...WAITS, 15_000]],
  ['at a rate limit when Slack says so', limits(1, 17), [17_000]],
])('a failed replacement is retried %s', async ([, fault, waits]) => {
  const { slack, sleeps, outageLines } = await openedConnections();
  slack.failNext(fault);
  await slack.refreshSockets({ reason: null, closing: 'handshake' });
  await expect.poll(slack.connections).toBe(2);
  expect(sleeps).toEqual(waits);
  expect(outageLines()).toHaveLength(1);
});

test.for<Case>([
  ['while Slack fails', opens(2, 'internal_error'), [500, 1_000]],
  ['at a rate limit when Slack says so', limits(2, 60), [60_000, 60_000]],
])('the first connection is retried %s', async ([, fault, waits]) => {
  const { slack, open, sleeps, outageLines } = await connected();
  slack.failNext(fault);
  await open();
  expect(sleeps).toEqual(waits);
  expect(outageLines()).toHaveLength(1);
});

test('an opening that only a person can repair is refused at once', async () => {
  const { slack, connections, sleeps } = await connected();
  slack.failNext(opens(1, 'invalid_auth'));
  await expect(connections.open()).rejects.toThrow('invalid_auth');
  expect(sleeps).toEqual([]);
});

test('a stop ends the retries of the first connection', async () => {
  const { slack, connections } = await connected();
  slack.failNext(opens(10_000, 'internal_error'));
  const opening = connections.open();
  await connections.close();
  await opening;
  expect(connections.isOpen()).toBe(false);
});

test.for(['invalid_auth', 'token_revoked', 'socket_mode_not_enabled', 'missing_scope'])(
  'a replacement that Slack refuses with %s is reported once and not retried',
  async (error) => {
    const { slack, open, opened, refusals, sleeps, checkNow } = await connected();
    await open();
    slack.failNext(opens(99, error));
    await slack.refreshSockets({ reason: null, closing: 'handshake' });
    await expect.poll(() => refusals.length).toBe(1);
    await slack.refreshSockets({ reason: null, closing: 'handshake' });
    await checkNow();
    expect([refusals.length, opened(), sleeps]).toEqual([1, 3, []]);
  },
);

test('a stop ends a TCP connection that Slack leaves open after 0.5 s', async () => {
  const waits = new Map<AbortController, number>();
  const timeout = (ms: number) => {
    const late = new AbortController();
    waits.set(late, ms);
    return late.signal;
  };
  const { slack, connections } = await openedConnections({ leaveTcpOpen: true, timeout });
  const closed = connections.close().then(() => 'closed');
  await expect.poll(() => [...waits.values()]).toEqual([500, 500]);
  for (const late of waits.keys()) late.abort();
  expect(await Promise.race([closed, turn('still open')])).toBe('closed');
  expect(connections.isOpen()).toBe(false);
  await expect.poll(slack.connections).toBe(0);
});

test('a stop waits for the acknowledgement of a received payload', async () => {
  const received: Payload[] = [];
  const { open, command, connections } = await connected({
    receive: (each) => received.push(each),
  });
  await open();
  const delivery = command();
  await expect.poll(() => received.length).toBe(1);
  const closed = connections.close();
  await turn();
  await received[0]?.ack();
  expect(await delivery).toMatchObject({ error: null });
  await closed;
});

test('a stop during a replacement leaves no connection open', async () => {
  let accepted = 0;
  const stopped = Promise.withResolvers<void>();
  // Slack calls this for each connection that it has accepted, before the client has read its hello.
  const refreshWait = () => {
    accepted += 1;
    if (accepted === 3) stopped.resolve(connections.close());
    return never();
  };
  const { slack, connections } = await openedConnections({ refreshWait });
  void slack.refreshSockets({ reason: 'warning', closing: 'handshake', closesWhen: never });
  await stopped.promise;
  await expect.poll(slack.connections).toBe(0);
  expect(accepted).toBe(3);
});

/** Connections of another program with the same app token. */
async function foreign(slack: SlackForTest, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open({});
    const socket = new WebSocket(url);
    onTestFinished(() => socket.terminate());
    await once(socket, 'message');
  }
}

test('a connection that Slack refuses after its hello is tried again ever more slowly', async () => {
  const { slack, connections, sleeps, opened } = await connected();
  await foreign(slack, 9);
  await connections.open();
  await expect.poll(() => sleeps.length).toBeGreaterThan(6);
  expect(sleeps.slice(0, 6)).toEqual(WAITS);
  expect(opened()).toBeLessThan(9 + 6 + sleeps.length);
  expect(connections.isOpen()).toBe(true);
});

test.for([
  { num_connections: undefined },
  { num_connections: null, debug_info: null },
  { num_connections: 'two', debug_info: { approximate_connection_time: '3600' } },
  { num_connections: 0, debug_info: { approximate_connection_time: 0 } },
  { num_connections: -1, debug_info: { approximate_connection_time: -5 } },
  { connection_info: null, debug_info: [] },
])('a hello with %j keeps its connection', async (hello) => {
  const { slack, opened, command, sleeps, time, checkNow } = await openedConnections({ hello });
  time.ms = 30_000;
  await checkNow();
  expect([opened(), slack.connections(), sleeps]).toEqual([2, 2, []]);
  expect(await command()).toMatchObject({ error: null });
});

test('connections that end in a regular rhythm are replaced at once, and reported once a minute', async () => {
  const { slack, opened, time, sleeps, checkNow, endLines, command } = await openedConnections();
  for (let round = 1; round <= 6; round += 1) {
    time.ms += 12_000;
    await slack.refreshSockets({ reason: null, closing: 'reset', which: 'all' });
    await checkNow();
    await expect.poll(slack.connections).toBe(2);
    expect(await command()).toMatchObject({ error: null });
  }
  expect(opened()).toBe(2 + 6 * 2);
  expect(sleeps).toEqual([]);
  expect(endLines().length).toBeGreaterThan(0);
  expect(endLines().length).toBeLessThan(4);
});

test('connections of another program with the same token are counted', async () => {
  const { slack, connections, others } = await connected();
  await foreign(slack, 3);
  await connections.open();
  await expect.poll(() => others).toEqual([3, 3]);
});

test('an event without a type neither ends the process nor the connection', async () => {
  const { slack, command } = await openedConnections();
  await slack.openHome({ as: ANA });
  const [event] = slack.events();
  delete Object(event?.payload).event;
  // Nothing acknowledges this event, so the test does not wait for it.
  void slack.redeliver(event?.id ?? '');
  // One of them arrives after the event on its connection.
  for (let n = 0; n < 2; n += 1) expect(await command()).toMatchObject({ error: null });
  expect(slack.connections()).toBe(2);
});

test('a refusal of Slack that is named like a part of every object is one word', () => {
  const refused = { code: 'slack_webapi_platform_error', data: { error: 'constructor' } };
  const { says } = tokenProblem(Object.assign(new Error('refused'), refused));
  expect(says).toBe('Slack refuses: constructor');
});
