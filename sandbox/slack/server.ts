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
import { type Handle, handleOf } from './simulator.ts';
import type { World } from './state.ts';
import { slackLimits, unlimited } from './web-api/rate-limits.ts';
import { webApi } from './web-api/router.ts';
import type { Workspace } from './workspace.ts';

export type DeliveryMode =
  | { readonly mode: 'http'; readonly eventsUrl?: string; readonly signingSecret: string }
  | { readonly mode: 'socket' };

export interface Options {
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
export async function startSlackStandIn(options: Options): Promise<Handle> {
  const stopping = new AbortController();
  const world = worldOf(options, stopping.signal);
  const server = createServer(routes(world, options));
  const { port = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  world.url = `http://127.0.0.1:${portOf(server)}`;
  const link = deliver(world, server, options);
  const stop = async () => {
    stopping.abort();
    link.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return handleOf(world, { ...link, stop });
}

function worldOf(options: Options, stopping: AbortSignal): World {
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
    pings: [],
    calls: [],
    faults: [],
    events: [],
    read: new Map(),
    watchers: new Set(),
    url: '',
    courier: async () => undelivered,
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

function routes(world: World, options: Options) {
  const app = express();
  app.disable('x-powered-by');
  const limits = options.rateLimits === true ? slackLimits(world.now) : unlimited;
  app.use('/api', webApi(world, limits));
  app.use(responseUrlRoutes(world));
  app.use(fileRoutes(world));
  app.use('/sandbox', pageRoutes(world));
  if (options.routes) app.use('/sandbox', options.routes);
  if (options.page !== undefined) app.use(express.static(options.page));
  return app;
}

/** The way to the app, and how a test or the sandbox steers it. */
export interface Link {
  readonly deliverTo: (eventsUrl: string | null) => void;
  readonly connections: () => number;
  readonly refreshSockets: (reason: 'warning' | 'refresh_requested') => void;
  readonly close: () => void;
}

function deliver(world: World, server: Server, options: Options): Link {
  const ackTimeoutMs = options.ackTimeoutMs ?? 3000;
  if (options.delivery.mode === 'socket') {
    const hub = socketHub(server, { appId: world.workspace.appId, ackTimeoutMs });
    world.courier = hub.courier;
    world.ticket = hub.ticket;
    const { connections, refresh, close } = hub;
    return { deliverTo: () => {}, connections, refreshSockets: refresh, close };
  }
  const { eventsUrl = null, signingSecret } = options.delivery;
  const signedAt = options.signedAt ?? (() => new Date());
  const route: HttpRoute = { eventsUrl, signingSecret, ackTimeoutMs, signedAt };
  world.courier = httpCourier(route);
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
