import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { isJson, type Json, parseJson } from '../../json.ts';
import { type AppResponse, type DeliverToApp, undelivered } from './delivery.ts';

const MAX_CONNECTIONS = 10;
const PING_MS = 10_000;

export interface SocketHub {
  readonly deliver: DeliverToApp;
  /** Returns the ticket for one connection, as in the reply of `apps.connections.open`. */
  readonly issueTicket: () => string;
  readonly connections: () => number;
  /** Asks every connected app to reconnect. */
  readonly refresh: (reason: 'warning' | 'refresh_requested') => void;
  readonly close: () => void;
}

interface HubState {
  readonly appId: string;
  readonly ackTimeoutMs: number;
  readonly sockets: WebSocket[];
  readonly tickets: Set<string>;
  /** The callbacks of envelopes that the app has not acknowledged, by envelope id. */
  readonly pending: Map<string, (payload: unknown) => void>;
}

export function socketHub(
  server: Server,
  settings: { readonly appId: string; readonly ackTimeoutMs: number },
): SocketHub {
  const hub: HubState = { ...settings, sockets: [], tickets: new Set(), pending: new Map() };
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (!hasTicket(hub, request)) {
      return socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
    }
    upgrades.handleUpgrade(request, socket, head, (connection) => addSocket(hub, connection));
  });
  const pings = setInterval(() => {
    for (const socket of hub.sockets) socket.ping();
  }, PING_MS);
  pings.unref();
  return {
    deliver: (kind, payload, retry) => {
      const isEvent = kind === 'events_api';
      const retryFields = { retry_attempt: retry?.num ?? 0, retry_reason: retry?.reason ?? '' };
      const envelope = { type: kind, payload, accepts_response_payload: !isEvent };
      return sendEnvelope(hub, { ...envelope, ...(isEvent && retryFields) });
    },
    issueTicket: () => {
      const ticket = randomUUID();
      hub.tickets.add(ticket);
      return ticket;
    },
    connections: () => hub.sockets.length,
    refresh: (reason) => {
      for (const socket of hub.sockets) send(socket, { type: 'disconnect', reason });
    },
    close: () => {
      clearInterval(pings);
      for (const socket of [...hub.sockets]) socket.terminate();
      upgrades.close();
    },
  };
}

function hasTicket(hub: HubState, request: IncomingMessage): boolean {
  const url = new URL(request.url ?? '/', 'ws://localhost');
  const ticket = url.searchParams.get('ticket') ?? '';
  return url.pathname === '/link/' && hub.tickets.delete(ticket);
}

function addSocket(hub: HubState, socket: WebSocket): void {
  if (hub.sockets.length >= MAX_CONNECTIONS) {
    send(socket, { type: 'disconnect', reason: 'too_many_websockets' });
    socket.close();
    return;
  }
  hub.sockets.push(socket);
  socket.on('close', () => {
    hub.sockets.splice(hub.sockets.indexOf(socket), 1);
  });
  socket.on('message', (data) => acknowledge(hub, parseJson(String(data))));
  send(socket, {
    type: 'hello',
    num_connections: hub.sockets.length,
    connection_info: { app_id: hub.appId },
    debug_info: { host: 'sandbox', approximate_connection_time: 3600 },
  });
}

function acknowledge(hub: HubState, message: unknown): void {
  if (!isJson(message) || typeof message.envelope_id !== 'string') return;
  hub.pending.get(message.envelope_id)?.(message.payload);
}

function sendEnvelope(hub: HubState, envelope: Json): Promise<AppResponse> {
  // Slack uses any connection. Round robin makes a test fail when one connection is not ready.
  const socket = hub.sockets.shift();
  if (!socket) return Promise.resolve(undelivered);
  hub.sockets.push(socket);
  const envelopeId = randomUUID();
  send(socket, { envelope_id: envelopeId, ...envelope });
  return acknowledgement(hub, envelopeId);
}

function acknowledgement(hub: HubState, envelopeId: string): Promise<AppResponse> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const finish = (result: Partial<AppResponse>) => {
      clearTimeout(timer);
      hub.pending.delete(envelopeId);
      resolve({ ...undelivered, ...result, ms: Math.round(performance.now() - startedAt) });
    };
    const timer = setTimeout(() => finish({ failure: 'operation_timeout' }), hub.ackTimeoutMs);
    hub.pending.set(envelopeId, (payload) => {
      const isEmpty = !isJson(payload) || Object.keys(payload).length === 0;
      finish({ status: 200, body: isEmpty ? '' : JSON.stringify(payload), failure: null });
    });
  });
}

function send(socket: WebSocket, message: Json): void {
  socket.send(JSON.stringify(message));
}
