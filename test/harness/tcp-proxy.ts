import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './listening.ts';

export interface TcpProxy {
  /** The same URL with the port of the proxy. */
  readonly through: (url: string) => string;
  /** Drops all packets without closing a connection, as a firewall does. */
  readonly dropPackets: () => void;
  /** Closes all connections and each new one, as a server that stops. */
  readonly refuse: () => void;
  /** Forwards new connections again; the old ones stay silent or closed. */
  readonly forwardAgain: () => void;
}

/** Starts a TCP proxy between the bot and its database. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  let isHeld = false;
  let isRefusing = false;
  const all = new Set<Socket>();
  const server = createServer((near) => {
    if (isRefusing) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      all.add(from);
      // When one side closes, the other one is closed too, unless packets are dropped.
      from.on('error', () => from.destroy());
      from.on('close', () => isHeld || to.destroy());
      if (isHeld) from.pause();
      else from.pipe(to);
    }
  });
  const own = new URL(await listening(server));
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
  });
  return {
    through: (url) => Object.assign(new URL(url), { port: own.port }).href,
    dropPackets: () => {
      isHeld = true;
      for (const socket of all) socket.unpipe().pause();
    },
    refuse: () => {
      isRefusing = true;
      for (const socket of all) socket.destroy();
    },
    forwardAgain: () => {
      isHeld = false;
      isRefusing = false;
    },
  };
}
