import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { isJson, type Json, parseJson } from '../../json.ts';
import { type AppResponse, type DeliverToApp, undelivered } from './delivery.ts';
import {
  announce,
  closeConnection,
  keepTcpOpen,
  type SocketConnection,
  type SocketRefresh,
  WARNED_MS,
} from './socket-refresh.ts';

const MAX_CONNECTIONS = 10;
const REFUSED_AFTER_MS = 20;

export interface SocketSettings {
  /** Slack refreshes every connection after this time; an hour by default. */
  readonly connectionTimeS?: number;
  /** How the time until a refresh passes; by default in real time. */
  readonly refreshWait?: (ms: number) => Promise<void>;
  readonly pingMs?: number;
  /** Replaces fields of `hello`, as a Slack that says less, or something else. */
  readonly hello?: Json;
  /** Slack leaves the TCP connection open when the app closes its WebSocket. */
  readonly leaveTcpOpen?: boolean;
}

interface HubOptions extends SocketSettings {
  readonly appId: string;
  readonly ackTimeoutMs: number;
}

type Hub = ReturnType<typeof newHub>;

const newHub = (settings: HubOptions) => ({
  settings,
  /** In the order in which they get the next payloads. */
  open: [] as SocketConnection[],
  /** Every connection until its TCP connection ends, the oldest first. */
  all: new Set<SocketConnection>(),
  tickets: new Set<string>(),
  /** The callbacks of envelopes that the app has not acknowledged, by envelope id. */
  pending: new Map<string, (payload: unknown) => void>(),
});

export function socketHub(server: Server, settings: HubOptions) {
  const hub = newHub(settings);
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, tcp, head) => {
    if (!hasTicket(hub, request)) {
      return tcp.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
    }
    if (settings.leaveTcpOpen) keepTcpOpen(tcp);
    upgrades.handleUpgrade(request, tcp, head, (socket) => add(hub, { socket, tcp }));
  });
  const pings = setInterval(() => {
    for (const { socket } of hub.open) socket.ping();
  }, settings.pingMs ?? 10_000);
  pings.unref();
  return {
    deliver: ((kind, payload, retry) => {
      const isEvent = kind === 'events_api';
      const retryFields = { retry_attempt: retry?.num ?? 0, retry_reason: retry?.reason ?? '' };
      const envelope = { type: kind, payload, accepts_response_payload: !isEvent };
      return sendEnvelope(hub, { ...envelope, ...(isEvent && retryFields) });
    }) satisfies DeliverToApp,
    /** Returns the ticket for one connection, as in the reply of `apps.connections.open`. */
    issueTicket: (): string => {
      const ticket = randomUUID();
      hub.tickets.add(ticket);
      return ticket;
    },
    /** The number of connections that get payloads. */
    connections: () => hub.open.filter(({ socket }) => socket.readyState === WebSocket.OPEN).length,
    /** Resolves when the connections of the refresh get no more payloads. */
    refreshSockets: async (refresh: SocketRefresh): Promise<void> => {
      const chosen = refresh.which === 'all' ? [...hub.open] : oldest(hub);
      await Promise.all(chosen.map((connection) => refreshOne(hub, connection, refresh)));
    },
    /** Slack does not read from the oldest connection any more, so it answers no ping. */
    silenceOldestSocket: (): void => {
      for (const { socket } of oldest(hub)) socket.pause();
    },
    close: (): void => {
      clearInterval(pings);
      hub.open.splice(0);
      for (const { socket, tcp } of hub.all) {
        socket.terminate();
        tcp.destroy();
      }
      upgrades.close();
    },
  };
}

function oldest({ all, open }: Hub): readonly SocketConnection[] {
  return [...all].filter((each) => open.includes(each)).slice(0, 1);
}

function hasTicket(hub: Hub, request: IncomingMessage): boolean {
  const url = new URL(request.url ?? '/', 'ws://localhost');
  const ticket = url.searchParams.get('ticket') ?? '';
  return url.pathname === '/link/' && hub.tickets.delete(ticket);
}

function add(hub: Hub, connection: SocketConnection): void {
  const { socket, tcp } = connection;
  hub.all.add(connection);
  tcp.once('close', () => hub.all.delete(connection));
  // A reset by the app is reported as an error before `close`.
  socket.on('error', () => undefined);
  const { connectionTimeS = 3600 } = hub.settings;
  const isTooMany = hub.open.length >= MAX_CONNECTIONS;
  if (!isTooMany) hub.open.push(connection);
  send(socket, {
    type: 'hello',
    num_connections: hub.open.length + (isTooMany ? 1 : 0),
    connection_info: { app_id: hub.settings.appId },
    debug_info: { host: 'sandbox', build_number: 1, approximate_connection_time: connectionTimeS },
    ...hub.settings.hello,
  });
  if (isTooMany) {
    // Slack says hello, and a moment later it refuses the connection.
    setTimeout(() => {
      announce(connection, 'too_many_websockets');
      closeConnection(connection, 'handshake');
    }, REFUSED_AFTER_MS).unref();
    return;
  }
  socket.on('close', () => remove(hub, connection));
  socket.on('message', (data) => acknowledge(hub, parseJson(String(data))));
  void refreshInTime(hub, connection, connectionTimeS * 1000);
}

function remove(hub: Hub, connection: SocketConnection): void {
  const at = hub.open.indexOf(connection);
  if (at >= 0) hub.open.splice(at, 1);
}

/** The refresh at the end of a connection's time: a warning, a request, then the closing. */
async function refreshInTime(hub: Hub, connection: SocketConnection, timeMs: number) {
  const { refreshWait: wait = unreferenced } = hub.settings;
  await wait(Math.max(0, timeMs - WARNED_MS));
  if (!hub.open.includes(connection)) return;
  announce(connection, 'warning');
  await wait(Math.min(timeMs, WARNED_MS));
  if (!hub.open.includes(connection)) return;
  await refreshOne(hub, connection, { reason: 'refresh_requested', closing: 'handshake' });
}

async function refreshOne(hub: Hub, connection: SocketConnection, refresh: SocketRefresh) {
  const { reason, closing, closesWhen } = refresh;
  if (reason !== null) announce(connection, reason);
  if (closesWhen) await closesWhen();
  else if (reason === 'warning') await unreferenced(WARNED_MS);
  remove(hub, connection);
  closeConnection(connection, closing);
}

const unreferenced = (ms: number) => pause(ms, undefined, { ref: false });

// Slack's SDKs for Python and Java acknowledge over the newest connection, whichever connection
// delivered the envelope. So an acknowledgement counts on any connection.
function acknowledge(hub: Hub, message: unknown): void {
  if (!isJson(message) || typeof message.envelope_id !== 'string') return;
  hub.pending.get(message.envelope_id)?.(message.payload);
}

function sendEnvelope(hub: Hub, envelope: Json): Promise<AppResponse> {
  // Slack uses any connection. Round robin makes a test fail when one connection is not ready.
  const at = hub.open.findIndex(({ socket }) => socket.readyState === WebSocket.OPEN);
  const [connection] = at >= 0 ? hub.open.splice(at, 1) : [];
  if (!connection) return Promise.resolve(undelivered);
  hub.open.push(connection);
  const envelopeId = randomUUID();
  send(connection.socket, { envelope_id: envelopeId, ...envelope });
  return acknowledgement(hub, envelopeId);
}

function acknowledgement(hub: Hub, envelopeId: string): Promise<AppResponse> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const finish = (result: Partial<AppResponse>) => {
      clearTimeout(timer);
      hub.pending.delete(envelopeId);
      resolve({ ...undelivered, ...result, ms: Math.round(performance.now() - startedAt) });
    };
    const timer = setTimeout(
      () => finish({ failure: 'dispatch_failed' }),
      hub.settings.ackTimeoutMs,
    );
    hub.pending.set(envelopeId, (payload) => {
      const isEmpty = !isJson(payload) || Object.keys(payload).length === 0;
      finish({ status: 200, body: isEmpty ? '' : JSON.stringify(payload), failure: null });
    });
  });
}

function send(socket: WebSocket, message: Json): void {
  socket.send(JSON.stringify(message));
}
