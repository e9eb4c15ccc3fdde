import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';

export interface Probes {
  /** Why this process should receive no traffic; null when it is ready. */
  readonly notReady: () => Promise<string | null>;
  /** A warning for operators of a ready process; null without one. */
  readonly readinessWarning?: () => Promise<string | null>;
  /** While the process stops, connections are not kept alive. */
  readonly isLeaving?: () => boolean;
  readonly metrics?: { readonly contentType: string; readonly text: () => Promise<string> };
}

const SKEW_MAX_S = 300;

/**
 * The HTTP server for health probes, metrics and Slack deliveries. `slack` verifies the signatures
 * of deliveries; null in Socket Mode, where no delivery arrives over HTTP.
 */
export function createOpsServer(slack: RequestListener | null, probes: Probes): Server {
  const limits = { requestTimeout: 10_000, headersTimeout: 5_000 };
  return createServer(limits, (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (probes.isLeaving?.()) response.setHeader('connection', 'close');
    if (request.method === 'GET' && path === '/healthz') return send(response, 200, 'alive');
    if (request.method === 'GET' && path === '/readyz') return sendReadiness(response, probes);
    if (request.method === 'GET' && path === '/metrics' && probes.metrics) {
      return sendMetrics(response, probes.metrics);
    }
    if (request.method !== 'POST' || path !== '/slack/events' || !slack) {
      return send(response, 404, 'Not found.');
    }
    if (!isTimely(request.headers['x-slack-request-timestamp'])) {
      return send(response, 401, 'The request timestamp is not current.');
    }
    slack(request, response);
  });
}

// Bolt refuses old timestamps only; a signed timestamp in the future would stay valid until then.
function isTimely(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || !/^\d{1,12}$/.test(header)) return false;
  return Math.abs(Date.now() / 1_000 - Number(header)) <= SKEW_MAX_S;
}

function sendReadiness(response: ServerResponse, { notReady, readinessWarning }: Probes): void {
  const check = async () => {
    const reason = await notReady();
    if (reason !== null) return send(response, 503, reason);
    const warning = (await readinessWarning?.()) ?? null;
    send(response, 200, warning === null ? 'ready' : `ready, but ${warning}`);
  };
  check().catch(() => send(response, 503, 'The readiness check failed.'));
}

function sendMetrics(response: ServerResponse, metrics: NonNullable<Probes['metrics']>): void {
  metrics.text().then(
    (text) => {
      response.writeHead(200, { 'content-type': metrics.contentType });
      response.end(text);
    },
    () => send(response, 500, 'The metrics are not readable.'),
  );
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
