import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** An exporter that logs once when the collector stops accepting traces, and once when it recovers. */
export function withExportLog(
  exporter: SpanExporter,
  log: Pick<Logger, 'warn' | 'info'>,
): SpanExporter {
  let failing = false;
  const logChange = (result: Result) => {
    const fails = result.error !== undefined;
    if (fails && !failing)
      log.warn({ reason: reasonOf(result.error) }, 'traces are lost: the collector rejects them');
    if (!fails && failing) log.info('the collector accepts traces again');
    failing = fails;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        logChange(result);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The code of the network error or the HTTP status; the text of the collector is untrusted. */
function reasonOf(error: Result['error']): string {
  const code = error && 'code' in error ? error.code : undefined;
  return String(code ?? error?.name);
}
