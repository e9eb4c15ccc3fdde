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

/** Tells everything to OpenTelemetry. Nothing is registered with it for others to find. */
export function createTracer(api: ApiTracer): Tracer {
  const current = new AsyncLocalStorage<Context>();
  const here = () => current.getStore() ?? ROOT_CONTEXT;
  const span = () => trace.getSpan(here());
  const begin = ({ name, kind, facts = {} }: Work, parent: Context, startTime?: number) => {
    const how = kind ? { kind: KINDS[kind] } : {};
    const since = startTime === undefined ? {} : { startTime };
    const begun = api.startSpan(plain(name), { ...how, ...since }, parent);
    tell(begun, facts);
    return begun;
  };

  return {
    traced: async (work, run) => {
      const parent = work.from ? contextOf(work.from) : here();
      const begun = begin(work, parent);
      try {
        return await current.run(trace.setSpan(parent, begun), run);
      } catch (error) {
        tell(begun, { 'error.type': nameOf(error) });
        throw error;
      } finally {
        begun.end();
      }
    },
    past: (work, tookMs) => {
      const now = Date.now();
      begin(work, here(), now - tookMs).end(now);
    },
    note: (facts, name) => {
      const under = span();
      if (!under) return;
      tell(under, facts);
      if (name !== undefined) under.updateName(plain(name));
    },
    outsideTrace: (run) => current.run(ROOT_CONTEXT, run),
    ids: () => {
      const under = span()?.spanContext();
      if (!under || (under.traceFlags & TraceFlags.SAMPLED) === 0) return null;
      return { trace_id: under.traceId, span_id: under.spanId };
    },
    here: () => {
      const under = span()?.spanContext();
      return under ? `00-${under.traceId}-${under.spanId}-0${under.traceFlags & 1}` : null;
    },
  };
}

function tell(span: Span, facts: Facts): void {
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

/** The last guard: what does not look like a word of ours was none. */
function plain(text: string): string {
  return PLAIN.test(text) ? text : 'other';
}

/** What kind of fault it was; its message may hold anything. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'other';
}

const KEPT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/;

/** What cannot be read begins a trace of its own. */
function contextOf(kept: string): Context {
  const [, traceId, spanId, flags] = KEPT.exec(kept) ?? [];
  if (!traceId || !spanId) return ROOT_CONTEXT;
  const remote = { traceId, spanId, traceFlags: Number(flags), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}
