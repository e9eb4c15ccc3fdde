import { randomUUID } from 'node:crypto';
import type { Call } from '../api/call.ts';
import { type Headers, htmlReply, jsonReply, type Reply, textReply } from '../api/reply.ts';
import { apiOf, type Fault } from './fault.ts';

/** Error replies. Nothing takes effect, except where the name says "after-effect". */
export const ERROR_FAULTS: readonly Fault[] = [
  instead('error-200', 'Status 200 with an error in the body; nothing took effect', (call) => ({
    ...refusal(call, 400, 'BAD_REQUEST: The request was not accepted', 'Not accepted'),
    status: 200,
  })),
  instead('401', 'The key is refused, for example after a rotation', (call) =>
    apiOf(call) === 'cloud'
      ? jsonReply(401, { error: 'UNAUTHORIZED: Key is not found', status: 401 })
      : textReply(401, 'Unauthorized'),
  ),
  instead('403', 'The key has no permission for this operation', (call) =>
    refusal(call, 403, 'FORBIDDEN: The key has no permission for this operation', 'Forbidden'),
  ),
  instead('404-html', '404 with an HTML page, as for a wrong address', (call) =>
    htmlReply(404, `Cannot ${call.method} ${call.path.split('?')[0]}`),
  ),
  instead('408', '408 with JSON', (call) =>
    refusal(call, 408, 'REQUEST_TIMEOUT: The request took too long', 'Request timeout'),
  ),
  limited('429', '429 without a retry header', {}),
  limited('429-x-ratelimit-reset', '429 with X-RateLimit-Reset: 2.5 (seconds)', {
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '2.5',
  }),
  limited('429-ratelimit-reset', '429 with RateLimit-Reset: 3 (seconds)', {
    'ratelimit-limit': '100',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '3',
  }),
  limited('429-retry-after', '429 with Retry-After: 2', { 'retry-after': '2' }),
  limited('429-retry-after-date', '429 with Retry-After as a date in the past', {
    'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT',
  }),
  instead('429-html', '429 with an HTML page and Retry-After: 60', () =>
    htmlReply(429, 'Too many requests, please try again later.', { 'retry-after': '60' }),
  ),
  instead('500', '500 with JSON, nothing took effect', serverError),
  instead('502', '502 with plain text', badGateway),
  instead('503', '503 with plain text', () => textReply(503, 'Service Unavailable')),
  instead('504', '504 with an HTML page, nothing took effect', gatewayTimeout),
  afterEffect('500-after-effect', 'Takes effect, then 500 with JSON', serverError),
  afterEffect('502-after-effect', 'Takes effect, then 502 with plain text', badGateway),
  afterEffect('504-after-effect', 'Takes effect, then 504 with an HTML page', gatewayTimeout),
];

function instead(name: string, summary: string, answer: (call: Call) => Reply): Fault {
  return { name, summary, instead: answer };
}

function afterEffect(name: string, summary: string, answer: (call: Call) => Reply): Fault {
  return { name, summary, change: (_, call) => answer(call) };
}

function limited(name: string, summary: string, headers: Headers): Fault {
  return instead(name, summary, (call) =>
    apiOf(call) === 'cloud'
      ? jsonReply(429, { status: 429, error: 'Rate limit exceeded' }, headers)
      : htmlReply(429, 'Too many requests, please try again later.', headers),
  );
}

function refusal(call: Call, status: number, cloud: string, alerts: string): Reply {
  if (apiOf(call) === 'alerts') return jsonReply(status, { message: alerts });
  return jsonReply(status, { status, error: cloud, requestId: randomUUID() });
}

function serverError(call: Call): Reply {
  return refusal(call, 500, 'INTERNAL_SERVER_ERROR: Please retry later', 'Something went wrong :(');
}

function badGateway(): Reply {
  return textReply(502, 'Bad Gateway');
}

function gatewayTimeout(): Reply {
  return htmlReply(504, '504 Gateway Time-out: the origin did not answer in time');
}
