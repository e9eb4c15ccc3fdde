import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { createHttp, type HttpOptions } from '../../src/base/http.ts';
import type { Clock } from '../../src/base/time.ts';
import { afterTimeout } from '../harness/after-timeout.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: unknown;
}

export type Respond = (response: ServerResponse, received: Received) => unknown;

/** A client of the test, with a clock that only advances during sleeps. */
export function httpClient(url: string, options: Partial<HttpOptions> = {}) {
  const clock = testClock();
  const http = createHttp({
    ...{ baseUrl: new URL(url), authorization: new Secret('Bearer canary-token') },
    ...{ secrets: [new Secret('canary-token')], version: '1.2.3' },
    ...{ limit: { requests: 10, perMs: 10_000 }, retryAfterMs: 10_000, clock },
    ...options,
  });
  onTestFinished(() => http.close());
  return { ...http, clock };
}

/** A server that sends the given answers in order and then repeats the last one. */
export async function serve(...answers: readonly [Respond, ...Respond[]]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    const { method = '', headers } = request;
    const query = Object.fromEntries(searchParams);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const one = { method, path: pathname, query, headers, text, body };
    received.push(one);
    const answer = answers[received.length - 1] ?? answers.at(-1);
    answer?.(response, one);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const connections = () =>
    new Promise<number>((told, failed) =>
      server.getConnections((error, count) => (error ? failed(error) : told(count))),
    );
  return { url: `http://127.0.0.1:${port}`, port, received, connections };
}

export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Respond {
  return raw(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

export function raw(
  status: number,
  content: string | Buffer,
  headers: Record<string, string> = {},
): Respond {
  return (response) => response.writeHead(status, headers).end(content);
}

export const hangUp: Respond = (response) => response.socket?.destroy();

/** The head and a part of the body, then the connection breaks. */
export function cut(type: string, part: string | Buffer): Respond {
  return (response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': '1000' });
    response.flushHeaders();
    // Also the head alone arrives before the connection breaks.
    response.write(part, () => setTimeout(() => response.socket?.destroy(), 20));
  };
}

export const breakOff: Respond = cut('application/json', '{"result":{');

/** The head and a part of the body, then silence. */
export const fallSilent: Respond = (response) => {
  response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' });
  response.write('<html>');
};

export const GATEWAY_PAGE =
  '<!DOCTYPE html>\n<html><body><h1>504 Gateway Timeout</h1></body></html>';

export interface TestClock extends Clock {
  /** Every sleep, in milliseconds. */
  readonly slept: number[];
  /** Fires all deadlines that were set. */
  expire(): void;
}

/** A clock that only advances during sleeps, which end at once. The random value is always 0. */
export function testClock(): TestClock {
  let now = 1_000;
  const slept: number[] = [];
  const deadlines: AbortController[] = [];
  const timeout = () => {
    const deadline = new AbortController();
    deadlines.push(deadline);
    return deadline.signal;
  };
  return {
    slept,
    now: () => now,
    random: () => 0,
    sleep: async (ms) => {
      now += ms;
      slept.push(ms);
    },
    timeout,
    after: afterTimeout(timeout),
    expire: () => {
      for (const deadline of deadlines) deadline.abort();
    },
  };
}
