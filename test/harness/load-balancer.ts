import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isReady } from './bot-process.ts';
import { listening } from './listening.ts';

/** A load balancer over the ready replicas. Only a refused connection is retried at the next one. */
export async function startLoadBalancer(replicas: () => readonly string[]): Promise<string> {
  let turn = 0;
  const server = createServer((incoming, reply) => {
    const all = replicas();
    turn += 1;
    const order = all.map((_, index) => all[(turn + index) % all.length] ?? '');
    void passOn(incoming, reply, order);
  });
  return listening(server);
}

async function passOn(incoming: IncomingMessage, reply: ServerResponse, order: readonly string[]) {
  const body = await buffer(incoming);
  for (const url of order) {
    if (!(await isReady(url))) continue;
    const answer = await forward(new URL(incoming.url ?? '/', url), incoming, body);
    if (answer === 'refused') continue;
    reply.writeHead(answer.status, answer.headers).end(answer.body);
    return;
  }
  reply.writeHead(503).end();
}

async function forward(url: URL, { method, headers }: IncomingMessage, body: Buffer) {
  const onward = request(url, { method, headers, agent: false });
  try {
    onward.end(body);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    const { statusCode: status = 502 } = answer;
    return { status, headers: answer.headers, body: await buffer(answer) };
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    if (isRefused) return 'refused' as const;
    return { status: 502, headers: {}, body: Buffer.from(String(error)) };
  }
}
