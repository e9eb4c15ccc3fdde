import { createHmac } from 'node:crypto';
import type { Json } from '../../protocol.ts';
import {
  type Answer,
  type DeliverToApp,
  type PayloadKind,
  type Retry,
  undelivered,
} from './answer.ts';

export interface HttpRoute {
  /** Where the app listens; unknown until it does. */
  eventsUrl: string | null;
  readonly signingSecret: string;
  readonly ackTimeoutMs: number;
  /** Real time even when the workspace's clock stands still: receivers compare it with theirs. */
  readonly signedAt: () => Date;
}

export function httpCourier(route: HttpRoute): DeliverToApp {
  return async (kind, payload, retry) => {
    if (route.eventsUrl === null) return undelivered;
    const began = performance.now();
    try {
      const response = await fetch(route.eventsUrl, signedRequest(route, { kind, payload, retry }));
      return answered(kind, response, await response.text(), performance.now() - began);
    } catch (error) {
      return unanswered(error, performance.now() - began);
    }
  };
}

interface Parcel {
  readonly kind: PayloadKind;
  readonly payload: Json;
  readonly retry: Retry | undefined;
}

function signedRequest(route: HttpRoute, { kind, payload, retry }: Parcel): RequestInit {
  const body = encoded(kind, payload);
  const timestamp = Math.floor(route.signedAt().getTime() / 1000);
  const hmac = createHmac('sha256', route.signingSecret).update(`v0:${timestamp}:${body}`);
  return {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(route.ackTimeoutMs),
    headers: {
      'content-type':
        kind === 'events_api' ? 'application/json' : 'application/x-www-form-urlencoded',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': `v0=${hmac.digest('hex')}`,
      ...(retry && {
        'x-slack-retry-num': String(retry.num),
        'x-slack-retry-reason': retry.reason,
      }),
    },
    body,
  };
}

function encoded(kind: PayloadKind, payload: Json): string {
  const json = JSON.stringify(payload);
  if (kind === 'events_api') return json;
  if (kind === 'interactive') return new URLSearchParams({ payload: json }).toString();
  const fields = Object.entries(payload).map(([key, value]): [string, string] => [
    key,
    String(value),
  ]);
  return new URLSearchParams(fields).toString();
}

function answered(kind: PayloadKind, response: Response, body: string, ms: number): Answer {
  const good = kind === 'events_api' ? response.ok : response.status === 200;
  return {
    status: response.status,
    ms: Math.round(ms),
    body,
    failure: good ? null : 'dispatch_failed',
    noRetry: response.headers.get('x-slack-no-retry') === '1',
  };
}

function unanswered(error: unknown, ms: number): Answer {
  const late = error instanceof Error && error.name === 'TimeoutError';
  return {
    ...undelivered,
    ms: Math.round(ms),
    failure: late ? 'operation_timeout' : 'dispatch_failed',
  };
}
