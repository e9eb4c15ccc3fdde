import { gzipSync } from 'node:zlib';
import type { Encoded } from '../api/reply.ts';
import { htmlReply, isSuccess, jsonReply, textReply } from '../api/reply.ts';
import type { Fault } from './fault.ts';

/** Faults of timing, connection and encoding. */
export const TRANSPORT_FAULTS: readonly Fault[] = [
  delayed('delay-2s', 2_000),
  delayed('delay-20s', 20_000),
  delayed('delay-45s', 45_000),
  {
    name: 'late-effect-45s',
    summary: 'Takes effect only after 45 s, even if the caller has disconnected',
    delay: { ms: 45_000, effect: 'late' },
  },
  { name: 'hang', summary: 'Never replies; nothing takes effect', connection: 'hang-before' },
  {
    name: 'hang-after-effect',
    summary: 'Takes effect, then never replies',
    connection: 'hang-after',
  },
  {
    name: 'reset',
    summary: 'Resets the connection; nothing takes effect',
    connection: 'reset-before',
  },
  {
    name: 'reset-after-effect',
    summary: 'Takes effect, then resets the connection',
    connection: 'reset-after',
  },
  {
    name: 'close-after-effect',
    summary: 'Takes effect, then closes the connection without a reply',
    connection: 'close-after',
  },
  {
    name: 'cut-body',
    summary: 'Takes effect; sends half of the body, then closes the connection',
    connection: 'cut',
  },
  {
    name: 'truncated-json',
    summary: 'Takes effect; the body is truncated JSON',
    encode: ({ headers, bytes }) => ({ headers, bytes: bytes.subarray(0, bytes.length >> 1) }),
  },
  {
    name: 'wrong-content-type',
    summary: 'Correct JSON with the content type text/html',
    encode: (answer) => withHeaders(answer, { 'content-type': 'text/html; charset=utf-8' }),
  },
  {
    name: 'bom',
    summary: 'Correct JSON after a byte order mark',
    encode: ({ headers, bytes }) => ({
      headers,
      bytes: Buffer.concat([Buffer.from('\ufeff'), bytes]),
    }),
  },
  {
    name: 'gzip',
    summary: 'Correct JSON, compressed without being requested',
    encode: (answer) => ({
      ...withHeaders(answer, { 'content-encoding': 'gzip' }),
      bytes: gzipSync(answer.bytes),
    }),
  },
  {
    name: 'html-200',
    summary: 'Takes effect, then 200 with an HTML page',
    change: (reply) => (isSuccess(reply) ? htmlReply(200, 'Welcome') : reply),
  },
  {
    name: 'empty-200',
    summary: 'Takes effect, then 200 with an empty body',
    change: (reply) => (isSuccess(reply) ? textReply(200, '') : reply),
  },
  {
    name: '201',
    summary: 'Takes effect, then 201 where the contract says 200',
    change: (reply) =>
      isSuccess(reply) && reply.kind === 'json' ? jsonReply(201, reply.value) : reply,
  },
  {
    name: '307',
    summary: 'Redirects to the same address; nothing takes effect unless the client follows',
    instead: ({ path }) => textReply(307, '', { location: path }),
  },
];

function delayed(name: string, ms: number): Fault {
  const summary = `Takes effect at once, replies after ${ms / 1_000} s`;
  return { name, summary, delay: { ms, effect: 'at-once' } };
}

function withHeaders({ headers, bytes }: Encoded, more: Record<string, string>): Encoded {
  return { headers: { ...headers, ...more }, bytes };
}
