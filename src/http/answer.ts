import type { ApiErrorKind, RequestEffect } from '../errors.ts';
import type { Body } from './body.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LONGEST_TEXT = 500;
const LONGEST_WAIT_MS = 120_000;

/** 408, 409 and 429 are left out: whether the request had an effect is not settled by them. */
export function requestEffectOf(status: number): RequestEffect {
  if (status === 429) return 'not-sent';
  return status >= 400 && status < 500 && status !== 408 && status !== 409 ? 'refused' : 'unknown';
}

/** A 404 that is not the API's own JSON speaks of the route, not of the thing asked for. */
export function troubleOf(status: number, body: Body): ApiErrorKind {
  if (status === 429) return 'rate-limit';
  if (status >= 300 && status < 400) return 'redirect';
  return status === 404 && body.kind !== 'json' ? 'wrong-address' : 'answer';
}

/** The server's own words, whichever of its error shapes they came in; null when there are none. */
export function serverTextOf(body: Body): string | null {
  const text = body.kind === 'json' ? textIn(body.value) : body.kind === 'text' ? body.text : null;
  // Control characters could forge log lines or colour a terminal.
  const line = text?.replace(/[\s\p{Cc}]+/gu, ' ').trim() ?? '';
  if (line === '' || /<!doctype|<\/?(?:html|head|body)\b/i.test(line)) return null;
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT - 1)}…` : line;
}

export function codeOf(serverText: string | null): string | null {
  const [head = ''] = serverText?.split(': ', 1) ?? [];
  return /^[A-Z_]+$/.test(head) ? head : null;
}

export function requestIdOf(body: Body): string | null {
  const id = body.kind === 'json' && isRecord(body.value) ? body.value.requestId : null;
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null;
}

/** How long a 429 asks to wait; the three headers live servers were seen to use, best first. */
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
  // The other form is a date. The server's own clock is the one to measure it with.
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
  const { error, message } = value;
  if (typeof error === 'string') return error;
  const inner = isRecord(error) ? (error.message ?? error.details) : null;
  return [inner, message].find((text) => typeof text === 'string') ?? null;
}

/** An older alerts server answers with a list: `[{ type, errors: { issues: [{ path, message }] } }]`. */
function issuesIn(list: readonly unknown[]): string | null {
  const texts = list.filter(isRecord).flatMap((item): string[] => {
    if (isRecord(item.errors) && Array.isArray(item.errors.issues)) {
      return [issuesIn(item.errors.issues) ?? ''];
    }
    const path = Array.isArray(item.path) ? `${item.path.join('.')}: ` : '';
    return typeof item.message === 'string' ? [path + item.message] : [];
  });
  const told = texts.filter((text) => text !== '');
  return told.length > 0 ? told.join('; ') : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
