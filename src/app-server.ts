// The HTTP server of Slack's deliveries, the probes and the metrics.
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { sharedRead } from './base/cache.ts';

export interface Probes {
  /** Why this process should receive no traffic; null when it is ready. */
  readonly notReady: () => Promise<string | null>;
  /** A warning for operators of a ready process; null without one. */
  readonly readinessWarning: () => Promise<string | null>;
  /** Why Slack does not deliver to this process; null while it does. Connections are closed then. */
  readonly disconnected: () => string | null;
  /** In the format of Prometheus. */
  readonly metrics: () => Promise<string>;
  /** The milliseconds of a clock that never goes back; by default that of this process. */
  readonly elapsed?: (() => number) | undefined;
}

/** What answers some requests of the main port beside Slack's: reports of alerts, calls of agents. */
export interface Door {
  readonly opens: (request: IncomingMessage) => boolean;
  readonly answer: RequestListener;
}

interface Addresses {
  /** 0: any free port. */
  readonly port: number;
  /** For probes; null: they use `port` as well. */
  readonly opsPort: number | null;
  /** Null: every address of the machine. */
  readonly bindAddress: string | null;
}

/** Opens both ports. Throws if one is in use. */
export async function openServers({ port, opsPort, bindAddress }: Addresses, starting: Probes) {
  const own = opsPort === null ? null : createHttpServer({ slack: null, probes: starting });
  const first = { slack: refuseDelivery, doors: [closedDoor], probes: own ? null : starting };
  const main = createHttpServer(first);
  const all = own ? [main.server, own.server] : [main.server];
  const opened = await listenOn(main.server, port, bindAddress);
  if (own) await listenOn(own.server, opsPort ?? 0, bindAddress);
  return {
    port: opened,
    /** Answers deliveries and probes with these from now on; before, deliveries get status 503. */
    answerWith: (slack: RequestListener | null, probes: Probes, ...doors: readonly Door[]) => {
      main.answerWith({ slack, doors, probes: own ? null : probes });
      own?.answerWith({ slack: null, probes });
    },
    /** Accepts no new connection. */
    close: () => {
      for (const server of all) server.close();
    },
    /** Accepts no new connection, and ends the open ones. */
    closeConnections: () => {
      for (const server of all) server.close().closeAllConnections();
    },
  };
}

const refuseDelivery: RequestListener = (_request, response) =>
  sendPage(response, text(503, 'Signalbox is starting.'));

/** Its sender tries again. */
const closedDoor: Door = {
  opens: ({ method }) => method === 'POST',
  answer: refuseDelivery,
};

async function listenOn(server: Server, port: number, host: string | null): Promise<number> {
  server.listen({ port, ...(host === null ? {} : { host }) });
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

interface Answers {
  /** Verifies the signatures of deliveries; null in Socket Mode: no delivery arrives over HTTP. */
  readonly slack: RequestListener | null;
  readonly doors?: readonly Door[];
  /** Null where probes and metrics have a server of their own. */
  readonly probes: Probes | null;
}

/**
 * The HTTP server for Slack deliveries, health probes and metrics. All requests for readiness or
 * metrics within a second share one check: anyone may ask, and each check writes to the database.
 */
export function createHttpServer(first: Answers) {
  const limits = { requestTimeout: 10_000, headersTimeout: 5_000 };
  let answer = answering(first);
  return {
    server: createServer(limits, (request, response) => answer(request, response)),
    /** Answers with these from now on. */
    answerWith: (answers: Answers) => {
      answer = answering(answers);
    },
  };
}

function answering({ slack, doors = [], probes }: Answers): RequestListener {
  const pages = probes ? pagesOf(probes) : new Map<string, () => Promise<Page>>();
  return (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (probes && probes.disconnected() !== null) response.setHeader('connection', 'close');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const page = isRead ? pages.get(path) : undefined;
    if (page) return void page().then((found) => sendPage(response, found));
    const door = doors.find((each) => each.opens(request));
    if (door) return door.answer(request, response);
    if (request.method !== 'POST' || path !== '/slack/events' || !slack) {
      return sendPage(response, text(404, 'Not found.'));
    }
    slack(request, response);
  };
}

/** The text format of Prometheus. */
const METRICS = 'text/plain; version=0.0.4; charset=utf-8';

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

function text(status: number, sentence: string): Page {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

const SHARED_MS = 1_000;

function pagesOf(probes: Probes): Map<string, () => Promise<Page>> {
  const { elapsed = () => performance.now() } = probes;
  // The caller is anonymous: an internal error must not show details.
  const shared = (work: () => Promise<Page>, failed: Page) => {
    const pages = sharedRead(() => work().catch(() => failed), SHARED_MS, elapsed);
    return () => pages.read('page', { fresh: false });
  };
  const metrics = async () => ({ status: 200, contentType: METRICS, body: await probes.metrics() });
  const checked = shared(() => readinessPage(probes), text(503, 'The readiness check failed.'));
  const ready = async () => {
    const reason = probes.disconnected();
    return reason === null ? checked() : text(503, reason);
  };
  return new Map([
    ['/healthz', async () => text(200, 'alive')],
    ['/readyz', ready],
    ['/metrics', shared(metrics, text(500, 'The metrics are not readable.'))],
  ]);
}

async function readinessPage({ notReady, readinessWarning }: Probes): Promise<Page> {
  const reason = await notReady();
  if (reason !== null) return text(503, reason);
  const warning = await readinessWarning();
  return text(200, warning === null ? 'ready' : `ready, but ${warning}`);
}

function sendPage(response: ServerResponse, { status, contentType, body }: Page): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(body);
}

/**
 * Why a port could not be opened; null for an error of another kind. `lasting`: a restart cannot help, a person must
 * fix the problem first.
 */
export function listenProblem(error: unknown, { opsPort, bindAddress }: Addresses) {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return null;
  if (error.syscall !== 'listen') return null;
  const port = 'port' in error ? error.port : 0;
  const where = port === opsPort ? 'OPS_PORT' : 'PORT';
  if (error.code === 'EADDRINUSE') {
    const problem = `${port} is in use by another process`;
    return { where, problem, hint: 'stop that process, or set another port', lasting: false };
  }
  if (error.code === 'EACCES') {
    const problem = `${port} is not allowed for this user`;
    return { where, problem, hint: 'set a port above 1023', lasting: true };
  }
  if (error.code !== 'EADDRNOTAVAIL') return null;
  // An address can appear later, when its network interface starts.
  const problem = `${bindAddress} is not an address of this machine`;
  return { where: 'BIND_ADDRESS', problem, hint: 'correct it, or remove it', lasting: false };
}
