import { gzipSync } from 'node:zlib';
import type { EncodedBody } from '../api/reply.ts';
import { htmlReply, isSuccess, jsonReply, textReply } from '../api/reply.ts';
import { type Fault, fault } from './fault.ts';

/** Faults of timing, connection and encoding. */
export const TRANSPORT_FAULTS: readonly Fault[] = [
  ...[2, 20, 45].map((seconds) =>
    fault(`delay-${seconds}s`, `Takes effect at once, replies after ${seconds} s`, {
      delay: { ms: seconds * 1_000, effect: 'at-once' },
    }),
  ),
  fault('late-effect-45s', 'Takes effect only after 45 s, even if the caller has disconnected', {
    delay: { ms: 45_000, effect: 'late' },
  }),
  fault('hang', 'Never replies; nothing takes effect', { connection: 'hang-before' }),
  fault('hang-after-effect', 'Takes effect, then never replies', { connection: 'hang-after' }),
  fault('reset', 'Resets the connection; nothing takes effect', { connection: 'reset-before' }),
  fault('reset-after-effect', 'Takes effect, then resets the connection', {
    connection: 'reset-after',
  }),
  fault('close-after-effect', 'Takes effect, then closes the connection without a reply', {
    connection: 'close-after',
  }),
  fault('cut-body', 'Takes effect; sends half of the body, then closes the connection', {
    connection: 'cut',
  }),
  fault('truncated-json', 'Takes effect; the body is truncated JSON', {
    encode: ({ headers, bytes }) => ({ headers, bytes: bytes.subarray(0, bytes.length >> 1) }),
  }),
  fault('wrong-content-type', 'Correct JSON with the content type text/html', {
    encode: (plain) => withHeaders(plain, { 'content-type': 'text/html; charset=utf-8' }),
  }),
  fault('bom', 'Correct JSON after a byte order mark', {
    encode: ({ headers, bytes }) => ({
      headers,
      bytes: Buffer.concat([Buffer.from('\ufeff'), bytes]),
    }),
  }),
  fault('gzip', 'Correct JSON, compressed without being requested', {
    encode: (plain) => ({
      ...withHeaders(plain, { 'content-encoding': 'gzip' }),
      bytes: gzipSync(plain.bytes),
    }),
  }),
  fault('html-200', 'Takes effect, then 200 with an HTML page', {
    change: (reply) => (isSuccess(reply) ? htmlReply(200, 'Welcome') : reply),
  }),
  fault('cut-html', 'Takes effect; sends half of an HTML page, then closes the connection', {
    change: (reply) => (isSuccess(reply) ? htmlReply(200, 'Welcome') : reply),
    connection: 'cut',
  }),
  fault('proxy-json', 'Takes effect, then 200 with JSON that is not of the API', {
    change: (reply) => (isSuccess(reply) ? jsonReply(200, { blocked: true }) : reply),
  }),
  fault('empty-200', 'Takes effect, then 200 with an empty body', {
    change: (reply) => (isSuccess(reply) ? textReply(200, '') : reply),
  }),
  fault('201', 'Takes effect, then 201 where the contract says 200', {
    change: (reply) =>
      isSuccess(reply) && reply.kind === 'json' ? jsonReply(201, reply.value) : reply,
  }),
  fault('307', 'Redirects to the same address; nothing takes effect unless the client follows', {
    instead: ({ path }) => textReply(307, '', { location: path }),
  }),
];

function withHeaders({ headers, bytes }: EncodedBody, more: Record<string, string>): EncodedBody {
  return { headers: { ...headers, ...more }, bytes };
}
