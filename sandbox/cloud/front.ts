import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudSimulator } from './simulator.ts';

export interface HostedOrganization {
  readonly id: string;
  readonly cloud: Pick<CloudSimulator, 'url'>;
}

/**
 * One address for the simulators of several organizations, each with its key, faults and effects. The path of a request
 * names its organization; the first one gets what names none. A connection that one of them breaks breaks here as well.
 */
export async function startCloudFront(hosted: readonly HostedOrganization[]) {
  const [first] = hosted;
  const passOn = (incoming: IncomingMessage, reply: ServerResponse) => {
    const { method, headers, url = '/' } = incoming;
    const own = hosted.find(({ id }) => url.includes(`/organizations/${id}`)) ?? first;
    const onward = request(new URL(url, own?.cloud.url), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
      answer.once('error', () => reply.destroy());
    });
    onward.once('error', () => reply.destroy());
    reply.once('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server = createServer(passOn).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
