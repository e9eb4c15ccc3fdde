import type { CheckContext } from '../check-context.ts';
import { type CheckLine, ok, warning } from '../line.ts';
import { withinTime } from '../with-timeout.ts';

const NAME = 'collector';

/**
 * Whether whoever collects traces takes them: a request with nothing in it is one too. It is never
 * in the way, for Signalbox works without. Nothing is said where nobody traces.
 */
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
  if (!answer.ok) return [warning(NAME, 'is not reached', LOOK)];
  return [statusLine(answer.value, url)];
}

const LOOK = 'look at OTEL_EXPORTER_OTLP_ENDPOINT, and whether this machine may reach it';

function statusLine(status: number, url: string): CheckLine {
  if (status === 401 || status === 403) {
    return warning(NAME, `takes nothing from us (${status})`, 'look at OTEL_EXPORTER_OTLP_HEADERS');
  }
  if (status >= 300) {
    const fix = 'look at OTEL_EXPORTER_OTLP_ENDPOINT: OTLP over HTTP, mostly on port 4318';
    return warning(NAME, `does not take traces there (${status})`, fix);
  }
  return ok(NAME, `takes traces${url.startsWith('https:') ? ', over TLS' : ', in clear'}`);
}
