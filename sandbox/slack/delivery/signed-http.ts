import { createHmac } from 'node:crypto';
import type { Json } from '../../json.ts';
import {
  type AppResponse,
  type DeliverToApp,
  type PayloadKind,
  type Retry,
  undelivered,
} from './delivery.ts';

export interface HttpRoute {
  /** The address of the app; null while the app does not listen. */
  eventsUrl: string | null;
  readonly signingSecret: string;
  readonly ackTimeoutMs: number;
  /** The time for signatures. Receivers compare it with their own clock, which may be real. */
  readonly signedAt: () => Date;
}

export function httpDelivery(route: HttpRoute): DeliverToApp {
  return async (kind, payload, retry) => {
    if (route.eventsUrl === null) return undelivered;
    const startedAt = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedAt);
    try {
      const response = await fetch(route.eventsUrl, signedRequest(route, kind, payload, retry));
      const body = await response.text();
      return { ...responseFields(kind, response), ms: elapsedMs(), body };
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === 'TimeoutError';
      const failure = isTimeout ? 'operation_timeout' : 'dispatch_failed';
      return { ...undelivered, ms: elapsedMs(), failure };
    }
  };
}

function signedRequest(
  route: HttpRoute,
  kind: PayloadKind,
  payload: Json,
  retry: Retry | null | undefined,
): RequestInit {
  const body = encodePayload(kind, payload);
  const type = kind === 'events_api' ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(route.ackTimeoutMs),
    headers: {
      'content-type': type,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      ...signatureOf(route.signingSecret, route.signedAt(), body),
      ...(retry && {
        'x-slack-retry-num': String(retry.num),
        'x-slack-retry-reason': retry.reason,
      }),
    },
    body,
  };
}

/** The headers with which Slack signs a body. */
export function signatureOf(signingSecret: string, at: Date, body: string) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`);
  return {
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac.digest('hex')}`,
  };
}

function encodePayload(kind: PayloadKind, payload: Json): string {
  const json = JSON.stringify(payload);
  if (kind === 'events_api') return json;
  if (kind === 'interactive') return new URLSearchParams({ payload: json }).toString();
  const fields = Object.entries(payload).map(([key, value]) => [key, String(value)]);
  return new URLSearchParams(Object.fromEntries(fields)).toString();
}

function responseFields(kind: PayloadKind, response: Response): Omit<AppResponse, 'ms' | 'body'> {
  const isAccepted = kind === 'events_api' ? response.ok : response.status === 200;
  return {
    status: response.status,
    failure: isAccepted ? null : 'dispatch_failed',
    noRetry: response.headers.get('x-slack-no-retry') === '1',
  };
}
