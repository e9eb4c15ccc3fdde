import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import {
  atDoor,
  callingTools,
  modernCall,
  startDoor,
  withAgents,
  withOtherAgents,
} from '../harness/agents.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

/** Sends these bytes, and returns the socket with what was received so far. */
async function sendRaw(url: string, lines: readonly string[], body: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  const usual = ['POST /mcp HTTP/1.1', 'content-type: application/json', 'accept: */*'];
  socket.write(`${[...usual, ...lines].join('\r\n')}\r\n\r\n${body}`);
  return { received: () => received, closed: once(socket, 'close') };
}

const HOST = 'host: signalbox.example.com';

test('half a body holds neither a reload nor a stop', async () => {
  const door = await startDoor();
  const half = () => sendRaw(door.url, [HOST, 'content-length: 100'], '{');
  const stopping = 'HTTP/1.1 503';
  // The server has the beginning of both: it answers a later request.
  const first = await half();
  expect((await atDoor(door.url, { body: '{}' })).status).toBe(401);
  await door.reload(withAgents(door.issuer));
  await first.closed;
  expect(first.received()).toContain(stopping);

  const second = await half();
  expect((await atDoor(door.url, { body: '{}' })).status).toBe(401);
  await door.down();
  await second.closed;
  expect(second.received()).toContain(stopping);
});

test('a header that is given twice is refused: a proxy may have checked the other one', async () => {
  const { url, tokens } = await startDoor();
  const { headers, body } = modernCall('service_list', {});
  const right = [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...[HOST, `authorization: Bearer ${await tokens.ci()}`, `content-length: ${body.length}`],
    'connection: close',
  ];
  const status = async (...more: readonly string[]) => {
    const { closed, received } = await sendRaw(url, [...right, ...more], body);
    await closed;
    return received().slice(9, 12);
  };
  expect(await status()).toBe('200');
  for (const more of [
    'host: evil.example.com',
    `authorization: Bearer ${await tokens.person(ANA)}`,
    'content-type: text/plain',
    'mcp-name: service_stop',
    'transfer-encoding: chunked',
  ]) {
    expect([more, await status(more)]).toEqual([more, '400']);
  }
});

test('a file without the agent ends its wait and what it asked for, also what is approved', async () => {
  const door = await startDoor();
  const { clock, cloud, tokens, ...sandbox } = door;
  const ci = await callingTools(door.url, () => tokens.ci());
  const timed = await ci('service_scale', { service: 'ci', max: 64, at: '14:00' });
  await sandbox.press(BEN, await sandbox.card('ci'), 'change.approve');
  const id = timed.change;
  await expect.poll(async () => (await ci('request_status', { id })).state).toBe('approved');
  const asked = await ci('service_stop', { service: 'staging' });
  await sandbox.card('requests: stop staging');
  const waiting = ci('request_wait', { id: asked.change });
  await expect.poll(() => door.looks()).toBeGreaterThan(3);
  await sandbox.reload(
    withOtherAgents(door.issuer, (all) => all.filter(({ name }) => name !== 'ci')),
  );
  expect(await waiting).toMatchObject({ change: asked.change, state: 'pending' });
  clock.now = new Date('2026-11-20T14:00:30Z');
  sandbox.wake();
  await sandbox.card('Stop staging: not run');
  await sandbox.card('Scale ci: not run');
  expect([cloud.count('set state'), cloud.count('scale')]).toEqual([0, 0]);
});

test('in Slack its approvers cancel what an agent asked for itself, and nobody else does', async () => {
  const door = await startDoor();
  const { tokens, ...sandbox } = door;
  const ci = await callingTools(door.url, () => tokens.ci());
  const asked = await ci('service_stop', { service: 'staging', at: '20:00' });
  const card = await sandbox.card('staging');
  await sandbox.press(BEN, card, 'change.approve');
  const state = async () => (await ci('request_status', { id: asked.change })).state;
  await expect.poll(state).toBe('approved');
  await sandbox.press(DORA, await sandbox.card('staging'), 'change.cancel');
  await sandbox.privateMessage(DORA, 'Only @db-leads can decide this.');
  expect(await state()).toBe('approved');
  await sandbox.press(BEN, await sandbox.card('staging'), 'change.cancel');
  await expect.poll(state).toBe('cancelled');
  await sandbox.card('Cancelled by');
});

test('a server that does not answer is no internal error', async () => {
  const door = await startDoor();
  await door.reload(
    withOtherAgents(door.issuer, (all) => all.map((one) => ({ ...one, tools: ['alert list'] }))),
  );
  const ana = await callingTools(door.url, () => door.tokens.person(ANA));
  await door.alerts.stop();
  expect(await ana('alert_list', {})).toMatchObject({
    refusal: 'server-error',
    data: { error: 'The connection to the server failed.' },
  });
});
