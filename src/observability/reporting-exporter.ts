import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** Tells once that the collector takes nothing, and once that it does again. */
export function telling(exporter: SpanExporter, log: Pick<Logger, 'warn' | 'info'>): SpanExporter {
  let failing = false;
  const tell = (result: Result) => {
    const fails = result.error !== undefined;
    if (fails && !failing) log.warn({ why: whyOf(result.error) }, 'traces are lost: not taken');
    if (!fails && failing) log.info('traces are taken again');
    failing = fails;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        tell(result);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The code of the line or of the answer; what the collector says may be anything. */
function whyOf(error: Result['error']): string {
  const code = error && 'code' in error ? error.code : undefined;
  return String(code ?? error?.name);
}
