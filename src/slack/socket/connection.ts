import { SocketModeClient } from '@slack/socket-mode';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Secret } from '../../base/errors.ts';
import { withTimeout } from '../../base/errors.ts';
import type { Clock } from '../../base/time.ts';
import { boltLogger } from '../outbound/bolt-logger.ts';

const OPEN_WITHIN_MS = 4_000;
const CLOSE_WITHIN_MS = 500;
const ACKNOWLEDGED_WITHIN_MS = 1_000;

const Control = z.looseObject({
  type: z.string(),
  reason: z.string().optional(),
  debug_info: z.looseObject({ approximate_connection_time: z.number().optional() }).optional(),
});

/** A payload from Slack, as Bolt's receiver gets it. */
export interface Payload {
  readonly envelope_id: string;
  readonly ack: (response?: unknown) => Promise<void>;
}

/**
 * One WebSocket connection of Socket Mode. The library closes a connection as soon as Slack announces
 * a refresh, with unacknowledged payloads in it. This one stays open until Slack closes it.
 * Source: docs/slack.md#socket-mode.
 */
export class SocketConnection extends SocketModeClient {
  /** The time from `hello` to the refresh, as Slack estimates it; null before `hello`. */
  lifetimeMs: number | null = null;
  /** Slack has announced the end of this connection. */
  isEnding = false;
  readonly #unacknowledged = new Set<string>();

  protected override async onWebSocketMessage(
    data: string | ArrayBuffer,
    isBinary: boolean,
  ): Promise<void> {
    const control = controlMessage(data);
    if (control?.type === 'disconnect') {
      this.isEnding = true;
      this.emit('ending', control.reason);
      return;
    }
    const seconds = control?.debug_info?.approximate_connection_time;
    if (control?.type === 'hello') this.lifetimeMs = seconds === undefined ? null : seconds * 1_000;
    try {
      await super.onWebSocketMessage(data, isBinary);
    } catch (error) {
      // The library throws on an event without a type, and nothing would catch that.
      this.emit('unreadable', error);
    }
  }

  isActive(): boolean {
    return this.websocket?.isActive() === true;
  }

  expectAcknowledgement({ envelope_id }: Payload): void {
    this.#unacknowledged.add(envelope_id);
  }

  acknowledged({ envelope_id }: Payload): void {
    this.#unacknowledged.delete(envelope_id);
    if (this.#unacknowledged.size === 0) this.emit('drained');
  }

  /** Resolves when no payload waits for its acknowledgement, at most after a second. */
  async drained(): Promise<void> {
    if (this.#unacknowledged.size === 0 || !this.isActive()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.once('drained', resolve);
    const timer = setTimeout(resolve, ACKNOWLEDGED_WITHIN_MS);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Sends the close frame, and ends the TCP connection after half a second: Slack may leave it open
   * after the close handshake.
   */
  async close({ timeout }: Pick<Clock, 'timeout'>): Promise<void> {
    const late = timeout(CLOSE_WITHIN_MS);
    const end = () => this.websocket?.disconnect();
    late.addEventListener('abort', end, { once: true });
    await this.disconnect();
    late.removeEventListener('abort', end);
  }
}

/** A message about the connection itself; null for a payload. */
function controlMessage(data: string | ArrayBuffer): z.infer<typeof Control> | null {
  if (typeof data !== 'string' || data.includes('"envelope_id"')) return null;
  try {
    return Control.safeParse(JSON.parse(data)).data ?? null;
  } catch {
    return null;
  }
}

export interface SocketOptions {
  readonly appToken: Secret;
  readonly slackApiUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sends the calls of the Web API. */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Opens one connection at this URL of Slack, or at a new one; resolves when Slack has said hello.
 * Rejects with Slack's refusal or after four seconds. The library's reconnects are off: they wait for
 * `clientPingTimeout` each time.
 */
export async function openConnection(
  options: SocketOptions,
  receive: (payload: Payload, connection: SocketConnection) => void,
  url: string | null = null,
): Promise<SocketConnection> {
  const { appToken, slackApiUrl, log, fetch } = options;
  const connection = new SocketConnection({
    appToken: appToken.reveal(),
    logger: boltLogger(log),
    autoReconnectEnabled: false,
    // Long enough that a briefly blocked event loop does not drop the connection.
    clientPingTimeout: 10_000,
    serverPingTimeout: 60_000,
    clientOptions: {
      slackApiUrl,
      timeout: OPEN_WITHIN_MS,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      // The library always requests a URL: this reply takes the place of that call.
      fetch: url === null ? fetch : async () => Response.json({ ok: true, url }),
    },
  });
  connection.on('slack_event', (payload: Payload) => receive(payload, connection));
  connection.on('unreadable', (error) => log.warn({ err: error }, 'unreadable message of Slack'));
  const started = connection.start();
  try {
    await withTimeout(OPEN_WITHIN_MS, started);
    return connection;
  } catch (error) {
    // A start that was given up may still open its connection later.
    const close = () => void connection.close(options.clock);
    started.then(close, close);
    throw error ?? new Error('Slack closed the new connection');
  }
}
