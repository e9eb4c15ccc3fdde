// What an answer of a server means: its body, the error that it is, and the texts that are shown of it.

import { STATUS_CODES } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  ApiError,
  type ApiErrorKind,
  type ApiFailure,
  type RequestEffect,
  type Secret,
} from './errors.ts';
import { createRowStream, type StreamedArray } from './http-rows.ts';
import { cleanText } from './text.ts';

/** A body by its content; `unreadable` is too large, broken off or not what it begins with. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text' | 'html'; readonly text: string }
  | { readonly kind: 'empty' | 'unreadable' };

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_STREAMED_BYTES = 128 * 1024 * 1024;
const GZIP_SIGNATURE = [0x1f, 0x8b];

/**
 * Reads a whole body and detects its kind from its content, because content types and encodings of
 * error pages are often wrong. Rejects only when the connection breaks. A body over 16 MiB, before or
 * after decompression, is `unreadable`.
 *
 * With `streamed`, the limit is 128 MiB, and the elements of that array are taken while they arrive:
 * the array of the result has only its last ones. The parts without them may have 16 MiB.
 */
export async function readResponseBody(
  stream: AsyncIterable<Buffer>,
  streamed?: StreamedArray,
): Promise<Body> {
  const maxBytes = streamed ? MAX_STREAMED_BYTES : MAX_BYTES;
  const rows = createRowStream(streamed ?? null);
  const size = { received: 0, plain: 0 };
  const received = counted(stream, (bytes) => {
    size.received += bytes;
  });
  try {
    for await (const chunk of unzipped(received)) {
      size.plain += chunk.length;
      if (Math.max(size.received, size.plain) > maxBytes) return { kind: 'unreadable' };
      if (!rows.push(chunk) || rows.pendingBytes() > MAX_BYTES) return { kind: 'unreadable' };
    }
  } catch (error) {
    if (isUnzipError(error)) return { kind: 'unreadable' };
    throw error;
  }
  return bodyOf(new TextDecoder().decode(rows.rest()).trim());
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Neither JSON nor text begins with the gzip signature, so the encoding header is not needed. */
async function* unzipped(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let first = Buffer.alloc(0);
  while (first.length < GZIP_SIGNATURE.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  const isZipped = GZIP_SIGNATURE.every((byte, index) => first[index] === byte);
  const all = joined(first, chunks);
  yield* isZipped ? gunzipped(all) : all;
}

function gunzipped(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // An error of the chunks or of the archive ends the iteration; the callback would get it as well.
  return pipeline(Readable.from(chunks), createGunzip(), () => undefined);
}

async function* joined(first: Buffer, more: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* more;
}

function isUnzipError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}

function bodyOf(text: string): Body {
  if (text === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    if (text.startsWith('<')) return { kind: 'html', text };
    return /^[[{"]/.test(text) ? { kind: 'unreadable' } : { kind: 'text', text };
  }
}

interface AnsweredCall {
  readonly operation: string;
  readonly hasPlainNotFound?: boolean | undefined;
}

interface ErrorAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Body;
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The error for an answer other than 2xx. */
export function answerError(
  { operation, hasPlainNotFound }: AnsweredCall,
  { status, headers, body }: ErrorAnswer,
  options: { readonly secrets: readonly Secret[]; readonly retryAfterMs: number },
): ApiError {
  const serverText = withoutSecrets(serverTextOf(body), options.secrets);
  return new ApiError({
    operation,
    effect: requestEffectOf(status, body),
    kind: errorKindOf(status, body, hasPlainNotFound),
    status,
    serverText,
    code: codeOf(serverText),
    requestId: requestIdOf(body),
    retryAfterMs: status === 429 ? retryAfterOf(headers, options.retryAfterMs) : null,
  });
}

/**
 * 408 and 409 leave the effect open; a 429 is sent before the request is executed. A page or text comes from something
 * between Signalbox and the API, which may hide an answer of the API. Of the APIs themselves are only the text of a 401
 * and the page of a 404 for a route that they do not have.
 */
function requestEffectOf(status: number, body: Body): RequestEffect {
  if (status === 429) return 'not-sent';
  if (status < 400 || status >= 500 || status === 408 || status === 409) return 'unknown';
  const isText = body.kind === 'html' || body.kind === 'text';
  const isOwn = !isText || status === 404 || (status === 401 && body.kind === 'text');
  return isOwn ? 'refused' : 'unknown';
}

/**
 * A 404 without JSON comes from another server or route, not from the API, unless the operation has
 * servers that report a missing object as plain text.
 */
function errorKindOf(status: number, body: Body, hasPlainNotFound = false): ApiErrorKind {
  if (status === 429) return 'rate-limit';
  if (status >= 300 && status < 400) return 'redirect';
  if (status !== 404 || body.kind === 'json') return 'answer';
  const isMissing = hasPlainNotFound && body.kind === 'text' && /^not found\.?$/i.test(body.text);
  return isMissing ? 'answer' : 'wrong-address';
}

function codeOf(serverText: string | null): string | null {
  const [head = ''] = serverText?.split(': ', 1) ?? [];
  return /^[A-Z_]+$/.test(head) ? head : null;
}

const LONGEST_WAIT_MS = 120_000;

/** Milliseconds to wait after a 429, from the three headers that live servers use, best first. */
function retryAfterOf(headers: ResponseHeaders, fallbackMs: number): number {
  const waitMs =
    retryAfterHeader(headers) ??
    secondsIn(headers['ratelimit-reset'], 0) ??
    secondsIn(headers['x-ratelimit-reset'], 1) ??
    fallbackMs;
  return Math.min(waitMs, LONGEST_WAIT_MS);
}

function retryAfterHeader(headers: ResponseHeaders): number | null {
  const given = headers['retry-after'];
  // The other form of Retry-After is a date, which is measured with the server's own clock.
  const untilMs = Date.parse(`${given}`) - Date.parse(`${headers.date}`);
  return secondsIn(given, 0) ?? (untilMs >= 0 ? untilMs : null);
}

function secondsIn(value: string | string[] | undefined, more: number): number | null {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim())
    ? (Number(value) + more) * 1000
    : null;
}

type NoAnswerFacts = Pick<ApiFailure, 'kind' | 'cause' | 'retryAfterMs'>;

/** Kinds of failure that happen before the first byte of the request leaves. */
const BEFORE_SENDING = ['budget', 'paused', 'no-connection', 'private-address', 'stopping'];

/** The error for a request without a complete answer. */
export function noAnswerError(operation: string, facts: NoAnswerFacts): ApiError {
  const effect = BEFORE_SENDING.includes(facts.kind) ? 'not-sent' : 'unknown';
  return new ApiError({ operation, effect, ...facts });
}

const MAX_ATTEMPTS = 3;

/** Milliseconds to wait before a read is repeated; null: no repetition. Never used for writes. */
export function retryDelay(error: ApiError, attempt: number, chance: number): number | null {
  if (attempt >= MAX_ATTEMPTS) return null;
  if (['budget', 'paused', 'stopping'].includes(error.kind)) return null;
  const jitterMs = 500 + Math.round(chance * 3500);
  const { status } = error;
  if (status === 429) return error.retryAfterMs;
  if (status === null || [502, 503, 504].includes(status)) return jitterMs;
  // A 500 is more often a permanent defect than a temporary error, so it is repeated once only.
  return status === 500 && attempt === 1 ? jitterMs : null;
}

/** The server's error text from any of its known error shapes, at most 500 characters; or null. */
export function serverTextOf(body: Body): string | null {
  const text = textOf(body) ?? '';
  return /<!doctype|<\/?(?:html|head|body)\b/i.test(text) ? null : cleanText(text, 500) || null;
}

function textOf(body: Body): string | null {
  if (body.kind === 'json') return textIn(body.value) ?? byField(body.value, 0, Array.isArray);
  if (body.kind === 'html') return textInXml(body.text.slice(0, XML_READ));
  return body.kind === 'text' ? body.text : null;
}

/**
 * Where the known shapes have their text, best first, in any spelling: of the APIs, of gateways, of sign-in servers, of
 * `application/problem+json`, whose title is the same for all problems of a kind, and of the lists of validators.
 */
const TEXT_KEYS = (
  'errordescription error errors issues validation invalidparams violations fielderrors fault faultstring ' +
  'errormessage message msg details detail description title reason'
).split(' ');
const LISTED = ['errors', 'fielderrors', 'violations'];
const DEEPEST_TEXT = 5;
/** `Bad Request` says no more than the status. */
const PHRASES = new Set(Object.values(STATUS_CODES).map((phrase) => phrase?.toLowerCase()));

function textIn(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return unwrapped(value.trim(), depth) || null;
  if (depth > DEEPEST_TEXT) return null;
  if (Array.isArray(value)) return together(value.map((each) => issueIn(each, depth + 1)));
  if (!isRecord(value)) return null;
  const named = new Map(Object.entries(value).map(([key, inner]) => [spelled(key), inner]));
  const texts = TEXT_KEYS.flatMap((key) => {
    const inner = named.get(key);
    const fields = LISTED.includes(key) ? byField(inner, depth + 1) : null;
    return textIn(inner, depth + 1) ?? fields ?? [];
  });
  return texts.find((text) => !PHRASES.has(text.toLowerCase())) ?? texts[0] ?? null;
}

function spelled(key: string): string {
  return key.toLowerCase().replace(/[_-]/g, '');
}

/** A gateway may wrap the JSON of the server behind it as a text. */
function unwrapped(text: string, depth: number): string {
  if (!text.startsWith('{') || depth > DEEPEST_TEXT) return text;
  try {
    return textIn(JSON.parse(text), depth + 1) ?? text;
  } catch {
    return text;
  }
}

const XML_READ = 10_000;
const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

/** The text of the best element of an error in XML; null for a page. */
function textInXml(xml: string): string | null {
  if (/<!doctype|<html\b/i.test(xml)) return null;
  const elements = xml.matchAll(/<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>([^<]+)<\//g);
  const named = [...elements].map(([, name = '', text = '']) => [
    name,
    text.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity) => ENTITIES[entity] ?? ''),
  ]);
  return textIn(Object.fromEntries(named.toReversed()));
}

/** `{ path: ['channel', 'type'], message: 'Invalid' }` → `channel.type: Invalid`; also `#/channel/type` and a name. */
function issueIn(issue: unknown, depth: number): string | null {
  const text = textIn(issue, depth);
  if (!isRecord(issue) || text === null) return text;
  const { path, location, loc, pointer, field, propertyPath, source, reason, name } = issue;
  const inSource = isRecord(source) ? (source.pointer ?? source.parameter) : null;
  const own = path ?? location ?? loc ?? pointer ?? inSource ?? field ?? propertyPath;
  const place = own ?? (reason === undefined ? null : name);
  const words = typeof place === 'string' ? place.replace(/^#?\//, '').split('/') : place;
  return Array.isArray(words) && words.length > 0 ? `${words.join('.')}: ${text}` : text;
}

/** `{ errors: { threshold: ['must be a number'] } }` */
function byField(
  errors: unknown,
  depth: number,
  isText: (each: unknown) => boolean = () => true,
): string | null {
  if (!isRecord(errors)) return null;
  const texts = Object.entries(errors).map(
    ([field, each]) => [field, isText(each) ? textIn(each, depth) : null] as const,
  );
  return together(texts.map(([field, text]) => (text === null ? null : `${field}: ${text}`)));
}

function together(texts: readonly (string | null)[]): string | null {
  return texts.filter((text) => text !== null).join('; ') || null;
}

/** Whether a body is a page, a text or JSON of a shape that the API never sends. */
export function isForeign(body: Body): boolean {
  if (body.kind === 'json') return !isRecord(body.value) && body.value !== null;
  return body.kind === 'html' || body.kind === 'text';
}

/** Whether a body with a 2xx status says that the request was not accepted. `field` has the result. */
export function isContradiction(body: Body, field: string): boolean {
  if (body.kind !== 'json') return false;
  if (Array.isArray(body.value)) return body.value.some(isRecord) && textIn(body.value) !== null;
  if (!isRecord(body.value)) return false;
  const { status, error, errors, message, success, ok, [field]: result } = body.value;
  const isMessage = (result ?? null) === null && typeof message === 'string';
  const isErrorStatus = /^[45]\d\d$/.test(`${status}`);
  const hasErrors = isRecord(errors) || (Array.isArray(errors) && errors.length > 0);
  return (
    isErrorStatus || Boolean(error) || hasErrors || isMessage || success === false || ok === false
  );
}

/** The id with which the support team of the server finds the request; null if it has none. */
export function requestIdOf(body: Body): string | null {
  const id = body.kind === 'json' && isRecord(body.value) ? body.value.requestId : null;
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null;
}

/** The text without these secrets: a server may quote the rejected request, with its credentials. */
export function withoutSecrets(text: string | null, secrets: readonly Secret[]): string | null {
  return secrets
    .map((secret) => secret.reveal())
    .filter((value) => value !== '')
    .reduce((clean, value) => clean?.replaceAll(value, '[secret]') ?? null, text);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body of a request to Signalbox. Null for one that is too large, which is not read to its end. */
export async function boundedBody(request: Readable, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
