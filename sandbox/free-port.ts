import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port of the loopback interface that is free at this moment. Another process can take
 * the port, so the caller should listen on it soon.
 */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (!address || typeof address === 'string') throw new Error('The system assigned no port');
  return address.port;
}
