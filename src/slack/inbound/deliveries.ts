import type { RequestListener } from 'node:http';
import { HTTPReceiver, type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Secret } from '../../errors.ts';
import { boltLogger } from '../outbound/bolt-logger.ts';
import { withValidBody } from './body-limit.ts';

export interface Deliveries {
  readonly receiver: Receiver;
  /** For HTTP: verifies signatures and handles requests. Null in Socket Mode. */
  readonly listener: RequestListener | null;
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly isOpen: () => boolean;
}

interface Options {
  readonly appToken: Secret | null;
  readonly signingSecret: Secret | null;
  readonly slackApiUrl: string;
  readonly log: Logger;
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

function bySocket({ slackApiUrl, log }: Options, appToken: Secret): Deliveries {
  const receiver = new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger: boltLogger(log),
    // Long enough that a briefly blocked event loop does not drop the connection.
    clientPingTimeout: 20_000,
    serverPingTimeout: 60_000,
    installerOptions: { clientOptions: { slackApiUrl } },
  });
  let isOpen = false;
  receiver.client.on('connected', () => {
    isOpen = true;
  });
  for (const event of ['reconnecting', 'disconnecting', 'disconnected', 'close']) {
    receiver.client.on(event, () => {
      isOpen = false;
    });
  }
  return {
    receiver,
    listener: null,
    open: async () => void (await receiver.client.start()),
    close: () => receiver.client.disconnect(),
    isOpen: () => isOpen,
  };
}
