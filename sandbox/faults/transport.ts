import { gzipSync } from 'node:zlib';
import type { EncodedBody } from '../api/reply.ts';
import { htmlReply, isSuccess, jsonReply, textReply } from '../api/reply.ts';
import { answering, type Fault, fault } from './fault.ts';

const PAGE = htmlReply(200, 'Welcome');
const BLOCKED = jsonReply(200, { blocked: true });

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
  fault('html-200', 'Takes effect, then 200 with an HTML page', answering(PAGE)),
  fault('cut-html', 'Takes effect, then half of a page', { ...answering(PAGE), connection: 'cut' }),
  fault('proxy-json', 'Takes effect, then 200 with JSON of a proxy', answering(BLOCKED)),
  fault('empty-200', 'Takes effect, then 200 with an empty body', answering(textReply(200, ''))),
  fault('201', 'Takes effect, then 201 where the contract says 200', {
    change: (reply) => (isSuccess(reply) ? { ...reply, status: 201 } : reply),
  }),
  fault('307', 'Redirects to the same address; nothing takes effect unless the client follows', {
    instead: ({ path }) => textReply(307, '', { location: path }),
  }),
];

function withHeaders({ headers, bytes }: EncodedBody, more: Record<string, string>): EncodedBody {
  return { headers: { ...headers, ...more }, bytes };
}
