import type { Json } from '../../json.ts';
import type { Delivery } from '../../protocol.ts';
import type { SocketRefresh } from './socket-refresh.ts';

export type PayloadKind = 'slash_commands' | 'interactive' | 'events_api';

export interface Retry {
  readonly num: number;
  readonly reason: string;
}

/** The app's response to one payload. */
export interface AppResponse {
  /** The HTTP status; 0 when the app did not respond. */
  readonly status: number;
  readonly ms: number;
  readonly body: string;
  readonly failure: 'operation_timeout' | 'dispatch_failed' | null;
  /** True when the app asks Slack not to retry this event. */
  readonly noRetry: boolean;
}

/** Sends a payload to the app and waits for the acknowledgement. It never rejects. */
export type DeliverToApp = (
  kind: PayloadKind,
  payload: Json,
  retry?: Retry | null,
) => Promise<AppResponse>;

/** The connection to the app, which tests and the sandbox can change while it is in use. */
export interface AppConnection {
  readonly deliverTo: (eventsUrl: string | null) => void;
  readonly connections: () => number;
  /** Refreshes connections of Socket Mode; resolves when they get no more payloads. */
  readonly refreshSockets: (refresh: SocketRefresh) => Promise<void>;
  /** Slack does not read from the oldest connection any more, so it answers no ping. */
  readonly silenceOldestSocket: () => void;
  readonly close: () => void;
}

export const undelivered: AppResponse = {
  status: 0,
  ms: 0,
  body: '',
  failure: 'dispatch_failed',
  noRetry: false,
};

export function deliveryOf(response: AppResponse, error: string | null = response.failure) {
  const { status, ms, body } = response;
  return { status, ms, body, error };
}

/** The result of an interaction that Slack refuses without a request to the app. */
export function refusedBySlack(error: string): Delivery {
  return { status: 0, ms: 0, body: '', error };
}

/** The result of an interaction about which Slack does not notify the app. */
export const notSent: Delivery = { status: 200, ms: 0, body: '', error: null };
