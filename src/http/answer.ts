import type { ApiErrorKind, RequestEffect } from '../errors.ts';
import type { Body } from './body.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LONGEST_TEXT = 500;
const LONGEST_WAIT_MS = 120_000;

/** 408 and 409 leave the effect open; a 429 is sent before the request is executed. */
export function requestEffectOf(status: number): RequestEffect {
  if (status === 429) return 'not-sent';
  return status >= 400 && status < 500 && status !== 408 && status !== 409 ? 'refused' : 'unknown';
}

/**
 * A 404 without JSON comes from another server or route, not from the API, unless the operation has
 * servers that report a missing object as plain text.
 */
export function errorKindOf(status: number, body: Body, hasPlainNotFound = false): ApiErrorKind {
  if (status === 429) return 'rate-limit';
  if (status >= 300 && status < 400) return 'redirect';
  if (status !== 404 || body.kind === 'json') return 'answer';
  const isMissing = hasPlainNotFound && body.kind === 'text' && /^not found\.?$/i.test(body.text);
  return isMissing ? 'answer' : 'wrong-address';
}

/** The server's error text from any of its known error shapes, at most 500 characters; or null. */
export function serverTextOf(body: Body): string | null {
  const text = body.kind === 'json' ? textIn(body.value) : body.kind === 'text' ? body.text : null;
  const line = lineOf(text ?? '');
  return line === '' || /<!doctype|<\/?(?:html|head|body)\b/i.test(line) ? null : bounded(line);
}

// Control characters could forge log lines or colour a terminal.
function lineOf(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function bounded(line: string): string {
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT - 1)}…` : line;
}

const READ_OF_PAGE = 10_000;

/**
 * The text of a 2xx body that is not the API's, at most 500 characters, without tags: a page or plain
 * text. Empty for JSON of another shape, which could contain a password; null for any other body.
 */
export function foreignTextOf(body: Body): string | null {
  if (body.kind === 'json') return isRecord(body.value) || body.value === null ? null : '';
  if (body.kind !== 'html' && body.kind !== 'text') return null;
  return bounded(lineOf(body.text.slice(0, READ_OF_PAGE).replace(/<[^<>]*>/g, ' ')));
}

/** Whether a body with a 2xx status says that the request was not accepted. `field` has the result. */
export function isContradiction(body: Body, field: string): boolean {
  if (body.kind !== 'json') return false;
  if (Array.isArray(body.value)) return issuesIn(body.value) !== null;
  if (!isRecord(body.value)) return false;
  const { status, error, errors, message, success, ok, [field]: result } = body.value;
  const isMessage = (result ?? null) === null && typeof message === 'string';
  const isErrorStatus = /^[45]\d\d$/.test(`${status}`);
  const hasErrors = isRecord(errors) || (Array.isArray(errors) && errors.length > 0);
  return (
    isErrorStatus || Boolean(error) || hasErrors || isMessage || success === false || ok === false
  );
}

export function codeOf(serverText: string | null): string | null {
  const [head = ''] = serverText?.split(': ', 1) ?? [];
  return /^[A-Z_]+$/.test(head) ? head : null;
}

export function requestIdOf(body: Body): string | null {
  const id = body.kind === 'json' && isRecord(body.value) ? body.value.requestId : null;
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null;
}

/** Milliseconds to wait after a 429, from the three headers that live servers use, best first. */
export function retryAfterOf(headers: Headers, fallbackMs: number): number {
  const waitMs =
    retryAfterMs(headers) ??
    secondsIn(headers['ratelimit-reset'], 0) ??
    secondsIn(headers['x-ratelimit-reset'], 1) ??
    fallbackMs;
  return Math.min(waitMs, LONGEST_WAIT_MS);
}

function retryAfterMs(headers: Headers): number | null {
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

function textIn(value: unknown): string | null {
  if (Array.isArray(value)) return issuesIn(value);
  if (!isRecord(value)) return typeof value === 'string' ? value : null;
  const { error, errors, message } = value;
  if (typeof error === 'string') return error;
  const inner = isRecord(error) ? (error.message ?? error.details) : null;
  const listed = Array.isArray(errors) ? issuesIn(errors) : null;
  return [inner, listed, message].find((text) => typeof text === 'string') ?? null;
}

/** Older alerts servers return a list: `[{ type, errors: { issues: [{ path, message }] } }]`. */
function issuesIn(list: readonly unknown[]): string | null {
  const texts = list.filter(isRecord).flatMap((item): string[] => {
    if (isRecord(item.errors) && Array.isArray(item.errors.issues)) {
      return [issuesIn(item.errors.issues) ?? ''];
    }
    const path = Array.isArray(item.path) ? `${item.path.join('.')}: ` : '';
    return typeof item.message === 'string' ? [path + item.message] : [];
  });
  const present = texts.filter((text) => text !== '');
  return present.length > 0 ? present.join('; ') : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
