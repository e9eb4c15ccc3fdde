import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './listening.ts';

/**
 * Starts a proxy as companies have one: `CONNECT` for tunnels, absolute URLs for plain HTTP. It maps ports on which
 * nothing listens to those of the servers, so that what does not use the proxy reaches nothing.
 */
export async function startHttpProxy(ports: ReadonlyMap<number, number>) {
  const seen: string[] = [];
  let refusesTunnels = false;
  const portOf = (port: string | number) => ports.get(Number(port)) ?? Number(port);
  const server = createServer((incoming, reply) => {
    const { hostname, port, pathname, search } = new URL(incoming.url ?? '');
    seen.push(`${incoming.method} ${portOf(port)}${pathname}`);
    const { method, headers } = incoming;
    const target = { hostname, port: portOf(port), path: `${pathname}${search}`, method, headers };
    const passed = request(target, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    passed.on('error', () => reply.destroy());
    incoming.pipe(passed);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', ({ url = '' }, near: Socket, head: Buffer) => {
    if (refusesTunnels) return void near.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const [hostname, port = ''] = url.split(':');
    seen.push(`CONNECT ${portOf(port)}`);
    const far = connect(portOf(port), hostname, () => {
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      far.write(head);
      far.pipe(near).pipe(far);
    });
    far.on('error', () => near.destroy());
    near.on('error', () => far.destroy());
    near.on('close', () => far.destroy());
  });
  const url = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const refuseTunnels = () => {
    refusesTunnels = true;
  };
  return { url, seen, refuseTunnels };
}
