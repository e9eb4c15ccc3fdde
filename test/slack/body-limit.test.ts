import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { withValidBody } from '../../src/slack/deliveries.ts';

/** A server that records the bodies that are passed on. */
async function listening() {
  const passed: unknown[] = [];
  const listener = withValidBody((request, response) => {
    passed.push(String(Reflect.get(request, 'rawBody')));
    response.end();
  });
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\n');
  return { passed, server, socket };
}

test('a body that arrives in pieces is passed on whole', async () => {
  const { passed, server, socket } = await listening();
  const [request] = await once(server, 'request');
  socket.write('{"a":');
  await once(request, 'data');
  socket.write('"bc"}');
  await once(socket.resume(), 'end');
  expect(passed).toEqual(['{"a":"bc"}']);
});

test('a body that breaks off is not passed on', async () => {
  const { passed, server, socket } = await listening();
  const [request, response] = await once(server, 'request');
  socket.write('{"a":1}');
  await once(request, 'data');
  const closed = new Promise((ended) => request.on('close', ended));
  socket.destroy();
  await closed;
  await expect.poll(() => response.statusCode).toBe(400);
  expect(passed).toEqual([]);
});
