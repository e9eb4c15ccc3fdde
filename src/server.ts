import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';

export interface Probes {
  /** Says why this process should get no work just now; null when it should. */
  readonly notReady: () => Promise<string | null>;
  /** Returns a problem that does not affect readiness, or null. */
  readonly readinessWarning?: () => Promise<string | null>;
  /** This process is about to leave: connections are not kept for another request. */
  readonly isLeaving?: () => boolean;
  /** Numbers for whoever collects them. */
  readonly metrics?: { readonly contentType: string; readonly text: () => Promise<string> };
}

const SKEW_MAX_S = 300;

/**
 * The one door for requests from outside: health for whoever runs us, and Slack's deliveries for
 * the listener that checks their signatures. Null: deliveries come over a socket instead.
 */
export function createOpsServer(slack: RequestListener | null, probes: Probes): Server {
  const limits = { requestTimeout: 10_000, headersTimeout: 5_000 };
  return createServer(limits, (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (probes.isLeaving?.()) response.setHeader('connection', 'close');
    if (request.method === 'GET' && path === '/healthz') return say(response, 200, 'alive');
    if (request.method === 'GET' && path === '/readyz') return ready(response, probes);
    if (request.method === 'GET' && path === '/metrics' && probes.metrics) {
      return tellNumbers(response, probes.metrics);
    }
    if (request.method !== 'POST' || path !== '/slack/events' || !slack) {
      return say(response, 404, 'There is nothing here.');
    }
    if (!isTimely(request.headers['x-slack-request-timestamp'])) {
      return say(response, 401, 'The time of this request is not now.');
    }
    slack(request, response);
  });
}

// Bolt refuses what is too old by this machine's clock, but takes what is signed for tomorrow.
function isTimely(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || !/^\d{1,12}$/.test(header)) return false;
  return Math.abs(Date.now() / 1_000 - Number(header)) <= SKEW_MAX_S;
}

function ready(response: ServerResponse, { notReady, readinessWarning }: Probes): void {
  const standing = async () => {
    const why = await notReady();
    return { why, note: why === null ? ((await readinessWarning?.()) ?? null) : null };
  };
  standing().then(
    ({ why, note }) => say(response, why === null ? 200 : 503, why ?? readyWith(note)),
    () => say(response, 503, 'It could not be found out whether this is ready.'),
  );
}

function tellNumbers(response: ServerResponse, metrics: NonNullable<Probes['metrics']>): void {
  metrics.text().then(
    (text) => {
      response.writeHead(200, { 'content-type': metrics.contentType });
      response.end(text);
    },
    () => say(response, 500, 'The numbers could not be read.'),
  );
}

function readyWith(note: string | null): string {
  return note === null ? 'ready' : `ready, but ${note}`;
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
