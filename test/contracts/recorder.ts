import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

/** One request, exactly as received. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The unparsed body, or an empty string. */
  readonly body: string;
}

type Reply = object | ((sent: Readonly<Record<string, unknown>>) => object);

/** Reply bodies by `GET /path`; a function gets the sent body. Other paths get 404. */
export type Replies = Readonly<Record<string, Reply>>;

/** A server for both APIs that records each request and sends the configured replies. */
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
    /** The requests since the last call. */
    takeRequests: () => seen.splice(0),
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
