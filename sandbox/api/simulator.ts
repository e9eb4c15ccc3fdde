import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { Api } from '../faults/fault.ts';
import { createFaultInjector, type FaultSetting } from '../faults/injector.ts';
import type { SetFault } from '../protocol.ts';
import type { Effect, Effects } from './effects.ts';
import { createPipeline, type Gate, noSuchRoute, type Operation, type Serve } from './pipeline.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';

/** Rejects when the signal aborts. Tests pass their own, so that 45 s pass at once. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<unknown>;

export interface ServerOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly now?: () => Date;
  readonly wait?: Wait;
}

/** What every simulator offers beside its own admin functions. */
export interface Simulator {
  readonly api: Api;
  readonly url: string;
  readonly operations: readonly string[];
  requests(): readonly LoggedRequest[];
  /** Deliveries, whatever became of them. */
  count(operation: string): number;
  effects(): readonly Effect[];
  /** How often a write of this operation really took effect, on one target or on all. */
  effectCount(operation: string, target?: string): number;
  faultProblem(arming: FaultSetting): string | null;
  injectFault(arming: FaultSetting): void;
  activeFaults(): readonly SetFault[];
  clearFaults(): void;
  /** Runs once, right before the next request of this operation is handled. */
  before(operation: string, run: () => void): void;
  /** Called when a request arrives and when it is answered; returns how to stop listening. */
  onRequest(listener: () => void): () => void;
  stop(): Promise<void>;
}

export async function startSimulator(parts: Parts, options: ServerOptions): Promise<Simulator> {
  const { now = () => new Date(), wait = realWait, port = 0 } = options;
  const { api, effects } = parts;
  const operations = parts.operations.map(({ name }) => name);
  const listeners = new Set<() => void>();
  const log = createRequestLog(api, () => {
    for (const listener of listeners) listener();
  });
  const armory = createFaultInjector(api, operations);
  const closing = new AbortController();
  const pause = (ms: number) => wait(ms, closing.signal);
  const { serve, before } = createPipeline({ gate: parts.gate, armory, log, now, pause });
  const server = await listen(routes(parts.operations, serve, closing.signal), port);

  return {
    api,
    url: `http://127.0.0.1:${portOf(server)}`,
    operations,
    requests: log.list,
    count: log.count,
    effects: effects.list,
    effectCount: (operation, target) => countOf(effects.list(), operation, target),
    faultProblem: armory.problem,
    injectFault: armory.arm,
    activeFaults: armory.list,
    clearFaults: armory.clear,
    before,
    onRequest(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => stop(server, closing),
  };
}

export interface Parts {
  readonly api: Api;
  readonly operations: readonly Operation[];
  readonly effects: Effects;
  readonly gate: Gate;
}

function countOf(effects: readonly Effect[], operation: string, target?: string): number {
  return effects.filter((effect) => {
    return effect.operation === operation && (target ?? effect.target) === effect.target;
  }).length;
}

function routes(operations: readonly Operation[], serve: Serve, closing: AbortSignal) {
  const app = express().disable('x-powered-by').enable('case sensitive routing');
  app.use(express.raw({ type: () => true, limit: '1mb' }));
  for (const operation of operations) {
    app[operation.method](operation.path, (request, response) =>
      serve(request, response, operation),
    );
  }
  app.use((request, response) => serve(request, response, noSuchRoute(request)));
  // Four parameters are how express knows an error handler. A fault of ours must not look like
  // an answer of the API, so it is told by its text.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (closing.aborted || response.headersSent) return response.destroy();
    response
      .status(500)
      .type('text')
      .send(`simulator failed: ${String(error)}`);
  });
  return app;
}

function listen(app: express.Express, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, '127.0.0.1', (error?: Error) => {
      if (error) reject(error);
      else resolve(server);
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function stop(server: Server, closing: AbortController): Promise<void> {
  closing.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function realWait(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal });
}
