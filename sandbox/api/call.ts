import { createHash } from 'node:crypto';
import type { Request } from 'express';

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly text: string };

/** One request with the operation to which it was routed. */
export type Call = ReturnType<typeof readCall>;

export function readCall(request: Request, operation: string, fault: string | null) {
  const query = request.originalUrl.split('?').slice(1).join('?');
  const params = Object.entries(request.params).map(([key, value]) => [key, String(value)]);
  const headers = Object.entries(request.headers).map(([key, value]) => [key, String(value)]);
  return {
    operation,
    /** The name of the fault that applies to this request, or null. */
    fault,
    method: request.method,
    /** The request target, with the query. */
    path: request.originalUrl,
    params: Object.fromEntries(params),
    query: new URLSearchParams(query),
    headers: Object.fromEntries(headers),
    body: readBody(request),
  };
}

// Both contracts accept only application/json; the servers ignore other bodies.
function readBody(request: Request): Body {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { kind: 'none' };
  if (!request.is('application/json')) return { kind: 'none' };
  const text = bytes.toString('utf8');
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'invalid', text };
  }
}

/** The headers with a digest of the credentials: a reader can compare keys but not use them. */
export function loggedHeaders(headers: Call['headers']): Call['headers'] {
  const { authorization } = headers;
  if (authorization === undefined) return headers;
  const [scheme = '', ...rest] = authorization.split(' ');
  const digest = createHash('sha256').update(rest.join(' ')).digest('hex').slice(0, 12);
  return { ...headers, authorization: `${scheme} sha256:${digest}` };
}
