import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createFaultInjector } from '../faults/injector.ts';
import type { Api } from '../protocol.ts';
import type { Effects } from './effects.ts';
import { createPipeline, type Gate, noSuchRoute, type Operation, type Serve } from './pipeline.ts';
import { createRequestLog } from './request-log.ts';

/** Rejects when the signal aborts. A test can pass a function that does not really wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<unknown>;

export interface ServerOptions {
  readonly now?: () => Date;
  readonly wait?: Wait;
}

interface SimulatedApi {
  readonly api: Api;
  readonly operations: readonly Operation[];
  readonly effects: Effects;
  readonly gate: Gate;
}

/** The functions of every simulator, in addition to the administration of its API. */
export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

export async function startSimulator(
  { api, effects, gate, ...rest }: SimulatedApi,
  options: ServerOptions,
) {
  const { now = () => new Date(), wait = realWait } = options;
  const operations = rest.operations.map(({ name }) => name);
  const listeners = new Set<() => void>();
  const log = createRequestLog(api, () => {
    for (const listener of listeners) listener();
  });
  const injector = createFaultInjector(api, operations);
  const closing = new AbortController();
  const pause = (ms: number) => wait(ms, closing.signal);
  const { serve, before } = createPipeline({ gate, injector, log, now, pause });
  const app = routes(rest.operations, serve, closing.signal);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this shape.
  const address = server.address() as AddressInfo;

  return {
    api,
    url: `http://127.0.0.1:${address.port}`,
    operations,
    requests: log.list,
    /** The number of requests of this operation, whatever their replies. */
    count: log.count,
    effects: effects.list,
    /** The number of writes of this operation that took effect, on one target or on all. */
    effectCount: (operation: string, target?: string) =>
      effects
        .list()
        .filter((one) => one.operation === operation && (target ?? one.target) === one.target)
        .length,
    faultProblem: injector.problem,
    injectFault: injector.inject,
    activeFaults: injector.list,
    clearFaults: injector.clear,
    /** Runs the function once, directly before the next request of this operation is handled. */
    before,
    /** Calls the listener at each request and each reply; returns a function that removes it. */
    onRequest: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop(): Promise<void> {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
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
  // Express recognizes an error handler by its four parameters. The text shows that the error is
  // one of the simulator and not a reply of the API.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (closing.aborted || response.headersSent) return response.destroy();
    response
      .status(500)
      .type('text')
      .send(`simulator failed: ${String(error)}`);
  });
  return app;
}

function realWait(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal });
}
