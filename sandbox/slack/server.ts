import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type Router } from 'express';
import type { Json } from '../protocol.ts';
import { undelivered } from './delivery/answer.ts';
import { type HttpRoute, httpCourier } from './delivery/signed-http.ts';
import { socketHub } from './delivery/socket-mode.ts';
import { fileRoutes } from './file-routes.ts';
import { responseUrlRoutes } from './interactions/response-urls.ts';
import { readManifest } from './manifest.ts';
import { pageRoutes } from './page/routes.ts';
import { sandboxWorkspace } from './sandbox-workspace.ts';
import { type SlackSimulator, slackSimulator } from './simulator.ts';
import type { SlackState } from './state.ts';
import { slackLimits, unlimited } from './web-api/rate-limits.ts';
import { webApi } from './web-api/router.ts';
import type { Workspace } from './workspace.ts';

export type DeliveryMode =
  | { readonly mode: 'http'; readonly eventsUrl?: string; readonly signingSecret: string }
  | { readonly mode: 'socket' };

export interface SlackOptions {
  /** 0, the default, takes any free port. Only this machine can reach it. */
  readonly port?: number;
  readonly now?: () => Date;
  readonly workspace?: Workspace;
  /** Slack's manifest v2. */
  readonly manifest: Json;
  readonly delivery: DeliveryMode;
  readonly botToken?: string;
  readonly appToken?: string;
  /** How long Slack waits for an acknowledgement: 3000 unless a test is in a hurry. */
  readonly ackTimeoutMs?: number;
  /** The clock for signatures, which the app compares with its own. */
  readonly signedAt?: () => Date;
  /** How the time between two attempts of an event passes; by default really. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly rateLimits?: boolean;
  /** The folder of the built page. */
  readonly page?: string;
  /** More routes below /sandbox, such as the panel of the simulators. */
  readonly routes?: Router;
}

/** Starts Slack as far as the app and the people who use it can tell. */
export async function startSlackSimulator(options: SlackOptions): Promise<SlackSimulator> {
  const stopping = new AbortController();
  const slack = initialState(options, stopping.signal);
  const server = createServer(routes(slack, options));
  const { port = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  slack.url = `http://127.0.0.1:${portOf(server)}`;
  const link = deliver(slack, server, options);
  const stop = async () => {
    stopping.abort();
    link.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return slackSimulator(slack, { ...link, stop });
}

function initialState(options: SlackOptions, stopping: AbortSignal): SlackState {
  return {
    workspace: structuredClone(options.workspace ?? sandboxWorkspace),
    manifest: readManifest(options.manifest),
    tokens: {
      bot: options.botToken ?? 'xoxb-100000000001-100000000002-sandboxsandboxsandboxsan',
      app: options.appToken ?? 'xapp-1-A0SIGNALBOX-100000000003-sandbox',
    },
    now: options.now ?? (() => new Date()),
    wait: options.wait ?? ((ms) => reallyWait(ms, stopping)),
    messages: [],
    modals: new Map(),
    homes: new Map(),
    triggers: new Map(),
    responseUrls: new Map(),
    files: new Map(),
    mentions: [],
    calls: [],
    faults: [],
    events: [],
    read: new Map(),
    watchers: new Set(),
    url: '',
    deliverToApp: async () => undelivered,
    ticket: () => null,
    lastMicros: 0,
  };
}

async function reallyWait(ms: number, stopping: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal: stopping, ref: false });
  } catch (error) {
    // Stopping cuts the wait short; the attempt that follows finds nobody and is the last.
    if (!stopping.aborted) throw error;
  }
}

function routes(slack: SlackState, options: SlackOptions) {
  const app = express();
  app.disable('x-powered-by');
  const limits = options.rateLimits === true ? slackLimits(slack.now) : unlimited;
  app.use('/api', webApi(slack, limits));
  app.use(responseUrlRoutes(slack));
  app.use(fileRoutes(slack));
  app.use('/sandbox', pageRoutes(slack));
  if (options.routes) app.use('/sandbox', options.routes);
  if (options.page !== undefined) app.use(express.static(options.page));
  return app;
}

/** The way to the app, and how a test or the sandbox steers it. */
export interface AppConnection {
  readonly deliverTo: (eventsUrl: string | null) => void;
  readonly connections: () => number;
  readonly refreshSockets: (reason: 'warning' | 'refresh_requested') => void;
  readonly close: () => void;
}

function deliver(slack: SlackState, server: Server, options: SlackOptions): AppConnection {
  const ackTimeoutMs = options.ackTimeoutMs ?? 3000;
  if (options.delivery.mode === 'socket') {
    const hub = socketHub(server, { appId: slack.workspace.appId, ackTimeoutMs });
    slack.deliverToApp = hub.courier;
    slack.ticket = hub.ticket;
    const { connections, refresh, close } = hub;
    return { deliverTo: () => {}, connections, refreshSockets: refresh, close };
  }
  const { eventsUrl = null, signingSecret } = options.delivery;
  const signedAt = options.signedAt ?? (() => new Date());
  const route: HttpRoute = { eventsUrl, signingSecret, ackTimeoutMs, signedAt };
  slack.deliverToApp = httpCourier(route);
  return {
    deliverTo: (url) => {
      route.eventsUrl = url;
    },
    connections: () => 0,
    refreshSockets: () => {},
    close: () => {
      route.eventsUrl = null;
    },
  };
}

function portOf(server: Server): number {
  // A server that listens on a port always has an address of this shape.
  return (server.address() as AddressInfo).port;
}
