import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

/** One request, exactly as it came over the wire. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The very text of the body; empty where there was none. */
  readonly body: string;
}

type Reply = object | ((sent: Readonly<Record<string, unknown>>) => object);

/** Bodies by `GET /path`, some made of what was sent; what is not there is answered with 404. */
export type Replies = Readonly<Record<string, Reply>>;

/** A server of both contracts that keeps every byte it is sent and answers what it was told to. */
export async function startRecorder() {
  const seen: Recorded[] = [];
  let replies: Replies = {};
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const { pathname, search } = new URL(request.url ?? '/', 'http://recorder');
    const method = request.method ?? '';
    seen.push({ method, path: pathname, query: search.slice(1), body });
    const reply = replies[`${method} ${pathname}`];
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    const whole = typeof reply === 'function' ? reply(JSON.parse(body || '{}')) : reply;
    response.end(JSON.stringify(whole ?? { status: 404, error: 'NOT_FOUND' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    answer: (next: Replies) => {
      replies = next;
    },
    /** What has come since the last time, and is forgotten with it. */
    taken: () => seen.splice(0),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
