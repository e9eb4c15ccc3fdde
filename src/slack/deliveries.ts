import type { IncomingMessage, RequestListener } from 'node:http';
import { parse } from 'node:querystring';
import { finished } from 'node:stream/promises';
import { HTTPReceiver, isValidSlackRequest, type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Secret } from '../base/errors.ts';
import type { Measures } from '../base/log.ts';
import { skewText } from '../base/text.ts';
import { boltLogger, rateLimited } from './api.ts';
import { type Connections, keepConnections, type Payload, type SocketOptions } from './sockets.ts';

/** Socket Mode or HTTP: how payloads arrive. */
export interface Deliveries extends Connections {
  readonly receiver: Receiver;
  /** For HTTP: verifies signatures and handles requests. Null in Socket Mode. */
  readonly listener: RequestListener | null;
}

/** What the app gives to its deliveries. */
export interface DeliveryPort {
  /** Slack refuses new connections, and only a person can change that. */
  readonly onRefused: (error: unknown) => void;
  /** How many replicas run. */
  readonly replicas: () => Promise<number>;
}

interface Options extends DeliveryPort, Omit<SocketOptions, 'appToken'> {
  readonly appToken: Secret | null;
  readonly signingSecret: Secret | null;
  /** The URL for the first Socket Mode connection; null without one. */
  readonly socketUrl: string | null;
  readonly measures: Pick<Measures, 'foreignConnections' | 'deliveryRefused'>;
}

/** Socket Mode with an app token, HTTP otherwise. */
export function createDeliveries(options: Options): Deliveries {
  return options.appToken === null ? byHttp(options) : bySocket(options, options.appToken);
}

function byHttp(options: Options): Deliveries {
  const signingSecret = options.signingSecret?.reveal() ?? '';
  const receiver = new HTTPReceiver({ signingSecret, logger: boltLogger(options.log) });
  const onRefused = rejections(options, signingSecret);
  let isOpen = false;
  return {
    receiver,
    listener: withValidBody(receiver.requestListener, onRefused),
    open: async () => {
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
    },
    isOpen: () => isOpen,
  };
}

const OTHER_SECRET =
  'payload without a valid signature: refused. If Slack sent it, SLACK_SIGNING_SECRET is that of another app';

/**
 * Counts payloads that were refused, and logs why once a minute. A valid signature whose time is wrong shows that the
 * clock of this machine is.
 */
function rejections({ log, measures, clock }: Options, signingSecret: string) {
  let seconds = 0;
  const wordsOf = (why: string) => {
    if (why === 'signature') return OTHER_SECRET;
    if (why === 'unsigned') return 'payload refused: it has no signature, so it is not of Slack';
    const off = skewText(seconds * 1_000, 'Slack');
    return `payload refused: the clock of this machine is ${off}. Switch on NTP`;
  };
  const report = rateLimited(
    (why, again) => log.warn({ again }, wordsOf(why)),
    () => clock.now(),
  );
  return ({ headers }: IncomingMessage, body: string) => {
    const sentAt = Number(headers['x-slack-request-timestamp']);
    const signature = String(headers['x-slack-signature']);
    const isSigned = isValidSlackRequest({
      ...{ signingSecret, body, nowMilliseconds: sentAt * 1_000 },
      headers: { 'x-slack-request-timestamp': sentAt, 'x-slack-signature': signature },
    });
    const given = 'x-slack-signature' in headers ? 'signature' : 'unsigned';
    const why = isSigned ? 'clock' : given;
    seconds = Math.round(Date.now() / 1_000 - sentAt);
    measures.deliveryRefused(why);
    report(why);
  };
}

const SKEW_MAX_S = 300;

// Bolt refuses old timestamps only; a signed timestamp in the future would stay valid until then.
function isTimely(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || !/^\d{1,12}$/.test(header)) return false;
  return Math.abs(Date.now() / 1_000 - Number(header)) <= SKEW_MAX_S;
}

/** Slack's own payloads are a few kilobytes. */
const BODY_LIMIT = 128 * 1024;

/**
 * Reads the body before Bolt and rejects one that is not a JSON object: Bolt's parser would throw
 * outside of every handler, which ends the process.
 */
export function withValidBody(
  listener: RequestListener,
  onRefused: (request: IncomingMessage, body: string) => void = () => undefined,
): RequestListener {
  return (request, response) => {
    const refuse = (status: number) => {
      if (!response.headersSent) response.writeHead(status).end();
    };
    readBody(request).then(
      (body) => {
        if (body === null) return refuse(413);
        // A gateway may add a charset, which Bolt does not accept.
        const [type] = request.headers['content-type']?.split(';') ?? [];
        Object.assign(request.headers, type && { 'content-type': type.trim().toLowerCase() });
        if (!holdsObject(body.toString(), request.headers['content-type'])) return refuse(400);
        response.once('finish', () => {
          if (response.statusCode === 401) onRefused(request, body.toString());
        });
        if (!isTimely(request.headers['x-slack-request-timestamp'])) return refuse(401);
        // Bolt uses `rawBody` where it is set.
        return listener(Object.assign(request, { rawBody: body }), response);
      },
      () => refuse(400),
    );
  };
}

/** Null for a body that is too large. It is read to its end, so that the client gets the answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= BODY_LIMIT) pieces.push(piece);
  });
  // Rejects if the request closes before its end.
  await finished(request);
  return size > BODY_LIMIT ? null : Buffer.concat(pieces);
}

/** A field of this name, also where the name is written with escapes. */
const MAY_HAVE_PAYLOAD = /(?:^|&)(?:payload|[^=&]*%)/;

function holdsObject(text: string, contentType: string | undefined): boolean {
  if (contentType !== 'application/x-www-form-urlencoded') return isObject(text);
  const payload = MAY_HAVE_PAYLOAD.test(text) ? parse(text).payload : undefined;
  return payload === undefined || (typeof payload === 'string' && isObject(payload));
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
  const onOthers = (others: number) => void reportForeign(options, others);
  const connections = keepConnections({ ...options, appToken, firstUrl, receive, onOthers });
  return { receiver, listener: null, ...connections };
}

/** How many connections each replica keeps; during a refresh there can be more for a minute. */
const PER_REPLICA = 2;
const FOREIGN =
  'another program uses this app token and receives a part of the payloads: give each environment its own app';

/** Slack gives each payload to any one connection of the app, so those of another program lose clicks. */
async function reportForeign({ replicas, measures, log }: Options, others: number): Promise<void> {
  try {
    const foreign = Math.max(0, others - PER_REPLICA * ((await replicas()) - 1));
    measures.foreignConnections(foreign);
    if (foreign > 0) log.warn({ connections: foreign }, FOREIGN);
  } catch (error) {
    log.debug({ err: error }, 'the replicas could not be counted');
  }
}
