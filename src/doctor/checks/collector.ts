import { withinTime } from '../../base/errors.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, ok, warning } from '../line.ts';

const NAME = 'collector';

/** Sends an empty request to the trace collector, if configured. Problems are warnings only. */
export async function collectorLines({
  config,
  withinMs,
}: CheckContext): Promise<readonly CheckLine[]> {
  const { tracing } = config;
  if (tracing === null) return [];
  const { url, headers } = tracing;
  const keys = [...headers].map(([name, value]) => [name, value.reveal()] as const);
  const answer = await withinTime(withinMs, async () => {
    const { status, body } = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...Object.fromEntries(keys), 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(),
      signal: AbortSignal.timeout(withinMs),
    });
    await body?.cancel();
    return status;
  });
  if (!answer.ok) return [warning(NAME, 'is not reachable', CHECK_ADDRESS)];
  return [statusLine(answer.value, url)];
}

const CHECK_ADDRESS = 'check OTEL_EXPORTER_OTLP_ENDPOINT, and whether this machine can reach it';

function statusLine(status: number, url: string): CheckLine {
  if (status === 401 || status === 403) {
    return warning(NAME, `rejects the key (${status})`, 'check OTEL_EXPORTER_OTLP_HEADERS');
  }
  if (status >= 300) {
    const fix = 'check OTEL_EXPORTER_OTLP_ENDPOINT: it needs OTLP over HTTP, usually on port 4318';
    return warning(NAME, `does not accept traces at this address (${status})`, fix);
  }
  return ok(NAME, `accepts traces${url.startsWith('https:') ? ' over TLS' : ' without TLS'}`);
}
