import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Forwarder {
  readonly port: number;
  /** Forwards new connections to the server at this port. */
  readonly to: (port: number) => void;
  /** Keeps the connections open, and lets nothing through. */
  readonly stall: () => void;
  /** Closes all connections and each new one. What was under way is lost. */
  readonly cut: () => void;
  readonly close: () => void;
}

/** An address on the loopback that stays the same while the server behind it changes. */
export async function startForwarder(): Promise<Forwarder> {
  let target: number | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (target === null) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    target = null;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    to: (port) => {
      target = port;
    },
    stall: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
