import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** One WebSocket connection of the app. */
export interface SocketConnection {
  readonly socket: WebSocket;
  /** The TCP connection below the WebSocket. */
  readonly tcp: Duplex;
}

/**
 * How Slack ends a connection: with a close handshake, with a reset of the TCP connection, or with
 * a close handshake after which the TCP connection stays open.
 */
export type Closing = 'handshake' | 'reset' | 'tcp-left-open';

export interface SocketRefresh {
  /** The reason in the `disconnect` message; null closes the connection without a message. */
  readonly reason: 'warning' | 'refresh_requested' | null;
  readonly closing: Closing;
  /** Slack closes the connection when this resolves; by default 10 s after a warning, else at once. */
  readonly closesWhen?: () => Promise<unknown>;
  /** Slack refreshes each connection on its own; `all` refreshes every connection at once. */
  readonly which?: 'oldest' | 'all';
}

/** Slack announces the end of a connection this long before. */
export const WARNED_MS = 10_000;

export function announce({ socket }: SocketConnection, reason: string): void {
  const debug_info = { host: 'sandbox' };
  socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info }));
}

/** Ends one connection. Slack sends no payload to it from now on. */
export function closeConnection({ socket, tcp }: SocketConnection, closing: Closing): void {
  if (closing === 'tcp-left-open') keepTcpOpen(tcp);
  if (closing === 'reset') {
    // Slack does not read what is on its way to it.
    socket.removeAllListeners('message');
    socket.terminate();
  } else socket.close(1000);
}

/** Prevents that Slack ends the TCP connection after the close handshake; the app can end it. */
export function keepTcpOpen(tcp: Duplex): void {
  tcp.end = () => tcp;
  tcp.once('end', () => tcp.destroy());
}
