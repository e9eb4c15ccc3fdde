import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ApiError, Secret } from '../../src/base/errors.ts';
import type { Call, HttpOptions, Observation } from '../../src/base/http.ts';
import { systemClock } from '../../src/base/time.ts';
import {
  breakOff,
  httpClient as client,
  fallSilent,
  GATEWAY_PAGE,
  hangUp,
  json,
  type Respond,
  raw,
  serve,
  testClock,
} from './loopback.ts';

const READ: Call = { operation: 'getThing', method: 'GET', path: '/v1/thing' };
const WRITE: Call = { operation: 'makeThing', method: 'POST', path: '/v1/thing', body: { a: 1 } };
const OK = json(200, { result: {}, requestId: 'r-1' });

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof ApiError)) throw new Error('expected an ApiError', { cause: error });
  return error;
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('a request', () => {
  test('has identification, accepted types and the body', async () => {
    const server = await serve(OK);
    await client(`${server.url}/base`).send({ ...WRITE, query: { day: '2026-11-01' } });
    const headers = {
      ...{ authorization: 'Bearer canary-token', 'user-agent': 'signalbox/1.2.3' },
      ...{ 'content-type': 'application/json', accept: 'application/json' },
    };
    const query = { day: '2026-11-01' };
    expect(server.received).toMatchObject([
      { method: 'POST', path: '/base/v1/thing', query, body: { a: 1 }, headers },
    ]);
  });

  test('a read has no body and no content type', async () => {
    const server = await serve(OK);
    await client(server.url).send(READ);
    expect(server.received[0]?.text).toBe('');
    expect(server.received[0]?.headers).not.toHaveProperty('content-type');
  });

  test('uses its own connection, so that a closing one cannot lose it', async () => {
    const server = await serve(OK);
    await client(server.url).send(WRITE);
    expect(server.received[0]?.headers.connection).toBe('close');
  });

  test.each([200, 201, 202, 204])('succeeds with status %i', async (status) => {
    const server = await serve(raw(status, ''));
    await expect(client(server.url).send(WRITE)).resolves.toMatchObject({ status });
  });
});

describe('a write is sent once', () => {
  test.for<[string, Respond, ApiError['effect'], ApiError['kind']]>([
    ['refuses it', json(400, { error: 'BAD_REQUEST: no' }), 'refused', 'answer'],
    ['does not know the key', json(401, { error: 'UNAUTHORIZED: x' }), 'refused', 'answer'],
    ['forbids it', json(403, { message: 'Forbidden' }), 'refused', 'answer'],
    ['does not know the target', json(404, { error: 'NOT_FOUND: id' }), 'refused', 'answer'],
    ['has a page for unknown routes', raw(404, '<html>no</html>'), 'refused', 'wrong-address'],
    ['answers 422', json(422, { message: 'no' }), 'refused', 'answer'],
    ['answers 424', json(424, { error: 'FAILED_DEPENDENCY: idle' }), 'refused', 'answer'],
    ['turns it away by its rate limit', json(429, { error: 'wait' }), 'not-sent', 'rate-limit'],
    ['is behind a proxy that forbids it', raw(403, GATEWAY_PAGE), 'unknown', 'foreign-answer'],
    ['is behind a proxy that says so', raw(403, 'Blocked'), 'unknown', 'foreign-answer'],
    ['refuses the key as text', raw(401, 'Unauthorized'), 'refused', 'answer'],
    ['timed out itself', json(408, { error: 'timeout' }), 'unknown', 'answer'],
    ['sees a conflict', json(409, { error: 'CONFLICT: busy' }), 'unknown', 'answer'],
    ['fails', json(500, { message: 'Something went wrong :(' }), 'unknown', 'answer'],
    ['sits behind a broken gateway', raw(502, 'Bad gateway'), 'unknown', 'answer'],
    ['is overloaded', raw(503, ''), 'unknown', 'answer'],
    ['is slower than its gateway', raw(504, GATEWAY_PAGE), 'unknown', 'answer'],
    ['hangs up', hangUp, 'unknown', 'connection-lost'],
    ['redirects', raw(307, '', { location: '/elsewhere' }), 'unknown', 'redirect'],
  ])('and fails with the known effect when the server %s', async ([, answer, effect, kind]) => {
    const server = await serve(answer, OK);
    const error = await failureOf(client(server.url).send(WRITE));
    expect(error).toMatchObject({ effect, kind, operation: 'makeThing' });
    expect(server.received).toHaveLength(1);
  });

  test('when the deadline passes before the server answers', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = await serve(() => arrive());
    const { send, clock } = client(server.url);
    const failing = failureOf(send(WRITE));
    await arrived;
    clock.expire();
    expect(await failing).toMatchObject({ effect: 'unknown', kind: 'deadline', status: null });
    expect(server.received).toHaveLength(1);
  });

  test.for<[string, 'deadline' | 'terminated']>([
    ['its time is over', 'deadline'],
    ['the process must exit', 'terminated'],
  ])('and was not answered when only a part came before %s', async ([, kind]) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const server = await serve((...exchange) => {
      fallSilent(...exchange);
      setTimeout(begin, 50);
    });
    const leaving = new AbortController();
    const { send, clock } = client(server.url, { leaving: leaving.signal });
    const failing = failureOf(send(WRITE));
    await begun;
    if (kind === 'deadline') clock.expire();
    else leaving.abort();
    expect(await failing).toMatchObject({ effect: 'unknown', kind, status: null });
  });

  test('when the connection is refused', async () => {
    const error = await failureOf(client(`http://127.0.0.1:${await unusedPort()}`).send(WRITE));
    expect(error).toMatchObject({ effect: 'not-sent', kind: 'no-connection', status: null });
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('when the name of the server does not resolve', async () => {
    const error = await failureOf(client('http://no-such-server.invalid').send(WRITE));
    const sentence = 'The name of the server or of its proxy did not resolve.';
    expect(error).toMatchObject({ effect: 'not-sent', kind: 'no-name', sentence });
  });

  test('when the server does not support TLS', async () => {
    const server = await serve(OK);
    const error = await failureOf(client(`https://127.0.0.1:${server.port}`).send(WRITE));
    expect(error).toMatchObject({ effect: 'not-sent', kind: 'no-connection' });
    expect(server.received).toHaveLength(0);
  });

  test('and succeeds when the answer breaks off after a 200', async () => {
    const server = await serve(breakOff);
    const answer = await client(server.url).send(WRITE);
    expect(answer).toMatchObject({ status: 200, body: { kind: 'cut' }, requestId: null });
  });

  test('and follows no redirect, not even a 307', async () => {
    const target = await serve(OK);
    const server = await serve(raw(307, '', { location: `${target.url}/v1/thing` }));
    await failureOf(client(server.url).send(WRITE));
    expect(target.received).toHaveLength(0);
  });
});

describe('a read is repeated', () => {
  const overloaded = raw(503, '');
  const inMs = (header: string) => raw(429, 'wait', { 'retry-after': header });

  test.for<[string, Respond, number]>([
    ['hung up', hangUp, 500],
    ['broke off in the middle', breakOff, 500],
    ['asked to wait', inMs('3'), 3_000],
    ['asked to wait and says nothing', raw(429, '<html>wait</html>'), 10_000],
    ['failed once', json(500, { message: 'oops' }), 500],
    ['sat behind a broken gateway', raw(502, 'Bad gateway'), 500],
    ['was overloaded', overloaded, 500],
    ['was slower than its gateway', raw(504, GATEWAY_PAGE), 500],
  ])('when the server %s', async ([, answer, pause]) => {
    const server = await serve(answer, OK);
    const { send, clock } = client(server.url);
    expect(await send(READ)).toMatchObject({ status: 200 });
    expect(server.received).toHaveLength(2);
    expect(clock.slept).toEqual([pause]);
  });

  test.for<[string, Respond, number, object]>([
    ['at most three times', overloaded, 3, { status: 503, effect: 'unknown' }],
    ['once only after a 500', json(500, { message: 'oops' }), 2, { status: 500 }],
    ['not when the wait is too long', inMs('60'), 1, { effect: 'not-sent', retryAfterMs: 60_000 }],
  ])('%s', async ([, answer, times, failure]) => {
    const server = await serve(answer);
    expect(await failureOf(client(server.url).send(READ))).toMatchObject(failure);
    expect(server.received).toHaveLength(times);
  });

  test('with pauses of up to four seconds', async () => {
    const server = await serve(overloaded, OK);
    const clock = { ...testClock(), random: () => 0.9999 };
    await client(server.url, { clock }).send(READ);
    expect(clock.slept).toEqual([4000]);
  });

  test('when the connection fails', async () => {
    const { send, clock } = client(`http://127.0.0.1:${await unusedPort()}`);
    expect(await failureOf(send(READ))).toMatchObject({ kind: 'no-connection' });
    expect(clock.slept).toHaveLength(2);
  });

  test.each([400, 401, 403, 404, 409, 422, 424])('never after a %i', async (status) => {
    const server = await serve(json(status, { error: 'NO: no' }), OK);
    await failureOf(client(server.url).send(READ));
    expect(server.received).toHaveLength(1);
  });

  test('not when the deadline has passed', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = await serve(() => arrive(), OK);
    const clock = testClock();
    const { send } = client(server.url, { clock, timing: { deadlineMs: 400 } });
    const failing = failureOf(send(READ));
    await arrived;
    clock.expire();
    expect(await failing).toMatchObject({ kind: 'deadline' });
    expect(server.received).toHaveLength(1);
  });
});

describe('the request budget', () => {
  test('the wait for a place is observed apart from the time of the request', async () => {
    const server = await serve(OK);
    const waits: number[] = [];
    const observe = ({ waitedMs }: Observation) => waits.push(waitedMs);
    const limit = { requests: 1, reads: 1, perMs: 10_000 };
    const { send } = client(server.url, { limit, observe });
    await send(READ);
    await send(READ);
    expect(waits).toEqual([0, 10_000]);
  });

  test('a write uses a place that reads leave free', async () => {
    const server = await serve(OK);
    const { send, clock } = client(server.url, { limit: { requests: 10, perMs: 10_000 } });
    await Promise.all(Array.from({ length: 7 }, () => send(READ)));
    await send({ ...WRITE, priority: 'background' });
    expect(clock.slept).toEqual([]);
    await send(READ);
    expect(clock.slept).toEqual([10_000]);
  });

  test('a write that cannot start in time is not sent', async () => {
    const server = await serve(OK);
    const limit = { requests: 1, perMs: 30_000 };
    const { send } = client(server.url, { limit });
    await send(READ);
    const error = await failureOf(send(WRITE));
    expect(error).toMatchObject({ effect: 'not-sent', kind: 'budget', retryAfterMs: 30_000 });
    expect(server.received).toHaveLength(1);
  });

  test('a read that cannot start in time is not repeated', async () => {
    const server = await serve(OK);
    const limit = { requests: 1, perMs: 60_000 };
    const { send, clock } = client(server.url, { limit });
    await send(READ);
    expect(await failureOf(send(READ))).toMatchObject({ kind: 'budget' });
    expect(clock.slept).toEqual([]);
  });

  test('a repetition that could start only at the deadline is not sent', async () => {
    const server = await serve(raw(503, ''), OK);
    const limit = { requests: 1, perMs: 40_000 };
    await failureOf(client(server.url, { limit }).send(READ));
    expect(server.received).toHaveLength(1);
  });

  test('a 429 pauses all requests until the wait time has passed', async () => {
    const server = await serve(raw(429, 'wait', { 'retry-after': '20' }), OK);
    const { send } = client(server.url);
    await failureOf(send(WRITE));
    expect(await failureOf(send(WRITE))).toMatchObject({
      ...{ effect: 'not-sent', kind: 'paused', retryAfterMs: 20_000 },
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('an aborted read', () => {
  const silent: Respond = () => undefined;

  function patient(url: string, options: Partial<HttpOptions> = {}) {
    const patience = new AbortController();
    const { send } = client(url, options);
    return { patience, failure: () => failureOf(send({ ...READ, signal: patience.signal })) };
  }

  test('during a request fails and is not repeated', async () => {
    const server = await serve(silent);
    const { patience, failure } = patient(server.url);
    const failed = failure();
    await expect.poll(() => server.received.length).toBe(1);
    patience.abort();
    expect(await failed).toMatchObject({ kind: 'stopping' });
    expect(server.received).toHaveLength(1);
  });

  test('before a repetition is not sent again', async () => {
    const server = await serve(raw(503, ''), OK);
    const clock = testClock();
    const { patience, failure } = patient(server.url, {
      clock: { ...clock, sleep: async () => patience.abort() },
    });
    expect(await failure()).toMatchObject({ kind: 'stopping' });
    expect(server.received).toHaveLength(1);
  });

  test('in the queue is never sent', async () => {
    const server = await serve(OK);
    const limit = { requests: 1, perMs: 10_000 };
    const { patience, failure } = patient(server.url, {
      limit,
      clock: { ...testClock(), sleep: async () => patience.abort() },
    });
    const [, second] = await Promise.all([failure(), failure()]);
    expect(second).toMatchObject({ kind: 'stopping' });
    expect(server.received.length).toBeLessThanOrEqual(1);
  });
});

test('a hanging API holds at most as many connections as the limit, and none after the stop', async () => {
  const server = await serve(() => undefined);
  const leaving = new AbortController();
  const { expire, timeout } = testClock();
  const { send } = client(server.url, {
    leaving: leaving.signal,
    limit: { requests: 10, perMs: 60_000 },
    timing: { deadlineMs: 90_000, writeWaitMs: 80_000 },
    clock: { ...systemClock, timeout },
  });
  const failing = Array.from({ length: 1_000 }, () => failureOf(send(WRITE)));
  await expect.poll(() => server.received.length).toBe(10);
  expect(await server.connections()).toBe(10);
  expire();
  await expect.poll(server.connections).toBe(0);
  leaving.abort();
  const kinds = (await Promise.all(failing)).map(({ kind }) => kind);
  const count = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
  // Requests that were sent, requests in the queue, and requests that found the queue full.
  expect([count('deadline'), count('stopping'), count('budget')]).toEqual([10, 200, 790]);
});

describe('when the process must exit', () => {
  const silent: Respond = () => undefined;

  test('the effect of a sent write is unknown, and it is not repeated', async () => {
    const server = await serve(silent);
    const leaving = new AbortController();
    const failed = failureOf(client(server.url, { leaving: leaving.signal }).send(WRITE));
    await expect.poll(() => server.received.length).toBe(1);
    leaving.abort();
    expect(await failed).toMatchObject({ effect: 'unknown', kind: 'terminated', status: null });
    expect(server.received).toHaveLength(1);
  });

  test('a queued write is not sent', async () => {
    const server = await serve(silent);
    const leaving = new AbortController();
    const { send } = client(server.url, {
      leaving: leaving.signal,
      limit: { requests: 1, perMs: 10_000 },
      // With the test clock a wait would end at once.
      clock: systemClock,
    });
    const both = [failureOf(send(WRITE)), failureOf(send(WRITE))];
    await expect.poll(() => server.received.length).toBe(1);
    leaving.abort();
    const [first, second] = await Promise.all(both);
    expect(first).toMatchObject({ effect: 'unknown', kind: 'terminated' });
    expect(second).toMatchObject({ effect: 'not-sent', kind: 'stopping' });
    expect(server.received).toHaveLength(1);
  });

  test('a read that a change needs is aborted as well', async () => {
    const server = await serve(silent);
    const leaving = new AbortController();
    const failed = failureOf(client(server.url, { leaving: leaving.signal }).send(READ));
    await expect.poll(() => server.received.length).toBe(1);
    leaving.abort();
    expect(await failed).toMatchObject({ kind: 'stopping' });
  });
});

describe('an answer is read by its content', () => {
  const value = { result: { name: 'ö' }, requestId: 'r-1' };
  const text = JSON.stringify(value);

  test.for<[string, Respond]>([
    ['is announced as HTML', raw(200, text, { 'content-type': 'text/html' })],
    ['has no content type', raw(200, text)],
    ['begins with a byte order mark', raw(200, `\uFEFF${text}`)],
    ['is packed', raw(200, gzipSync(text), { 'content-encoding': 'gzip' })],
    ['is packed and nobody says so', raw(200, gzipSync(text))],
  ])('when it %s', async ([, answer]) => {
    const server = await serve(answer);
    const { body, requestId } = await client(server.url).send(READ);
    expect(body).toEqual({ kind: 'json', value });
    expect(requestId).toBe('r-1');
  });

  test.for<[string, Respond, string]>([
    ['nothing', raw(200, ''), 'empty'],
    ['a page', raw(200, GATEWAY_PAGE), 'html'],
    ['half an object', raw(200, '{"result":{"na'), 'cut'],
    ['half an object as text', raw(200, '{"result":{', { 'content-type': 'text/html' }), 'text'],
    ['a list of words', raw(200, '[proxy] Request blocked'), 'text'],
    ['words in quotes', raw(200, '"Request blocked" by administrator'), 'text'],
    ['words in braces', raw(200, '{Request blocked} by administrator'), 'text'],
    ['a word as a member', raw(200, '{"status": Request, "by": "the administrator"'), 'text'],
    ['a part of an archive', raw(200, gzipSync('<html>Sign in</html>').subarray(0, 25)), 'html'],
    ['a broken archive', raw(200, Buffer.from([0x1f, 0x8b, 0, 1])), 'unreadable'],
    ['more than we keep', raw(200, 'x'.repeat(17 * 1024 * 1024)), 'unreadable'],
    ['a bomb', raw(200, gzipSync('x'.repeat(17 * 1024 * 1024))), 'unreadable'],
  ])('and %s is recognized', async ([, answer, kind]) => {
    const server = await serve(answer);
    await expect(client(server.url).send(READ)).resolves.toMatchObject({ body: { kind } });
  });

  test('an error contains no credentials, even if the server quotes them', async () => {
    const server = await serve(json(400, { error: 'BAD: Authorization was Bearer canary-token' }));
    const error = await failureOf(client(server.url).send(WRITE));
    expect(error.serverText).toBe('BAD: Authorization was Bearer [secret]');
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('canary');
  });
});

test('an empty credential does not change the server text', async () => {
  const server = await serve(json(400, { error: 'BAD_REQUEST: no' }));
  const error = await failureOf(client(server.url, { secrets: [new Secret('')] }).send(WRITE));
  expect(error.serverText).toBe('BAD_REQUEST: no');
});

test('every sent request is observed, repetitions included', async () => {
  const seen: unknown[] = [];
  const server = await serve(hangUp, raw(503, ''), OK);
  await client(server.url, { observe: (one) => seen.push(one) }).send(READ);
  const common = { operation: 'getThing', method: 'GET', waitedMs: 0, ms: 0 };
  expect(seen).toEqual([
    { ...common, attempt: 1, status: null, requestId: null },
    { ...common, attempt: 2, status: 503, requestId: null },
    { ...common, attempt: 3, status: 200, requestId: 'r-1' },
  ]);
});
