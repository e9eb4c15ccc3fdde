import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';

/** Traces the rest of the test. Returns the ended spans of a name. */
export function recordSpans() {
  const exporter = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor({ exporter });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const named = (name: string) =>
    exporter
      .getFinishedSpans()
      .filter((span) => span.name === name)
      .map(spanOf);
  return { named };
}

function spanOf(span: ReadableSpan) {
  const { traceId, spanId } = span.spanContext();
  return {
    kind: SpanKind[span.kind],
    facts: span.attributes,
    parent: span.parentSpanContext?.spanId ?? null,
    id: spanId,
    /** What `traceHere` returns in the span. */
    here: `00-${traceId}-${spanId}-01`,
  };
}
