import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/**
 * A traced operation. While no SDK is registered, OpenTelemetry's API only runs the work. Names and
 * values come from closed lists; texts of users or servers never go into a trace.
 */
export interface Work {
  readonly name: string;
  /** `server`: a caller waits. `consumer`: the work comes from a queue. `client`: an outgoing call. */
  readonly kind?: 'server' | 'consumer' | 'client';
  readonly facts?: Facts;
  /** The parent span as `traceHere` returned it, possibly in another replica. */
  readonly from?: string | null;
}

/** Attributes with OpenTelemetry names, or own names that begin with `signalbox.`. */
type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };

/** Runs the work in a new span: a child of the current span, or the root of a new trace. */
export async function traced<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const parent = work.from ? contextOf(work.from) : context.active();
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

/** The current span as a traceparent text, to continue the trace later; undefined without one. */
export function traceHere(): string | undefined {
  const here = trace.getActiveSpan()?.spanContext();
  return here && `00-${here.traceId}-${here.spanId}-0${here.traceFlags & 1}`;
}

/** The fields that connect log lines with traces; empty unless the current span is sampled. */
export function traceIds() {
  const here = trace.getActiveSpan()?.spanContext();
  if (!here || (here.traceFlags & TraceFlags.SAMPLED) === 0) return {};
  return { trace_id: here.traceId, span_id: here.spanId };
}

/** Whether facts of the current span are recorded, so that it is worth to collect them. */
export function isRecording(): boolean {
  return trace.getActiveSpan()?.isRecording() ?? false;
}

function startSpan({ name, kind, facts = {} }: Work, parent: Context, startTime?: number): Span {
  const span = trace.getTracer('signalbox').startSpan(
    plain(name),
    {
      ...(kind ? { kind: KINDS[kind] } : {}),
      ...(startTime === undefined ? {} : { startTime }),
    },
    parent,
  );
  setFacts(span, facts);
  return span;
}

function setFacts(span: Span, facts: Facts): void {
  span.setAttributes(attributesOf(facts));
  if (facts['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
}

function attributesOf(facts: Facts): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      key,
      typeof value === 'string' ? plain(value) : value,
    ]),
  );
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

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/;

/** The parent context of a traceparent text; an unreadable text starts a new trace. */
function contextOf(traceparent: string): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId || !spanId) return ROOT_CONTEXT;
  const remote = { traceId, spanId, traceFlags: Number(flags), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}
