import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Router } from 'express';
import type { AppConnection } from './delivery/delivery.ts';
import { withInteractionLog } from './delivery/interaction-log.ts';
import { type HttpRoute, httpDelivery } from './delivery/signed-http.ts';
import { type SocketSettings, socketHub } from './delivery/socket-mode.ts';
import { fileRoutes } from './files.ts';
import { responseUrlRoutes } from './interactions/response-urls.ts';
import { pageRoutes } from './page/routes.ts';
import { type SlackSimulator, slackSimulator } from './simulator.ts';
import { type McpServer, slackbotOf } from './slackbot.ts';
import { initialState, type SlackState, type StateOptions } from './state.ts';
import { type RateLimits, slackRateLimits } from './web-api/rate-limits.ts';
import { webApi } from './web-api/router.ts';

export type DeliveryMode =
  | { readonly mode: 'http'; readonly eventsUrl?: string; readonly signingSecret: string }
  | ({ readonly mode: 'socket' } & SocketSettings);

export interface SlackOptions extends StateOptions {
  /** 0, the default, uses any free port of the loopback interface. */
  readonly port?: number;
  /** How the app names this machine; 127.0.0.1 by default. */
  readonly host?: string;
  readonly delivery: DeliveryMode;
  /** The time within which the app must acknowledge; 3000 ms by default. */
  readonly ackTimeoutMs?: number;
  /** The clock for signatures, which the app compares with its own clock. */
  readonly signedAt?: () => Date;
  /** How Slack limits the calls of the app; without limits by default. */
  readonly rateLimits?: RateLimits | null;
  /** The MCP server that Slackbot may call; none by default. */
  readonly mcp?: McpServer;
  /** The folder of the built page. */
  readonly page?: string;
  /** Additional routes below /sandbox, for example the panel of the API simulators. */
  readonly routes?: Router;
}

/** Starts a simulator of Slack for the app and for the people who use it. */
export async function startSlackSimulator(options: SlackOptions): Promise<SlackSimulator> {
  const stopping = new AbortController();
  const slack = initialState(options, stopping.signal);
  if (options.mcp) slack.slackbot = slackbotOf(slack, options.mcp);
  const server = createServer(routes(slack, options));
  const { port = 0, host = '127.0.0.1' } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // A server that listens on a port has an address of this shape.
  slack.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const connection = connectApp(slack, server, options);
  return slackSimulator(slack, connection, async () => {
    stopping.abort();
    connection.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
}

function routes(slack: SlackState, options: SlackOptions) {
  const app = express();
  app.disable('x-powered-by');
  app.use('/api', webApi(slack, slackRateLimits(slack, options.rateLimits ?? null)));
  app.use(responseUrlRoutes(slack));
  app.use(fileRoutes(slack));
  app.use('/sandbox', pageRoutes(slack));
  if (options.routes) app.use('/sandbox', options.routes);
  if (options.page !== undefined) app.use(express.static(options.page));
  return app;
}

function connectApp(slack: SlackState, server: Server, options: SlackOptions): AppConnection {
  const { delivery, ackTimeoutMs = 3000, signedAt = () => new Date() } = options;
  if (delivery.mode === 'socket') {
    const { mode: _, ...settings } = delivery;
    const hub = socketHub(server, { appId: slack.workspace.appId, ackTimeoutMs, ...settings });
    slack.deliverToApp = withInteractionLog(slack, hub.deliver);
    slack.issueSocketTicket = hub.issueTicket;
    return { deliverTo: () => {}, ...hub };
  }
  const { eventsUrl = null, signingSecret } = delivery;
  const route: HttpRoute = { eventsUrl, signingSecret, ackTimeoutMs, signedAt };
  slack.deliverToApp = withInteractionLog(slack, httpDelivery(route));
  const deliverTo = (url: string | null) => {
    route.eventsUrl = url;
  };
  return {
    deliverTo,
    connections: () => 0,
    refreshSockets: async () => {},
    silenceOldestSocket: () => {},
    close: () => deliverTo(null),
  };
}
