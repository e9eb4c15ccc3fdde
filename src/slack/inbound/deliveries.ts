import type { RequestListener } from 'node:http';
import { HTTPReceiver, type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Secret } from '../../base/errors.ts';
import type { Clock } from '../../base/time.ts';
import { boltLogger } from '../outbound/bolt-logger.ts';
import type { Payload } from '../socket/connection.ts';
import { keepConnections } from '../socket/connections.ts';
import { withValidBody } from './body-limit.ts';

export interface Deliveries {
  readonly receiver: Receiver;
  /** For HTTP: verifies signatures and handles requests. Null in Socket Mode. */
  readonly listener: RequestListener | null;
  /** Rejects with Slack's refusal of the app token. */
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly isOpen: () => boolean;
}

interface Options {
  readonly appToken: Secret | null;
  readonly signingSecret: Secret | null;
  readonly slackApiUrl: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  /** The URL for the first Socket Mode connection; null without one. */
  readonly socketUrl: string | null;
  /** Slack refuses new connections, and only a person can change that. */
  readonly onRefused: (error: unknown) => void;
}

/** Socket Mode with an app token, HTTP otherwise. */
export function createDeliveries(options: Options): Deliveries {
  return options.appToken === null ? byHttp(options) : bySocket(options, options.appToken);
}

function byHttp({ signingSecret, log }: Options): Deliveries {
  const receiver = new HTTPReceiver({
    signingSecret: signingSecret?.reveal() ?? '',
    logger: boltLogger(log),
  });
  let isOpen = false;
  return {
    receiver,
    listener: withValidBody(receiver.requestListener),
    open: async () => {
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
    },
    isOpen: () => isOpen,
  };
}

function bySocket(options: Options, appToken: Secret): Deliveries {
  const { slackApiUrl, log, socketUrl: firstUrl } = options;
  // Its own client never connects: the payloads of all connections are passed to it.
  const receiver = new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger: boltLogger(log),
    installerOptions: { clientOptions: { slackApiUrl } },
  });
  const receive = (payload: Payload) => void receiver.client.emit('slack_event', payload);
  const connections = keepConnections({ ...options, appToken, firstUrl, receive });
  return { receiver, listener: null, ...connections };
}
