import type { IncomingMessage, RequestListener } from 'node:http';
import { parse } from 'node:querystring';
import { HTTPReceiver, type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import type { Clock } from '../base/time.ts';
import { boltLogger } from './api.ts';
import { type Connections, keepConnections, type Payload } from './sockets.ts';

/** Socket Mode or HTTP: how payloads arrive. */
export interface Deliveries extends Connections {
  readonly receiver: Receiver;
  /** For HTTP: verifies signatures and handles requests. Null in Socket Mode. */
  readonly listener: RequestListener | null;
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

/** Slack's own payloads are a few kilobytes. */
const BODY_LIMIT = 128 * 1024;

/**
 * Reads the body before Bolt and rejects one that is not a JSON object: Bolt's parser would throw
 * outside of every handler, which ends the process.
 */
export function withValidBody(listener: RequestListener): RequestListener {
  return (request, response) => {
    const refuse = (status: number) => {
      if (!response.headersSent) response.writeHead(status).end();
    };
    readBody(request).then(
      (body) => {
        if (body === null) return refuse(413);
        if (!holdsObject(body.toString(), request.headers['content-type'])) return refuse(400);
        // Bolt uses `rawBody` where it is set.
        return listener(Object.assign(request, { rawBody: body }), response);
      },
      () => refuse(400),
    );
  };
}

/** Null for a body that is too large. It is read to its end, so that the client gets the answer. */
function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= BODY_LIMIT) pieces.push(piece);
  });
  return new Promise((read, failed) => {
    request.once('end', () => read(size > BODY_LIMIT ? null : joined(pieces)));
    // Also emitted when the connection breaks off.
    request.once('error', failed);
  });
}

/** A copy of a single piece would keep the memory that Node shares among small buffers. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}

function holdsObject(text: string, contentType: string | undefined): boolean {
  if (contentType === 'application/x-www-form-urlencoded') {
    const { payload } = parse(text);
    return payload === undefined || (typeof payload === 'string' && isObject(payload));
  }
  return isObject(text);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
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
