import { randomUUID } from 'node:crypto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Tracing } from '../config/tracing.ts';
import { telling } from './reporting-exporter.ts';
import { traceBy } from './trace.ts';
import { createTracer } from './tracer.ts';

/** A stop is not held up for longer by a collector that takes its time. */
const FLUSH_WITHIN_MS = 2_000;
/** Beyond that the newest are dropped: memory is worth more than a trace. */
const KEPT_AT_MOST = 2_048;

export interface OpenTracing {
  /** Sends what is left. False: the collector took too long, and its connection is still open. */
  readonly close: () => Promise<boolean>;
}

interface Around {
  readonly version: string;
  readonly log: Logger;
}

/** Only here OpenTelemetry is loaded: whoever does not trace does not wait for it. */
export function openTracing(tracing: Tracing, { version, log }: Around): OpenTracing {
  const { url, headers, timeoutMs } = tracing;
  const exporter = new OTLPTraceExporter({
    url,
    timeoutMillis: timeoutMs,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
  });
  const own = { 'service.version': version, 'service.instance.id': randomUUID() };
  const provider = new TracerProvider({
    sampler: samplerOf(tracing),
    resource: defaultResource().merge(resourceFromAttributes({ ...own, ...tracing.resource })),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: telling(exporter, log), maxQueueSize: KEPT_AT_MOST }),
    ],
  });
  traceBy(createTracer(provider.getTracer('signalbox', version)));
  return {
    close: () => {
      traceBy(null);
      const over = () => true;
      return Promise.race([provider.shutdown().then(over, over), late()]);
    },
  };
}

function samplerOf({ sampler, ratio }: Pick<Tracing, 'sampler' | 'ratio'>): Sampler {
  const [, parented, which] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const root = which === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : always(which);
  return parented ? new ParentBasedSampler({ root }) : root;
}

function always(which: string | undefined): Sampler {
  return which === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler();
}

function late(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), FLUSH_WITHIN_MS).unref());
}
