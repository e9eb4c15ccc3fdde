import { SocketModeClient } from '@slack/socket-mode';
import { z } from 'zod';
import { causeCode, type Secret, withTimeout } from '../base/errors.ts';
import { outbound } from '../base/http-limits.ts';
import { createOutageLog } from '../base/log.ts';
import { backoffMs, type Clock } from '../base/time.ts';
import {
  boltLogger,
  isLastingRefusal,
  rateLimited,
  refusedBySlack,
  retryAfterMs,
  type WebApi,
} from './api.ts';

const OPEN_WITHIN_MS = 4_000;
const CLOSE_WITHIN_MS = 500;
const ACKNOWLEDGED_WITHIN_MS = 1_000;

const REFRESHES = ['warning', 'refresh_requested'];

const Control = z.looseObject({
  type: z.string(),
  reason: z.string().optional().catch(undefined),
  num_connections: z.number().optional().catch(undefined),
  debug_info: z
    // A connection that must be replaced at once would be replaced for ever.
    .looseObject({ approximate_connection_time: z.number().min(60).optional().catch(undefined) })
    .optional()
    .catch(undefined),
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
class SocketConnection extends SocketModeClient {
  /** The time from `hello` to the refresh, as Slack estimates it; null before `hello`. */
  lifetimeMs: number | null = null;
  /** How many connections the app has with this one, as `hello` counts them; null where Slack does not say. */
  count: number | null = null;
  /** Slack has announced the end of this connection. */
  isEnding = false;
  /** It ends because its time is over. */
  isRefreshed = false;
  readonly #unacknowledged = new Set<string>();

  protected override async onWebSocketMessage(
    data: string | ArrayBuffer,
    isBinary: boolean,
  ): Promise<void> {
    const control = controlMessage(data);
    if (control?.type === 'disconnect') {
      this.isEnding = true;
      this.isRefreshed = REFRESHES.includes(control.reason ?? '');
      this.emit('ending', control.reason);
      return;
    }
    const seconds = control?.debug_info?.approximate_connection_time;
    if (control?.type === 'hello') {
      this.lifetimeMs = seconds === undefined ? null : seconds * 1_000;
      this.count = control.num_connections ?? null;
    }
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

export interface SocketOptions extends Omit<WebApi, 'installation'> {
  readonly appToken: Secret;
  readonly clock: Clock;
  /** The usual variables name a proxy, which may not hold for Slack. */
  readonly isProxied: boolean;
}

/**
 * Opens one connection at this URL of Slack, or at a new one; resolves when Slack has said hello.
 * Rejects with Slack's refusal or after four seconds. The library's reconnects are off: they wait for
 * `clientPingTimeout` each time.
 */
async function openConnection(
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
    // Without a proxy the library has its own, which can end a TCP connection that Slack leaves open.
    ...(options.isProxied ? { dispatcher: outbound() } : {}),
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

/**
 * Opens a connection at this URL and closes it, which proves the way that payloads take. Returns how many connections
 * the app has without it, null where Slack does not say. Rejects where none opens.
 */
export async function probeConnection(options: SocketOptions, url: string): Promise<number | null> {
  const connection = await openConnection(options, () => undefined, url);
  const { count } = connection;
  await connection.close(options.clock);
  return count === null ? null : count - 1;
}

/** While one connection is replaced, Slack delivers to the other one. */
const CONNECTIONS = 2;
/** How often closed connections are found whose TCP connection Slack has left open. */
const CHECK_EVERY_MS = 250;
/** A replaced connection that Slack does not close is closed after this time. */
const LINGER_MS = 60_000;
const LEAD_MS = 60_000;
/** A connection that ends earlier was not a good one: Slack says hello before it refuses too many of them. */
const GOOD_AFTER_MS = 10_000;
const RESENT_MS = 1_000;
const UNANNOUNCED =
  'a Socket Mode connection ended unannounced: if it repeats, look for a proxy or firewall that ends connections';
const OUTAGE = {
  began: 'no new Socket Mode connection; Signalbox retries until it succeeds',
  ended: 'Socket Mode connections can be opened again',
};

interface ConnectionsOptions extends SocketOptions {
  /** A URL that Slack has issued for one connection: the first connection needs no other call. */
  readonly firstUrl?: string | null;
  readonly receive: (payload: Payload) => void;
  /** Calls `check` periodically; returns how to end that. Tests call it themselves as well. */
  readonly every?: (check: () => void, ms: number) => () => void;
  /** Slack refuses new connections, and only a person can change that. */
  readonly onRefused: (error: unknown) => void;
  /** Called at each hello that counts connections, with those that are not of this process. */
  readonly onOthers: (others: number) => void;
}

export type Connections = ReturnType<typeof keepConnections>;

interface Acknowledgement {
  readonly connection: SocketConnection;
  /** The JSON text that Slack expects. */
  readonly message: string;
  readonly at: number;
}

interface Held {
  readonly connection: SocketConnection;
  readonly openedAt: number;
  /** When the replacement is opened, in milliseconds of the clock. */
  readonly replaceAt: number;
  /** When this connection was replaced; null while it is current. */
  replacedAt: number | null;
}

/**
 * Keeps two connections open. A connection that Slack refreshes, or whose time is nearly over, is
 * replaced first and stays open until Slack closes it, because a payload may be on its way.
 * Source: docs/slack.md#socket-mode.
 */
export function keepConnections(options: ConnectionsOptions) {
  const { clock, log, onRefused } = options;
  const outage = createOutageLog(log, OUTAGE);
  const held = new Set<Held>();
  const stopping = new AbortController();
  let isRefused = false;
  let recent: readonly Acknowledgement[] = [];
  let isFilling = false;
  let endChecks = () => {};
  /** How many connections in a row ended before they were good. */
  let early = 0;

  const reportEnd = rateLimited(
    (said, again) => log.warn({ again }, said),
    () => clock.now(),
  );

  const isGood = ({ openedAt }: Held) => clock.now() - openedAt >= GOOD_AFTER_MS;

  const isCurrent = ({ connection, replaceAt }: Held) =>
    connection.isActive() && !connection.isEnding && clock.now() < replaceAt;

  const isRecent = ({ at }: Acknowledgement) => clock.now() - at <= RESENT_MS;

  /** Acknowledges over another connection, because the one that delivered the payload is closed. */
  const sendElsewhere = ({ message }: Acknowledgement): boolean => {
    const other = [...held].find(({ connection }) => connection.isActive());
    other?.connection.websocket?.send(message, () => undefined);
    return other !== undefined;
  };

  const receive = (payload: Payload, connection: SocketConnection) => {
    connection.expectAcknowledgement(payload);
    const ack = async (response?: unknown) => {
      const sent = { connection, message: acknowledgement(payload, response), at: clock.now() };
      recent = recent.filter(isRecent).concat(sent);
      try {
        await payload.ack(response).catch((error: unknown) => {
          if (!sendElsewhere(sent)) throw error;
        });
      } finally {
        connection.acknowledged(payload);
      }
    };
    options.receive({ ...payload, ack });
  };

  const add = async (url: string | null = null) => {
    const connection = await openConnection(options, receive, url);
    if (stopping.signal.aborted) return connection.close(clock);
    const lifetime = connection.lifetimeMs ?? Number.POSITIVE_INFINITY;
    // The random part keeps the two connections from being replaced at the same moment.
    const lead = Math.min(LEAD_MS, lifetime / 10) * (0.5 + clock.random() / 2);
    const openedAt = clock.now();
    const { count } = connection;
    if (count !== null) options.onOthers(count - 1 - held.size);
    held.add({ connection, openedAt, replaceAt: openedAt + lifetime - lead, replacedAt: null });
    connection.on('ending', check);
    connection.on('disconnected', check);
    if (![...held].some((each) => each.connection === connection && isCurrent(each))) {
      throw new Error('Slack ended the new connection at once');
    }
  };

  /** Opens connections until there are this many. Throws a refusal that only a person can change. */
  const fillTo = async (wanted: number) => {
    for (let failures = 0; [...held].filter(isCurrent).length < wanted; ) {
      // The first one that ends early is replaced at once: another may have to carry all payloads.
      if (failures === 0 && early > 1)
        await clock.sleep(backoffMs(early - 1, clock), stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        await add();
        outage.ended();
        failures = 0;
      } catch (error) {
        if (isLastingRefusal(error)) throw error;
        failures += 1;
        const kind = refusedBySlack(error) ?? causeCode(error) ?? 'no connection';
        outage.failed(kind, { err: error });
        await clock.sleep(retryMs(error, failures, clock), stopping.signal);
      }
    }
  };

  const fill = () =>
    fillTo(CONNECTIONS).catch((error: unknown) => {
      isRefused = true;
      onRefused(error);
    });

  function check(): void {
    if (stopping.signal.aborted) return;
    const current = [...held].filter(isCurrent).length;
    const newest = [...held].at(-1);
    if (newest && isCurrent(newest) && isGood(newest)) early = 0;
    for (const each of held) {
      if (!isCurrent(each)) each.replacedAt ??= clock.now();
      if (!each.connection.isActive() && !each.connection.isEnding) reportEnd(UNANNOUNCED);
      const isLate = clock.now() - (each.replacedAt ?? clock.now()) > LINGER_MS;
      if (each.connection.isActive() && !(isLate && current >= CONNECTIONS)) continue;
      held.delete(each);
      if (!isGood(each) && !each.connection.isRefreshed) early += 1;
      // An abrupt closing can lose the acknowledgements that were sent last.
      const isLost = (sent: Acknowledgement) => sent.connection === each.connection;
      if (!each.connection.isActive())
        recent.filter(isRecent).filter(isLost).forEach(sendElsewhere);
      void closeDrained(each, clock);
    }
    if (current >= CONNECTIONS || isRefused) return;
    if (isFilling) return;
    isFilling = true;
    void fill().finally(() => {
      isFilling = false;
    });
  }

  return {
    /** Resolves when the first connection is open, or on `close`. Rejects with a permanent refusal of Slack. */
    open: async () => {
      const { firstUrl = null } = options;
      // Slack's URLs expire, and Slack does not document when.
      if (firstUrl !== null)
        await add(firstUrl).catch((error: unknown) => {
          log.info({ err: error }, 'the URL of the first Socket Mode connection has expired');
        });
      await fillTo(1);
      endChecks = (options.every ?? onInterval)(check, CHECK_EVERY_MS);
      check();
    },
    /** Closes all connections after their open acknowledgements; takes at most 1.5 s. */
    close: async () => {
      stopping.abort();
      endChecks();
      await Promise.all([...held].map((each) => closeDrained(each, clock)));
    },
    isOpen: () =>
      !stopping.signal.aborted && [...held].some(({ connection }) => connection.isActive()),
  };
}

function onInterval(check: () => void, ms: number): () => void {
  const timer = setInterval(check, ms).unref();
  return () => clearInterval(timer);
}

async function closeDrained({ connection }: Held, clock: Clock): Promise<void> {
  await connection.drained();
  await connection.close(clock);
}

function acknowledgement({ envelope_id }: Payload, response: unknown = {}): string {
  const payload = typeof response === 'string' ? { text: response } : response;
  return JSON.stringify({ envelope_id, payload });
}

function retryMs(error: unknown, failures: number, clock: Clock): number {
  const limitedMs = refusedBySlack(error) === 'ratelimited' ? retryAfterMs(error) : null;
  return Math.max(limitedMs ?? 0, backoffMs(failures, clock));
}
