import { gzipSync } from 'node:zlib';
import type { Encoded } from '../api/reply.ts';
import { htmlReply, isSuccess, jsonReply, textReply } from '../api/reply.ts';
import type { Fault } from './fault.ts';

/** Time, the connection, and how the bytes are wrapped. */
export const TRANSPORT_FAULTS: readonly Fault[] = [
  delayed('delay-2s', 2_000),
  delayed('delay-20s', 20_000),
  delayed('delay-45s', 45_000),
  {
    name: 'late-effect-45s',
    summary: 'Nothing happens for 45 s; then it takes effect, whether or not anyone still waits',
    delay: { ms: 45_000, effect: 'late' },
  },
  { name: 'hang', summary: 'Never answers, nothing takes effect', connection: 'hang-before' },
  {
    name: 'hang-after-effect',
    summary: 'Takes effect, then never answers',
    connection: 'hang-after',
  },
  {
    name: 'reset',
    summary: 'The connection is reset before anything takes effect',
    connection: 'reset-before',
  },
  {
    name: 'reset-after-effect',
    summary: 'Takes effect, then the connection is reset',
    connection: 'reset-after',
  },
  {
    name: 'close-after-effect',
    summary: 'Takes effect, then the connection is closed without an answer',
    connection: 'close-after',
  },
  {
    name: 'cut-body',
    summary: 'Takes effect; status and half of the body arrive, then the connection closes',
    connection: 'cut',
  },
  {
    name: 'truncated-json',
    summary: 'Takes effect; the body is half of a JSON text',
    encoded: ({ headers, bytes }) => ({ headers, bytes: bytes.subarray(0, bytes.length >> 1) }),
  },
  {
    name: 'wrong-content-type',
    summary: 'The right JSON, called text/html',
    encoded: (answer) => withHeaders(answer, { 'content-type': 'text/html; charset=utf-8' }),
  },
  {
    name: 'bom',
    summary: 'The right JSON behind a byte order mark',
    encoded: ({ headers, bytes }) => ({
      headers,
      bytes: Buffer.concat([Buffer.from('\ufeff'), bytes]),
    }),
  },
  {
    name: 'gzip',
    summary: 'The right JSON, compressed although nobody asked for it',
    encoded: (answer) => ({
      ...withHeaders(answer, { 'content-encoding': 'gzip' }),
      bytes: gzipSync(answer.bytes),
    }),
  },
  {
    name: 'html-200',
    summary: 'Takes effect, then 200 with an HTML page',
    answered: (reply) => (isSuccess(reply) ? htmlReply(200, 'Welcome') : reply),
  },
  {
    name: 'empty-200',
    summary: 'Takes effect, then 200 with an empty body',
    answered: (reply) => (isSuccess(reply) ? textReply(200, '') : reply),
  },
  {
    name: '201',
    summary: 'Takes effect, then 201 where the contract says 200',
    answered: (reply) =>
      isSuccess(reply) && reply.kind === 'json' ? jsonReply(201, reply.value) : reply,
  },
  {
    name: '307',
    summary: 'Redirects to the same address; nothing takes effect unless someone follows',
    instead: ({ path }) => textReply(307, '', { location: path }),
  },
];

function delayed(name: string, ms: number): Fault {
  const summary = `Takes effect at once, answers after ${ms / 1_000} s`;
  return { name, summary, delay: { ms, effect: 'at-once' } };
}

function withHeaders({ headers, bytes }: Encoded, more: Record<string, string>): Encoded {
  return { headers: { ...headers, ...more }, bytes };
}
