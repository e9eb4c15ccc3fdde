// What an answer of a server means: its body, the error that it is, and the texts that are shown of it.

import { STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import {
  ApiError,
  type ApiErrorKind,
  type ApiFailure,
  type RequestEffect,
  type Secret,
} from './errors.ts';
import { cleanText } from './text.ts';

/**
 * A body by its content. `cut` is JSON of an object that ended early: `value` has its first members, `next` the name that
 * follows them, which may be cut as well. `unreadable` is too large or a broken archive.
 */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'cut'; readonly value: object; readonly next: string }
  | { readonly kind: 'text' | 'html'; readonly text: string }
  | { readonly kind: 'empty' | 'unreadable' };

const MAX_BYTES = 16 * 1024 * 1024;
const GZIP_SIGNATURE = [0x1f, 0x8b];

/**
 * Reads a body and detects its kind from its content, because content types and encodings of error pages are often
 * wrong; only of a body that was cut the content type counts. `onBreak` is called when the connection broke, and throws
 * unless what came until then is to be kept. A body over `most` bytes, before or after decompression, is `unreadable`.
 */
export async function readResponseBody(
  stream: Readable,
  contentType: unknown,
  onBreak: (cause: unknown) => void,
  most = MAX_BYTES,
): Promise<Body> {
  const chunks: Buffer[] = [];
  let isWhole = true;
  const received = await boundedBody(stream, most, chunks).catch((cause: unknown) => {
    onBreak(cause);
    isWhole = false;
    return Buffer.concat(chunks);
  });
  const plain = received && (await unzipped(received, most));
  if (!plain) return { kind: 'unreadable' };
  const text = new TextDecoder().decode(plain).trim();
  const isJson = /json/i.test(`${contentType ?? 'json'}`);
  return text === '' && (isWhole || isJson) ? { kind: 'empty' } : bodyOf(text, isJson);
}

/** As much as can be unpacked. Null for an archive that is broken or too large. */
async function unzipped(body: Buffer, most: number): Promise<Buffer | null> {
  // Neither JSON nor text begins with the gzip signature, so the encoding header is not needed.
  const isZipped = GZIP_SIGNATURE.every((byte, index) => body[index] === byte);
  if (!isZipped) return body;
  const options = { maxOutputLength: most, finishFlush: constants.Z_SYNC_FLUSH };
  return promisify(gunzip)(body, options).catch(() => null);
}

function bodyOf(text: string, isJson: boolean): Body {
  const value = parsed(text);
  if (value !== undefined) return { kind: 'json', value };
  if (text.startsWith('<')) return { kind: 'html', text };
  const [, members = '', next = ''] = (isJson && FIRST_MEMBERS.exec(text)) || [];
  const first = parsed(members.replace(/,?$/, '}'));
  return isRecord(first) ? { kind: 'cut', value: first, next } : { kind: 'text', text };
}

/** Of an object: its members before the first one that is cut or has members itself, and the name of that one. */
const FIRST_MEMBERS = /^(\{(?:\s*"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)\s*,)*)\s*("\w*"?|$)/;

/** Undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
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
    requestId: requestIdOf(body),
    retryAfterMs: status === 429 ? retryAfterOf(headers, options.retryAfterMs) : null,
  });
}

/** 408 and 409 leave the effect open; a 429 is sent before the request is executed. */
function requestEffectOf(status: number, body: Body): RequestEffect {
  if (status === 429) return 'not-sent';
  if (status < 400 || status >= 500 || status === 408 || status === 409) return 'unknown';
  return isInBetween(status, body) ? 'unknown' : 'refused';
}

/**
 * Whether a 4xx is the page or text of something between Signalbox and the API, which may hide an answer of the API. Of
 * the APIs themselves are only the text of a 401 and the page of a 404 for a route that they do not have.
 */
function isInBetween(status: number, { kind }: Body): boolean {
  return kind === 'html' ? status !== 404 : kind === 'text' && ![401, 404].includes(status);
}

/**
 * A 404 without JSON comes from another server or route, not from the API, unless the operation has
 * servers that report a missing object as plain text.
 */
function errorKindOf(status: number, body: Body, hasPlainNotFound = false): ApiErrorKind {
  if (status === 429) return 'rate-limit';
  if (status >= 300 && status < 400) return 'redirect';
  if (status < 500 && isInBetween(status, body)) return 'foreign-answer';
  if (status !== 404 || body.kind === 'json') return 'answer';
  const isMissing = hasPlainNotFound && body.kind === 'text' && /^not found\.?$/i.test(body.text);
  return isMissing ? 'answer' : 'wrong-address';
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

/** The milliseconds that `Retry-After` names, as seconds or as a date; null without a readable one. */
export function retryAfterHeader(headers: ResponseHeaders): number | null {
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
const UNSENT = ['budget', 'paused', 'no-name', 'no-connection', 'private-address', 'stopping'];

/** The error for a request without a complete answer. */
export function noAnswerError(operation: string, facts: NoAnswerFacts): ApiError {
  const effect = UNSENT.includes(facts.kind) ? 'not-sent' : 'unknown';
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
  const text =
    (body.kind === 'json' ? textIn(body.value) : body.kind === 'text' && body.text) || '';
  return /<!doctype|<\/?(?:html|head|body)\b/i.test(text) ? null : cleanText(text, 500) || null;
}

/**
 * Where the known shapes have their text, best first: those of the APIs, and `application/problem+json`, whose title is
 * the same for all problems of a kind.
 */
const TEXT_KEYS = ['error', 'errors', 'issues', 'message', 'details', 'detail', 'title'];
const DEEPEST_TEXT = 5;
/** `Bad Request` says no more than the status. */
const PHRASES = new Set(Object.values(STATUS_CODES).map((phrase) => phrase?.toLowerCase()));

function textIn(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return value.trim() || null;
  if (depth > DEEPEST_TEXT) return null;
  if (Array.isArray(value)) {
    const texts = value.map((each) => issueIn(each, depth + 1));
    return texts.filter((text) => text !== null).join('; ') || null;
  }
  if (!isRecord(value)) return null;
  const texts = TEXT_KEYS.flatMap((key) => textIn(value[key], depth + 1) ?? []);
  return texts.find((text) => !PHRASES.has(text.toLowerCase())) ?? texts[0] ?? null;
}

/** `{ path: ['channel', 'type'], message: 'Invalid' }` → `channel.type: Invalid`; also with `#/channel/type`. */
function issueIn(issue: unknown, depth: number): string | null {
  const text = textIn(issue, depth);
  if (!isRecord(issue) || text === null) return text;
  const { path, pointer } = issue;
  const words = typeof pointer === 'string' ? pointer.replace(/^#?\//, '').split('/') : path;
  return Array.isArray(words) && words.length > 0 ? `${words.join('.')}: ${text}` : text;
}

/** Whether a body is a page, a text or JSON of a shape that the API never sends. `field` has the result of an answer. */
export function isForeign(body: Body, field: string): boolean {
  if (body.kind === 'html' || body.kind === 'text') return true;
  if (!('value' in body) || body.value === null) return false;
  if (!isRecord(body.value)) return true;
  const { requestId, status, [field]: result } = body.value;
  if (Object.keys(body.value).length > 0)
    return result === undefined && requestId === undefined && typeof status !== 'number';
  const next = body.kind === 'cut' ? body.next : '';
  return ![field, 'requestId', 'status'].some((name) => `"${name}"`.startsWith(next));
}

/** Whether a body with a 2xx status says that the request was not accepted. `field` has the result. */
export function isContradiction(body: Body, field: string): boolean {
  if (!('value' in body)) return false;
  if (body.kind === 'cut' && /^"(errors?|message)"$/.test(body.next)) return true;
  if (Array.isArray(body.value)) return body.value.some(isRecord) && textIn(body.value) !== null;
  if (!isRecord(body.value)) return false;
  const { status, error, errors, message, success, ok, [field]: result } = body.value;
  const isMessage = (result ?? null) === null && typeof message === 'string';
  const isErrorStatus = /^[45]\d\d$/.test(`${status}`);
  const hasErrors = isRecord(errors) || (Array.isArray(errors) && errors.length > 0);
  return isErrorStatus || Boolean(error) || hasErrors || isMessage || [success, ok].includes(false);
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

/** The body of a request or of an answer. Null for one that is too large, which is not read to its end. */
export async function boundedBody(
  request: Readable,
  most: number,
  chunks: Buffer[] = [],
): Promise<Buffer | null> {
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
