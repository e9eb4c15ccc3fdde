// The HTTP client of the two APIs, what their calls have in common, and the post of an answer to Slack.

import { Pool, request } from 'undici';
import { z } from 'zod';
import {
  ApiError,
  type ApiErrorKind,
  causeCode,
  type FieldProblem,
  InvalidRequest,
  type Secret,
} from './errors.ts';
import {
  answerError,
  type Body,
  boundedBody,
  isContradiction,
  isForeign,
  isRecord,
  noAnswerError,
  readResponseBody,
  requestIdOf,
  retryDelay,
  serverTextOf,
  withoutSecrets,
} from './http-answer.ts';
import {
  AddressRefusedError,
  createBudget,
  guardedConnector,
  type Limit,
  outbound,
  type Priority,
  type SharedBudget,
} from './http-limits.ts';
import { isOtherObject } from './http-rows.ts';
import { type Clock, systemClock } from './time.ts';

/** One call of an API. */
export interface Call {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Begins with a slash; its segments are already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The largest body of an answer, in bytes; 16 MiB if missing. */
  readonly mostBytes?: number | undefined;
  /** Older servers report a missing object as the plain text `Not Found`, with status 404. */
  readonly hasPlainNotFound?: boolean | undefined;
  /** Of a read; a write has the highest priority. */
  readonly priority?: Priority | undefined;
  /** A time limit of the whole call that is shorter than that of the client. For reads only. */
  readonly withinMs?: number | undefined;
  /** Aborts the call in any phase: queued, waiting for a repetition or sent. For reads only. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every API call. The default priority is `people`. */
export type CallOptions = Pick<Call, 'priority'>;

/** The parsed reply of an API call. `tookMs` excludes the wait for the request budget. */
export interface Reply<T> extends Omit<HttpAnswer, 'body'> {
  readonly result: T;
}

/** One sent request; `status` is null when no answer came. */
export interface Observation {
  readonly operation: string;
  readonly method: Call['method'];
  readonly attempt: number;
  readonly status: number | null;
  /** The server's id of the request, for its support team. */
  readonly requestId: string | null;
  /** How long it waited for the request budget, before `ms` began. */
  readonly waitedMs: number;
  readonly ms: number;
}

export interface HttpOptions {
  readonly baseUrl: URL;
  /** The whole value of the Authorization header. */
  readonly authorization: Secret;
  /** Values that are removed from error texts, in case the server quotes them. */
  readonly secrets: readonly Secret[];
  readonly version: string;
  readonly limit: Limit;
  /** The budget that other replicas use as well. */
  readonly sharedBudget?: SharedBudget | undefined;
  /** Milliseconds to wait after a 429 without a wait time. */
  readonly retryAfterMs: number;
  readonly timing?: Partial<typeof DEFAULT_TIMEOUTS> | undefined;
  readonly clock?: Clock | undefined;
  /** Allows addresses in private networks; otherwise only public addresses are allowed. */
  readonly privateAddresses?: boolean | undefined;
  /** Aborts when the process must exit: open requests are cancelled, including writes. */
  readonly leaving?: AbortSignal | undefined;
  /** Must not throw: it runs before the outcome of a write is recorded. */
  readonly observe?: ((observation: Observation) => void) | undefined;
  /** Must not throw, as `observe`. */
  readonly record?: RecordExchange | undefined;
}

/** The options that the client of an API passes on. */
export type PassedOptions = Omit<
  HttpOptions,
  'baseUrl' | 'authorization' | 'secrets' | 'limit' | 'retryAfterMs'
>;

/** What left or arrived through one door, and the answer to it, each as it is. */
export interface Exchange {
  readonly door: 'slack' | 'payload' | 'answer' | 'api';
  /** The method of Slack, or the HTTP method and the path. */
  readonly call: string;
  readonly sent: unknown;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly arrived: unknown;
}
export type RecordExchange = (exchange: Exchange) => void;

type ReadCall = Omit<Call, 'method' | 'body'>;

/**
 * Both APIs return an object with the result in one field. A read without that field is an error.
 * A write with a 2xx status is accepted, so a result that is missing or cut becomes null. If its body
 * contradicts that or is not of the API, its effect is unknown.
 */
export function createEnvelopeHttp(field: 'result' | 'data', options: HttpOptions) {
  const http = createHttp(options);

  /** What came, and why it is not the wanted answer of the API; null where nothing speaks against it. */
  async function exchange<S extends z.ZodType>(call: Call, schema: S, pick = resultIn) {
    const { body, ...reply } = await http.send(call);
    const object = body.kind === 'json' && isRecord(body.value) ? body.value : {};
    const parsed = schema.safeParse(pick(object));
    const fault = faultOf(body, field, parsed.error);
    const isEmpty = body.kind === 'empty' || (body.kind === 'json' && resultIn(object) === null);
    const failure = (kind: ApiErrorKind) => {
      const text = kind === 'contradiction' ? serverTextOf(body) : null;
      const serverText = withoutSecrets(text, options.secrets);
      const about = { operation: call.operation, effect: 'unknown', kind, serverText } as const;
      return new ApiError({ ...about, ...reply, cause: parsed.error });
    };
    return { reply, parsed, fault, isEmpty, failure };
  }

  const resultIn = (body: Readonly<Record<string, unknown>>): unknown => body[field] ?? null;

  async function readFrom<S extends z.ZodType>(call: ReadCall, schema: S, pick = resultIn) {
    const got = await exchange({ ...call, method: 'GET' }, schema, pick);
    const { reply, parsed, fault, isEmpty, failure } = got;
    if (isEmpty || !parsed.success)
      throw failure(fault ?? (isEmpty ? 'empty-reply' : 'unreadable-reply'));
    return { ...reply, result: parsed.data };
  }

  async function write<S extends z.ZodType>(call: Call, schema: S) {
    const { reply, parsed, fault, failure } = await exchange(call, schema);
    if (fault !== null) throw failure(fault);
    return { ...reply, result: parsed.success ? parsed.data : null };
  }

  return {
    read: <S extends z.ZodType>(call: ReadCall, schema: S) => readFrom(call, schema),
    /** Parses the whole object, for a reply with further fields such as a total. */
    readWhole: <S extends z.ZodType>(call: ReadCall, schema: S) =>
      readFrom(call, schema, (body) => body),
    write,
    close: http.close,
  };
}

/** Why a 2xx answer to a write does not show that the API accepted it; null if it does. */
function faultOf(body: Body, field: string, error: z.ZodError | undefined): ApiErrorKind | null {
  if (error && isOtherObject(error)) return 'other-object';
  if (isContradiction(body, field)) return 'contradiction';
  if (isForeign(body, field)) return 'foreign-answer';
  return body.kind === 'unreadable' ? 'unreadable-reply' : null;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: Body;
  readonly requestId: string | null;
  readonly tookMs: number;
}

// Gateways answer 504 after 30 s. The deadline is longer, so that this 504 arrives. The wait of a
// write is short, so that most of the deadline is left for its answer.
const DEFAULT_TIMEOUTS = {
  connectMs: 5_000,
  /** For the whole call, including waits and repetitions. */
  deadlineMs: 40_000,
  /** The longest wait of a write for the request budget. The rest of the deadline is for the answer. */
  writeWaitMs: 12_000,
};

/** A client of one server, with its own request budget and its own connections. */
export function createHttp(options: HttpOptions) {
  const { clock = systemClock } = options;
  const timing = { ...DEFAULT_TIMEOUTS, ...options.timing };
  const budget = createBudget(options.limit, clock, options.sharedBudget ?? null);
  const transport = createTransport(options, timing.connectMs);

  /**
   * Resolves for a 2xx only; every other result is thrown as ApiError. Only a GET is ever repeated.
   * A write with a 2xx status succeeds even if its connection breaks (the body is then what came), but not if
   * Signalbox itself breaks it off.
   */
  async function send(call: Call): Promise<HttpAnswer> {
    const deadline = clock.now() + Math.min(timing.deadlineMs, call.withinMs ?? timing.deadlineMs);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOnce(call, attempt, deadline);
      if (!(outcome instanceof ApiError)) return outcome;
      const waitMs = call.method === 'GET' ? retryDelay(outcome, attempt, clock.random()) : null;
      if (waitMs === null || clock.now() + waitMs >= deadline) throw outcome;
      await clock.sleep(waitMs, call.signal ?? options.leaving);
    }
  }

  async function attemptOnce(call: Call, attempt: number, deadline: number) {
    const { operation, method } = call;
    const priority = method === 'GET' ? (call.priority ?? 'people') : 'write';
    const signal = call.signal ?? options.leaving;
    const patience = method === 'GET' ? timing.deadlineMs : timing.writeWaitMs;
    const until = Math.min(deadline - 1, clock.now() + patience);
    const queuedAt = clock.now();
    const turn = await budget.take(priority, until, signal);
    if (signal?.aborted) return noAnswerError(operation, { kind: 'stopping' });
    if (!turn.ok) return noAnswerError(operation, { kind: turn.why, retryAfterMs: turn.inMs });

    const sentAt = clock.now();
    const outcome = await transport.exchange(call, clock.timeout(deadline - sentAt));
    const tookMs = clock.now() - sentAt;
    const { status, requestId } = outcome;
    const waitedMs = sentAt - queuedAt;
    options.observe?.({ operation, method, attempt, status, requestId, waitedMs, ms: tookMs });
    if (!(outcome instanceof ApiError)) return { ...outcome, tookMs };
    if (outcome.status === 429) budget.pause(outcome.retryAfterMs ?? options.retryAfterMs);
    return outcome;
  }

  return { send, close: transport.close };
}

function createTransport(options: HttpOptions, connectMs: number) {
  // Each request uses a new connection: a reused one that the server is closing could lose a write.
  // HTTP/2 is off because undici repeats a refused stream on another connection.
  const agent = outbound({
    pipelining: 0,
    connectTimeout: connectMs,
    // A proxy resolves the names itself: only a direct connection can check the address.
    connect: guardedConnector(options.privateAddresses ?? false, {
      timeout: connectMs,
      allowH2: false,
    }),
    // The signal of the deadline is the only timer of a call.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin, settings) =>
      new Pool(origin, settings).on('connectionError', (_origin, _targets, error) => {
        unconnected.add(error);
      }),
  });
  // Errors of that event occur before the connection is open, so no byte of the request was sent.
  const unconnected = new WeakSet<object>();

  async function exchange(call: Call, deadline: AbortSignal) {
    const { operation, method, signal: abort = options.leaving } = call;
    const signal = abort ? AbortSignal.any([deadline, abort]) : deadline;
    try {
      const reply = await request(urlOf(call, options.baseUrl), {
        dispatcher: agent,
        method,
        headers: headersOf(call, options),
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal,
      });
      const { statusCode: status, headers } = reply;
      const onBreak = (cause: unknown) => {
        if (signal.aborted || (method === 'GET' && isSuccess(status))) throw cause;
      };
      const type = headers['content-type'];
      const body = await readResponseBody(reply.body, type, onBreak, call.mostBytes);
      options.record?.({
        ...{ door: 'api', call: `${method} ${call.path}`, status, headers },
        ...{ sent: { query: call.query, body: call.body }, arrived: contentOf(body) },
      });
      if (!isSuccess(status)) return answerError(call, { status, headers, body }, options);
      return { status, body, requestId: requestIdOf(body) };
    } catch (cause) {
      if (cause instanceof Error && unconnected.has(cause))
        return noAnswerError(operation, { kind: unconnectedKind(cause), cause });
      // An aborted read had no effect; the effect of an aborted write is unknown.
      const aborted = method === 'GET' ? 'stopping' : 'terminated';
      const failed = deadline.aborted ? 'deadline' : 'connection-lost';
      return noAnswerError(operation, { kind: abort?.aborted ? aborted : failed, cause });
    }
  }

  return { exchange, close: () => agent.close() };
}

function unconnectedKind(cause: Error): ApiErrorKind {
  if (cause instanceof AddressRefusedError) return 'private-address';
  return /^(ENOTFOUND|EAI_)/.test(causeCode(cause) ?? '') ? 'no-name' : 'no-connection';
}

function contentOf(body: Body): unknown {
  if ('value' in body) return body.value;
  return 'text' in body ? body.text : null;
}

function urlOf({ path, query = {} }: Call, base: URL): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  url.search = new URLSearchParams(query).toString();
  return url;
}

function headersOf(
  { body }: Call,
  { authorization, version }: Pick<HttpOptions, 'authorization' | 'version'>,
) {
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

/** The parsed value. Throws an InvalidRequest that lists every violated rule once. */
export function validRequest<S extends z.ZodType>(
  operation: string,
  schema: S,
  value: unknown,
): z.output<S> {
  const read = schema.safeParse(value);
  if (!read.success) throw new InvalidRequest(operation, requestProblems(read.error));
  return read.data;
}

function requestProblems(error: z.ZodError): FieldProblem[] {
  const all = error.issues.flatMap((issue): FieldProblem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((field) => ({ field, problem: 'is not a field of this request' }));
    }
    return [{ field: issue.path.join('.') || 'request', problem: issue.message }];
  });
  // Two violated rules of a field can share one sentence, for example “a multiple of 4 up to 356”.
  return [...new Map(all.map((each) => [`${each.field} ${each.problem}`, each])).values()];
}

/** An id that a path may contain. Other characters could change the path, so they are refused. */
export const PathId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens or underscores');

export function pathId(operation: string, field: string, id: string): string {
  return validRequest(operation, z.object({ [field]: PathId }), { [field]: id })[field] ?? id;
}

/**
 * The base URL of an API from its configured address, which may end with slashes and may contain
 * the version that every path begins with. Throws InvalidRequest for other additions.
 */
export function apiAddress(text: string, version: RegExp): URL {
  const url = URL.parse(text);
  if (!url?.protocol.match(/^https?:$/)) throw badAddress('must be an http or https address');
  if (url.username + url.password !== '') throw badAddress('must not contain a user or password');
  if (url.search + url.hash !== '') throw badAddress('must not contain a query or a fragment');
  url.pathname = url.pathname.replace(/\/+$/, '').replace(version, '').replace(/\/+$/, '');
  return url;
}

function badAddress(problem: string): InvalidRequest {
  return new InvalidRequest('configuration', [{ field: 'address', problem }]);
}

/** Posts JSON once, without redirects, and returns the reply as text. Rejects without a whole reply. */
export async function postJson(url: string, content: unknown, withinMs: number) {
  const { statusCode: status, body } = await request(url, {
    method: 'POST',
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
    headers: { 'content-type': 'application/json' },
    // Of a string undici keeps both the string and its bytes, which then outlive the request by long.
    body: Buffer.from(JSON.stringify(content)),
  });
  return { status, text: await body.text() };
}

const DOCUMENT_MAX = 256 * 1024;

/** Reads a small document, through the proxy of the environment and without redirects. Rejects without a whole reply. */
export async function getDocument(url: string, signal: AbortSignal) {
  const dispatcher = outbound();
  try {
    const { statusCode: status, body } = await request(url, { dispatcher, signal });
    const read = await boundedBody(body, DOCUMENT_MAX);
    if (!read) throw new Error(`The document is larger than ${DOCUMENT_MAX} bytes`);
    return { status, text: read.toString('utf8') };
  } finally {
    await dispatcher.destroy();
  }
}
