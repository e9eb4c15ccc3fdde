import { Agent, request } from 'undici';
import { ApiError, type Secret } from '../errors.ts';
import { AddressRefused, guardedConnector } from './addresses.ts';
import { requestIdOf } from './answer.ts';
import { type Body, readResponseBody } from './body.ts';
import { createBudget, type Limit, type Priority } from './budget.ts';
import { type Clock, machineClock } from './clock.ts';
import { refusal, silence, waitBeforeRepeat } from './failure.ts';

export interface Call {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Begins with a slash; its parts are encoded already. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly priority?: Priority | undefined;
  /** Gives the call up, wherever it is: waiting, repeating or under way. For reads only. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Body;
  readonly requestId: string | null;
  readonly tookMs: number;
}

/** What a call of the API brought. `tookMs` counts from sending, without the wait for a turn. */
export interface Reply<T> {
  readonly result: T;
  readonly requestId: string | null;
  readonly status: number;
  readonly tookMs: number;
}

/** One request that was put on the wire; `status` is null when no answer came. */
export interface Observation {
  readonly operation: string;
  readonly method: Call['method'];
  readonly attempt: number;
  readonly status: number | null;
  /** The server's own id for it, to ask its support about. */
  readonly requestId: string | null;
  readonly ms: number;
}

export interface HttpOptions {
  readonly baseUrl: URL;
  /** The whole value of the Authorization header. */
  readonly authorization: Secret;
  /** What must not come back in an error text, should the server repeat it. */
  readonly secrets: readonly Secret[];
  readonly version: string;
  readonly limit: Limit;
  /** How long to wait after a 429 that does not say. */
  readonly retryAfterMs: number;
  readonly timing?: Partial<HttpTimeouts> | undefined;
  readonly clock?: Clock | undefined;
  /** The address may lie in a network of one's own; else only where everybody can reach it. */
  readonly privateAddresses?: boolean | undefined;
  /** Fires when the process has to go: what hangs then is broken off, writes too. */
  readonly leaving?: AbortSignal | undefined;
  /** Must not throw: it is called while the outcome of a write is in hand. */
  readonly observe?: ((seen: Observation) => void) | undefined;
}

export interface HttpTimeouts {
  readonly connectMs: number;
  /** For a call as a whole, with its waiting and its repetitions. */
  readonly deadlineMs: number;
  /** How long a write may wait for its turn. The rest of the deadline belongs to the answer. */
  readonly writeWaitMs: number;
}

export interface Http {
  /**
   * Resolves for a 2xx only; everything else is an ApiError. Only a GET is ever sent twice. After a
   * 2xx to a write a body that breaks off counts as unreadable: the status has said what matters.
   */
  send(call: Call): Promise<HttpAnswer>;
  close(): Promise<void>;
}

// A gateway gives up on a slow answer after 30 s. The deadline lies behind that, so that its 504 is
// seen, and a write waits so briefly that the larger part of those 30 s is still to come.
const TIMING: HttpTimeouts = { connectMs: 5_000, deadlineMs: 40_000, writeWaitMs: 12_000 };
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export function createHttp(options: HttpOptions): Http {
  const { clock = machineClock } = options;
  const timing = { ...TIMING, ...options.timing };
  const budget = createBudget(options.limit, clock);
  const wire = createWire(options, timing.connectMs);

  async function send(call: Call): Promise<HttpAnswer> {
    const deadline = clock.now() + timing.deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await takeTurn(call, attempt, deadline);
      if (!(outcome instanceof ApiError)) return outcome;
      const waitMs =
        call.method === 'GET' ? waitBeforeRepeat(outcome, attempt, clock.random()) : null;
      if (waitMs === null || clock.now() + waitMs >= deadline) throw outcome;
      await clock.sleep(waitMs, call.signal ?? options.leaving);
    }
  }

  async function takeTurn(call: Call, attempt: number, deadline: number) {
    const { operation, method, priority = 'people' } = call;
    const signal = call.signal ?? options.leaving;
    const patience = method === 'GET' ? timing.deadlineMs : timing.writeWaitMs;
    const until = Math.min(deadline - 1, clock.now() + patience);
    const turn = await budget.take(priority, until, signal);
    if (signal?.aborted) return silence(operation, { trouble: 'stopping' });
    if (!turn.ok) return silence(operation, { trouble: 'budget', retryAfterMs: turn.inMs });

    const sentAt = clock.now();
    const outcome = await wire.exchange(call, clock.timeout(deadline - sentAt));
    const tookMs = clock.now() - sentAt;
    const { status, requestId } = outcome;
    options.observe?.({ operation, method, attempt, status, requestId, ms: tookMs });
    if (!(outcome instanceof ApiError)) return { ...outcome, tookMs };
    if (outcome.status === 429) budget.pause(outcome.retryAfterMs ?? options.retryAfterMs);
    return outcome;
  }

  return { send, close: wire.close };
}

function createWire(options: HttpOptions, connectMs: number) {
  // Each request has a connection of its own: one that the server is just closing could swallow a
  // write. HTTP/2 is off because there a refused stream would be sent again on another connection.
  const agent = new Agent({
    pipelining: 0,
    allowH2: false,
    connect: guardedConnector(
      { privateToo: options.privateAddresses ?? false },
      { timeout: connectMs, allowH2: false },
    ),
    // The deadline's signal is the one timer of a call.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // An error that is reported here arose before the connection stood, so no byte of a request left.
  const unconnected = new WeakSet<object>();
  agent.on('connectionError', (_origin, _targets, error) => unconnected.add(error));

  async function exchange(call: Call, deadline: AbortSignal) {
    const { operation, method, signal: givenUp = options.leaving } = call;
    try {
      const reply = await request(urlOf(call, options.baseUrl), {
        dispatcher: agent,
        method,
        headers: headersOf(call, options),
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal: givenUp ? AbortSignal.any([deadline, givenUp]) : deadline,
      });
      const { statusCode: status, headers } = reply;
      const body = await readResponseBody(reply.body, MAX_BODY_BYTES).catch((cause): Body => {
        if (method === 'GET' && isSuccess(status)) throw cause;
        return { kind: 'unreadable' };
      });
      if (!isSuccess(status)) return refusal(operation, { status, headers, body }, options);
      return { status, body, requestId: requestIdOf(body) };
    } catch (cause) {
      const neverLeft = cause instanceof Error && unconnected.has(cause);
      if (neverLeft) return silence(operation, { trouble: unconnectedBy(cause), cause });
      // Only a read is given up without a loss: what a write did is not known any more.
      const gone = method === 'GET' ? 'stopping' : 'left';
      const late = deadline.aborted ? 'deadline' : 'connection-lost';
      return silence(operation, { trouble: givenUp?.aborted ? gone : late, cause });
    }
  }

  return { exchange, close: () => agent.close() };
}

function unconnectedBy(cause: Error) {
  return cause instanceof AddressRefused ? 'private-address' : 'no-connection';
}

function urlOf({ path, query = {} }: Call, base: URL): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  url.search = new URLSearchParams(query).toString();
  return url;
}

function headersOf({ body }: Call, { authorization, version }: HttpOptions) {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    authorization: authorization.reveal(),
    'user-agent': `signalbox/${version}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
