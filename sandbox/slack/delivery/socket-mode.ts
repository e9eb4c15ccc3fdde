import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Json } from '../../protocol.ts';
import { isJson, parsed } from '../json.ts';
import { type Answer, type DeliverToApp, type PayloadKind, undelivered } from './answer.ts';

const MOST_CONNECTIONS = 10;
const PING_MS = 10_000;

export interface SocketHub {
  readonly courier: DeliverToApp;
  /** A way in for one connection, as `apps.connections.open` hands out. */
  readonly ticket: () => string;
  readonly connections: () => number;
  /** Asks every connected app to come back on another connection. */
  readonly refresh: (reason: 'warning' | 'refresh_requested') => void;
  readonly close: () => void;
}

interface Hub {
  readonly appId: string;
  readonly ackTimeoutMs: number;
  readonly sockets: WebSocket[];
  readonly tickets: Set<string>;
  readonly waiting: Map<string, (payload: unknown) => void>;
}

export function socketHub(
  server: Server,
  { appId, ackTimeoutMs }: { readonly appId: string; readonly ackTimeoutMs: number },
): SocketHub {
  const hub: Hub = {
    appId,
    ackTimeoutMs,
    sockets: [],
    tickets: new Set(),
    waiting: new Map(),
  };
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (!admitted(hub, request)) return refused(socket);
    upgrades.handleUpgrade(request, socket, head, (connection) => welcome(hub, connection));
  });
  const pings = setInterval(() => {
    for (const socket of hub.sockets) socket.ping();
  }, PING_MS);
  pings.unref();
  return {
    courier: (kind, payload, retry) => send(hub, { kind, payload, retry: retry ?? null }),
    ticket: () => issue(hub),
    connections: () => hub.sockets.length,
    refresh: (reason) => {
      for (const socket of hub.sockets) tell(socket, { type: 'disconnect', reason });
    },
    close: () => {
      clearInterval(pings);
      for (const socket of [...hub.sockets]) socket.terminate();
      upgrades.close();
    },
  };
}

function issue(hub: Hub): string {
  const ticket = randomUUID();
  hub.tickets.add(ticket);
  return ticket;
}

function admitted(hub: Hub, request: IncomingMessage): boolean {
  const url = new URL(request.url ?? '/', 'ws://localhost');
  const ticket = url.searchParams.get('ticket') ?? '';
  return url.pathname === '/link/' && hub.tickets.delete(ticket);
}

function refused(socket: Duplex): void {
  socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
}

function welcome(hub: Hub, socket: WebSocket): void {
  if (hub.sockets.length >= MOST_CONNECTIONS) {
    tell(socket, { type: 'disconnect', reason: 'too_many_websockets' });
    socket.close();
    return;
  }
  hub.sockets.push(socket);
  socket.on('close', () => {
    hub.sockets.splice(hub.sockets.indexOf(socket), 1);
  });
  socket.on('message', (data) => acknowledge(hub, parsed(String(data))));
  tell(socket, {
    type: 'hello',
    num_connections: hub.sockets.length,
    connection_info: { app_id: hub.appId },
    debug_info: { host: 'sandbox', approximate_connection_time: 3600 },
  });
}

function acknowledge(hub: Hub, message: unknown): void {
  if (!isJson(message) || typeof message.envelope_id !== 'string') return;
  hub.waiting.get(message.envelope_id)?.(message.payload);
}

interface Parcel {
  readonly kind: PayloadKind;
  readonly payload: Json;
  readonly retry: { readonly num: number; readonly reason: string } | null;
}

function send(hub: Hub, { kind, payload, retry }: Parcel): Promise<Answer> {
  // Slack picks any connection; taking turns makes sure that each of them must be ready.
  const socket = hub.sockets.shift();
  if (!socket) return Promise.resolve(undelivered);
  hub.sockets.push(socket);
  const envelopeId = randomUUID();
  tell(socket, {
    envelope_id: envelopeId,
    type: kind,
    payload,
    accepts_response_payload: kind !== 'events_api',
    ...(kind === 'events_api' && {
      retry_attempt: retry?.num ?? 0,
      retry_reason: retry?.reason ?? '',
    }),
  });
  return acknowledgement(hub, envelopeId);
}

function acknowledgement(hub: Hub, envelopeId: string): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (answer: Answer) => {
      clearTimeout(timer);
      hub.waiting.delete(envelopeId);
      resolve({ ...answer, ms: Math.round(performance.now() - began) });
    };
    const timer = setTimeout(
      () => end({ ...undelivered, failure: 'operation_timeout' }),
      hub.ackTimeoutMs,
    );
    hub.waiting.set(envelopeId, (payload) =>
      end({ ...undelivered, status: 200, body: bodyOf(payload), failure: null }),
    );
  });
}

function bodyOf(payload: unknown): string {
  const empty = !isJson(payload) || Object.keys(payload).length === 0;
  return empty ? '' : JSON.stringify(payload);
}

function tell(socket: WebSocket, message: Json): void {
  socket.send(JSON.stringify(message));
}
