import { randomUUID } from 'node:crypto';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { withTimeout } from '../base/errors.ts';
import { createOutageLog } from '../base/log.ts';
import type { Tracing } from './tracing-environment.ts';

/** A slow collector delays the stop by at most this time. */
const FLUSH_WITHIN_MS = 2_000;
/** A full queue drops the newest spans, to limit the memory. */
const MAX_QUEUE_SIZE = 2_048;

/** Starts tracing. Only this file loads the OpenTelemetry SDK, which takes start-up time. */
export async function openTracing(
  tracing: Tracing,
  { version, log }: { readonly version: string; readonly log: Logger },
) {
  const { url, headers, ratio } = tracing;
  const exporter = new OTLPTraceExporter({
    url,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
  });
  const own = resourceFromAttributes({
    'service.name': 'signalbox',
    'service.version': version,
    'service.instance.id': randomUUID(),
  });
  const ofVariables = detectResources({
    detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
  });
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    resource: defaultResource().merge(own).merge(ofVariables),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withOutageLog(exporter, log),
        maxQueueSize: MAX_QUEUE_SIZE,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(provider);
  return {
    /** Sends the queued spans. False: the collector did not answer in time. */
    close: () => {
      trace.disable();
      const done = () => true;
      const closed = provider.shutdown().then(done, done);
      return withTimeout(FLUSH_WITHIN_MS, closed).catch(() => false);
    },
  };
}

/** Logs once when the collector stops accepting traces, and once when it recovers. */
function withOutageLog(exporter: SpanExporter, log: Logger): SpanExporter {
  const outage = createOutageLog(log, {
    began: 'traces are lost: the collector rejects them',
    ended: 'the collector accepts traces again',
  });
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // The text of the collector is untrusted: only the code of the error is logged.
        const { error } = result;
        const reason = String(error && 'code' in error ? error.code : error?.name);
        if (error) outage.failed(reason, { reason });
        else outage.ended();
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
