import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Wire {
  /** The same address with this wire before it. */
  readonly through: (url: string) => string;
  /** From here on nothing comes through, and nobody is told: what a firewall does that drops. */
  readonly hold: () => void;
  /** New connections come through again. Those of before are never heard of any more. */
  readonly release: () => void;
}

/** Lies between the bot and its database. */
export async function openWire(port: number): Promise<Wire> {
  let isHeld = false;
  const all = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      all.add(from);
      // One side that is gone takes the other with it, unless nobody is to hear of it.
      from.on('error', () => from.destroy());
      from.on('close', () => isHeld || to.destroy());
      if (isHeld) from.pause();
      else from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
    server.close();
  });
  const address = server.address();
  return {
    through: (url) => {
      const other = new URL(url);
      other.port = String(typeof address === 'object' && address ? address.port : 0);
      return other.href;
    },
    hold: () => {
      isHeld = true;
      for (const socket of all) socket.unpipe().pause();
    },
    release: () => {
      isHeld = false;
    },
  };
}
