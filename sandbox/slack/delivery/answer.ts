import type { Delivery, Json } from '../../protocol.ts';

export type PayloadKind = 'slash_commands' | 'interactive' | 'events_api';

export interface Retry {
  readonly num: number;
  readonly reason: string;
}

/** How the app answered one payload. */
export interface Answer {
  /** 0 when no answer came at all. */
  readonly status: number;
  readonly ms: number;
  readonly body: string;
  readonly failure: 'operation_timeout' | 'dispatch_failed' | null;
  /** The app asks not to be offered this event again. */
  readonly noRetry: boolean;
}

/** Takes a payload to the app and waits for the acknowledgement. It never rejects. */
export type DeliverToApp = (kind: PayloadKind, payload: Json, retry?: Retry) => Promise<Answer>;

export const undelivered: Answer = {
  status: 0,
  ms: 0,
  body: '',
  failure: 'dispatch_failed',
  noRetry: false,
};

export function delivery(answer: Answer, error: string | null = answer.failure): Delivery {
  return { status: answer.status, ms: answer.ms, body: answer.body, error };
}

/** What Slack says when it does not even ask the app. */
export function notAsked(error: string): Delivery {
  return { status: 0, ms: 0, body: '', error };
}
