// What Signalbox reports about itself: log lines without secrets, traces, and the counters of metrics.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { unescape as decoded } from 'node:querystring';
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { Secret } from './errors.ts';
import type { Observation } from './http.ts';

/**
 * A log of JSON lines without sensitive values. `level`: of pino, for example info, debug or silent. `hidden`: values
 * that never appear in a line, to which others can be added later. The default destination is standard output.
 */
export function createLog(
  { level, hidden = new Set() }: { readonly level: string; readonly hidden?: ReadonlySet<string> },
  to: DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level,
      name: 'signalbox',
      mixin: () => ({ ...current.getStore(), ...traceIds() }),
      formatters: { log: (fields) => ({ ...Object(redact(fields)) }) },
      // They are serialized already.
      serializers: { err: (error) => error },
      hooks: { streamWrite: (line) => withoutValues([...hidden].flatMap(spellingsOf), line) },
    },
    to,
  );
}

// Lines are written synchronously, so that the last line before a crash is not lost.
function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: true });
}

/**
 * A copy for logs with the values of sensitive keys replaced. Replies of the two APIs contain
 * initial passwords, storage keys, role names and address lists.
 */
function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || hasToJson(value)) return value;
  // Includes the chain of causes and the properties that libraries add.
  if (value instanceof Error) return redact({ ...stdSerializers.err(value) }, depth + 1);
  if (depth === DEEPEST) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      HIDDEN_KEY.test(key) && item !== null && item !== undefined
        ? '[redacted]'
        : redact(item, depth + 1),
    ]),
  );
}

const HIDDEN_KEY =
  /password|secret|token|authorization|cookie|signature|accesskey|apikey|encryptionkey|encryption.*role|iamrole|keyid$|arn$|ipaccesslist|response_?url|database_?url|connectionstring/i;
const DEEPEST = 8;

// For example a Date, a URL or a Secret.
function hasToJson(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** The text with all occurrences of these values replaced. */
export function withoutValues(values: readonly string[], text: string): string {
  // A short value would also match parts of ordinary words.
  const hidden = values.filter((value) => value.length >= 6);
  return hidden.reduce((clean, value) => clean.replaceAll(value, '[secret]'), text);
}

/** The value itself and its escaped form in JSON. */
function spellingsOf(value: string): readonly string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1)])];
}

/** All secrets of a configuration, and the password within a database URL. */
export function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal(), ...passwordIn(value.reveal())];
  if (typeof value !== 'object' || value === null) return [];
  const inner = value instanceof Map ? [...value.values()] : Object.values(value);
  return inner.flatMap(secretsIn);
}

function passwordIn(text: string): readonly string[] {
  const password = URL.canParse(text) ? new URL(text).password : '';
  return password === '' ? [] : [password, decoded(password)];
}

/** Fields that every log line of a piece of work carries. */
export interface LogContextFields {
  /** The id of one Slack payload, in all its log lines, across replicas. */
  readonly request?: string;
  readonly change?: string | undefined;
  /** Who caused it. */
  readonly user?: string | undefined;
  /** `command service`, `press change.approve`, `job card`. */
  readonly what?: string;
}

const current = new AsyncLocalStorage<LogContextFields>();

/** Runs the work with these log fields, which replace the fields of the caller. */
export function during<T>(about: LogContextFields, work: () => T): T {
  return current.run(about, work);
}

/** The id of the current Slack payload; undefined in background work. */
export function requestNow(): string | undefined {
  return current.getStore()?.request;
}

/** A new id, short enough to read aloud and unique within a month of logs. */
export function newRequest(): string {
  // Node draws many UUIDs at once, which costs less than a draw for each payload.
  return randomUUID().replace('-', '').slice(0, 10);
}

/** Logs one line per kind of failure and outage, where attempts repeat for hours, and its end. */
export function createOutageLog(log: Logger, lines: Readonly<Record<'began' | 'ended', string>>) {
  const kinds = new Set<string>();
  let failures = 0;
  return {
    /** Logs the first failure of a kind. `kind` is from a closed list, for example an error code. */
    failed: (kind: string, fields: object) => {
      failures += 1;
      if (!kinds.has(kind)) log.warn(fields, lines.began);
      kinds.add(kind);
    },
    /** Logs once that the outage has ended, with the number of failures; without one it logs nothing. */
    ended: () => {
      if (failures > 0) log.info({ failures }, lines.ended);
      kinds.clear();
      failures = 0;
    },
  };
}

/**
 * A traced operation. While no SDK is registered, OpenTelemetry's API only runs the work. Names and
 * values come from closed lists; texts of users or servers never go into a trace.
 */
export interface Work {
  readonly name: string;
  /** `server`: a caller waits. `consumer`: the work comes from a queue. `client`: an outgoing call. */
  readonly kind?: 'server' | 'consumer' | 'client';
  readonly facts?: Facts;
  /** The context of the parent span, as `traceHere` returned it. */
  readonly from?: Context | undefined;
}

/** Attributes with OpenTelemetry names, or own names that begin with `signalbox.`. */
type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** Runs the work in a new span: a child of the current span, or the root of a new trace. */
export async function traced<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const { from: parent = context.active() } = work;
  const span = startSpan(work, parent);
  try {
    return await context.with(trace.setSpan(parent, span), run);
  } catch (error) {
    setFacts(span, { 'error.type': nameOf(error) });
    throw error;
  } finally {
    span.end();
  }
}

/** Runs the work in a child of the current span; without a current span it is not traced. */
export function step<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return trace.getActiveSpan() ? traced(work, run) : run();
}

/** Records a child span for work that has already ended. */
export function pastStep(work: Work, tookMs: number): void {
  if (!trace.getActiveSpan()) return;
  const now = Date.now();
  startSpan(work, context.active(), now - tookMs).end(now);
}

/** Adds attributes to the current span; `error.type` marks it as failed. */
export function note(facts: Facts): void {
  const span = trace.getActiveSpan();
  if (span) setFacts(span, facts);
}

/** Runs background work outside the current trace. */
export function outsideTrace<T>(run: () => T): T {
  return context.with(ROOT_CONTEXT, run);
}

/** The current context, to continue its trace later. */
export function traceHere(): Context {
  return context.active();
}

/** The fields that connect log lines with traces; empty unless the current span is sampled. */
function traceIds() {
  const here = trace.getActiveSpan()?.spanContext();
  if (!here || (here.traceFlags & TraceFlags.SAMPLED) === 0) return {};
  return { trace_id: here.traceId, span_id: here.spanId };
}

/** Whether facts of the current span are recorded, so that it is worth to collect them. */
export function isRecording(): boolean {
  return trace.getActiveSpan()?.isRecording() ?? false;
}

function startSpan({ name, kind, facts = {} }: Work, parent: Context, startTime?: number): Span {
  const options = {
    ...(kind && { kind: KINDS[kind] }),
    ...(startTime !== undefined && { startTime }),
  };
  const span = trace.getTracer('signalbox').startSpan(plain(name), options, parent);
  setFacts(span, facts);
  return span;
}

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };

function setFacts(span: Span, facts: Facts): void {
  const cleaned = Object.entries(facts).map(([key, value]) => {
    return [key, typeof value === 'string' ? plain(value) : value] as const;
  });
  span.setAttributes(Object.fromEntries(cleaned));
  if (facts['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
}

const PLAIN = /^[\w .:/{}-]{1,120}$/;

/** The last guard against free text: a value with other characters becomes `other`. */
function plain(text: string): string {
  return PLAIN.test(text) ? text : 'other';
}

/** The class of the error; its message could contain free text. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'other';
}

/**
 * Counters that the rooms increment. The methods never throw. All label values come from closed
 * lists, because free values would make the number of time series unlimited.
 */
export interface Measures {
  /** A command got its answer. */
  readonly answered: (command: string, ending: AnswerEnding) => void;
  /** A change entered a state. */
  readonly moved: (command: string, state: string) => void;
  /** A refusal, by its name. */
  readonly refused: (refusal: string) => void;
  /** Time from a press on Approve, Reject and the like until its card shows the outcome, at most 3 s. */
  readonly shown: (ms: number) => void;
  /** Time from the last approval, or the scheduled time, until the request is sent. */
  readonly sent: (ms: number) => void;
  /** Time from the arrival of a Slack payload to its acknowledgement. */
  readonly acknowledged: (kind: string, ms: number) => void;
  readonly called: (api: Api, observation: Observation) => void;
  /** A message was given up after all retries. */
  readonly messageLost: (kind: string) => void;
  /** A claimed change was not sent: its permit is returned, and it is claimed again later. */
  readonly permitReturned: () => void;
  /** A call of Slack's Web API ended. */
  readonly slackCalled: (method: string, ending: SlackCallEnding) => void;
  /** Socket Mode connections of other programs with this app token, as Slack counted them last. */
  readonly foreignConnections: (count: number) => void;
  /** A payload over HTTP was refused: its signature is missing or not valid, or the clock of this machine is wrong. */
  readonly deliveryRefused: (why: 'clock' | 'signature' | 'unsigned') => void;
  /** Slack did not answer a lookup of a user or a user group. */
  readonly lookupFailed: () => void;
  /** The alert service delivered a report. */
  readonly alertDelivered: (ending: AlertDelivery) => void;
  /** A program called a tool; `none`: it called no tool. */
  readonly agentCalled: (agent: string, tool: string, result: AgentEnding) => void;
}

/** `limited`: too many calls. `unauthorized`: its credential was refused. */
export type AgentEnding = 'answered' | 'refused' | 'limited' | 'unauthorized' | 'failed';

/** `ignored`: delivered before, older than the last report, or no news. */
export type AlertDelivery = 'accepted' | 'ignored' | 'unreadable' | 'large' | 'limited' | 'failed';

export type Api = 'cloud' | 'alerts';

/** `limited`: Slack refused the call because of its rate limit. `failed`: it did not answer. */
type SlackCallEnding = 'answered' | 'limited' | 'failed';

type AnswerEnding = 'answered' | 'drafted' | 'misread' | 'refused' | 'failed';
