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
  /** Sends an object, or this form, with this timestamp; returns the status. */
  const post = async (time: string | null, form: string | null = null) => {
    const type = form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { ...type, ...(time !== null && { 'x-slack-request-timestamp': time }) };
    const url = `http://127.0.0.1:${port}`;
    return (await fetch(url, { method: 'POST', headers, body: form ?? '{}' })).status;
  };
  return { passed, server, port, post };
}

/** A request whose body is not complete yet. */
async function sending() {
  const { port, ...rest } = await listening();
  const socket = connect(port, '127.0.0.1');
  const time = `x-slack-request-timestamp: ${Math.floor(Date.now() / 1_000)}`;
  const head = ['POST / HTTP/1.1', 'host: x', time, 'connection: close', 'content-length: 10'];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return { ...rest, socket };
}

test('a body that arrives in pieces is passed on whole', async () => {
  const { passed, server, socket } = await sending();
  const [request] = await once(server, 'request');
  socket.write('{"a":');
  await once(request, 'data');
  socket.write('"bc"}');
  await once(socket.resume(), 'end');
  expect(passed).toEqual(['{"a":"bc"}']);
});

test('a body that breaks off is not passed on', async () => {
  const { passed, server, socket } = await sending();
  const [request, response] = await once(server, 'request');
  socket.write('{"a":1}');
  await once(request, 'data');
  const closed = new Promise((ended) => request.on('close', ended));
  socket.destroy();
  await closed;
  await expect.poll(() => response.statusCode).toBe(400);
  expect(passed).toEqual([]);
});

function seconds(fromNow: number): string {
  return String(Math.floor(Date.now() / 1_000) + fromNow);
}

test.for<[string, string | null]>([
  ['six minutes old', seconds(-360)],
  ['from tomorrow', seconds(86_400)],
  ['six minutes early', seconds(360)],
  ['missing', null],
  ['empty', ''],
  ['not a number', 'NaN'],
  ['negative', `-${seconds(0)}`],
  ['endless', 'Infinity'],
  ['in other digits', `0x${Math.floor(Date.now() / 1_000).toString(16)}`],
  ['written with an exponent', `${Date.now() / 1e12}e9`],
  ['given in milliseconds', String(Date.now())],
  ['given twice', `${seconds(0)}, ${seconds(0)}`],
])(
  'a delivery with a timestamp that is %s is refused before Bolt reads it',
  async ([, timestamp]) => {
    const { post, passed } = await listening();
    expect(await post(timestamp)).toBe(401);
    expect(passed).toEqual([]);
  },
);

test.for([0, -240, 240])('a delivery that is %i s off is accepted', async (off) => {
  const { post, passed } = await listening();
  expect(await post(seconds(off))).toBe(200);
  expect(passed).toEqual(['{}']);
});

test.for([
  ['payload=nonsense', 400],
  ['text=a&payload=%5B%5D', 400],
  // Bolt reads the name without its escapes.
  ['text=a&pay%6Coad=nonsense', 400],
  ['payload=%7B%7D&payload=%7B%7D', 400],
  ['pay%6Coad=%7B%7D', 200],
  ['command=%2Fservice&text=payload%3Dnonsense', 200],
] as const)('the form %s is answered with %i', async ([form, status]) => {
  const { post, passed } = await listening();
  expect(await post(seconds(0), form)).toBe(status);
  expect(passed).toEqual(status === 200 ? [form] : []);
});
