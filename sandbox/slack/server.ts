import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type Router } from 'express';
import type { Json } from '../json.ts';
import { type AppConnection, undelivered } from './delivery/delivery.ts';
import { withInteractionLog } from './delivery/interaction-log.ts';
import { type HttpRoute, httpDelivery } from './delivery/signed-http.ts';
import { type SocketSettings, socketHub } from './delivery/socket-mode.ts';
import { fileRoutes } from './files.ts';
import { responseUrlRoutes } from './interactions/response-urls.ts';
import { readManifest } from './manifest.ts';
import { pageRoutes } from './page/routes.ts';
import { type SlackSimulator, slackSimulator } from './simulator.ts';
import { type McpServer, slackbotOf } from './slackbot.ts';
import type { SlackState } from './state.ts';
import { type RateLimits, slackRateLimits } from './web-api/rate-limits.ts';
import { webApi } from './web-api/router.ts';
import { sandboxWorkspace } from './workspace/sandbox-workspace.ts';
import type { Workspace } from './workspace/workspace.ts';

export type DeliveryMode =
  | { readonly mode: 'http'; readonly eventsUrl?: string; readonly signingSecret: string }
  | ({ readonly mode: 'socket' } & SocketSettings);

export interface SlackOptions {
  /** 0, the default, uses any free port of the loopback interface. */
  readonly port?: number;
  /** How the app names this machine; 127.0.0.1 by default. */
  readonly host?: string;
  readonly now?: () => Date;
  readonly workspace?: Workspace;
  /** Slack's app manifest v2. */
  readonly manifest: Json;
  readonly delivery: DeliveryMode;
  /** The time within which the app must acknowledge; 3000 ms by default. */
  readonly ackTimeoutMs?: number;
  /** How long a trigger opens a modal, by `now`; 3000 ms by default. */
  readonly triggerTimeoutMs?: number;
  /** The clock for signatures, which the app compares with its own clock. */
  readonly signedAt?: () => Date;
  /** Waits between two attempts to deliver an event; by default in real time. */
  readonly wait?: (ms: number) => Promise<void>;
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

function initialState(options: SlackOptions, stopping: AbortSignal): SlackState {
  return {
    workspace: structuredClone(options.workspace ?? sandboxWorkspace),
    manifest: readManifest(options.manifest),
    tokens: {
      bot: 'xoxb-100000000001-100000000002-sandboxsandboxsandboxsan',
      app: 'xapp-1-A0SIGNALBOX-100000000003-sandbox',
      appScopes: ['connections:write'],
    },
    now: options.now ?? (() => new Date()),
    triggerTimeoutMs: options.triggerTimeoutMs ?? 3000,
    wait: options.wait ?? ((ms) => waitUntilStop(ms, stopping)),
    messages: [],
    modals: new Map(),
    homes: new Map(),
    triggers: new Map(),
    responseUrls: new Map(),
    files: new Map(),
    mentions: [],
    calls: [],
    interactions: [],
    faults: [],
    events: [],
    read: new Map(),
    watchers: new Set(),
    url: '',
    deliverToApp: async () => undelivered,
    issueSocketTicket: () => null,
    reachable: true,
    isUninstalled: false,
    editMinutes: null,
    slackbot: null,
    lastMicros: 0,
  };
}

async function waitUntilStop(ms: number, stopping: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal: stopping, ref: false });
  } catch (error) {
    // After the stop, the next delivery attempt fails and is the last one.
    if (!stopping.aborted) throw error;
  }
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
    const { connections, close } = hub;
    const controls = { refreshSockets: hub.refresh, setSocketMode: hub.setEnabled };
    const silenceOldestSocket = hub.silenceOldest;
    return { deliverTo: () => {}, connections, ...controls, silenceOldestSocket, close };
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
    setSocketMode: () => {},
    close: () => deliverTo(null),
  };
}
