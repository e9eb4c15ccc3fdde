import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Tracer as ApiTracer,
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Facts, Tracer, Work } from './trace.ts';

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };

/** Records spans with the OpenTelemetry API, without registering global providers. */
export function createTracer(api: ApiTracer): Tracer {
  const current = new AsyncLocalStorage<Context>();
  const here = () => current.getStore() ?? ROOT_CONTEXT;
  const span = () => trace.getSpan(here());
  const startSpan = ({ name, kind, facts = {} }: Work, parent: Context, startTime?: number) => {
    const spanKind = kind ? { kind: KINDS[kind] } : {};
    const start = startTime === undefined ? {} : { startTime };
    const started = api.startSpan(plain(name), { ...spanKind, ...start }, parent);
    setFacts(started, facts);
    return started;
  };

  return {
    traced: async (work, run) => {
      const parent = work.from ? contextOf(work.from) : here();
      const started = startSpan(work, parent);
      try {
        return await current.run(trace.setSpan(parent, started), run);
      } catch (error) {
        setFacts(started, { 'error.type': nameOf(error) });
        throw error;
      } finally {
        started.end();
      }
    },
    past: (work, tookMs) => {
      const now = Date.now();
      startSpan(work, here(), now - tookMs).end(now);
    },
    note: (facts, name) => {
      const active = span();
      if (!active) return;
      setFacts(active, facts);
      if (name !== undefined) active.updateName(plain(name));
    },
    outsideTrace: (run) => current.run(ROOT_CONTEXT, run),
    ids: () => {
      const active = span()?.spanContext();
      if (!active || (active.traceFlags & TraceFlags.SAMPLED) === 0) return null;
      return { trace_id: active.traceId, span_id: active.spanId };
    },
    here: () => {
      const active = span()?.spanContext();
      return active ? `00-${active.traceId}-${active.spanId}-0${active.traceFlags & 1}` : null;
    },
  };
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
