import type { Api, RecordedRequest } from '../protocol.ts';
import { type Call, loggedHeaders } from './call.ts';
import type { Reply } from './reply.ts';

export interface LoggedRequest extends RecordedRequest {
  /** The parsed body, or null. */
  readonly body: unknown;
  readonly reply: unknown;
  /** The received headers, with a digest in place of the `authorization`. */
  readonly headers: Call['headers'];
}

export type RequestLog = ReturnType<typeof createRequestLog>;

const MAX_ENTRIES = 10_000;

export function createRequestLog(api: Api, changed: () => void) {
  const entries = new Map<number, LoggedRequest>();
  const counts = new Map<string, number>();
  let nextKey = 0;

  return {
    /** Logs the request; the returned function logs its reply. */
    open(call: Call, at: Date): (reply: Reply) => void {
      const key = nextKey++;
      const { operation, method, path, body, fault } = call;
      const entry: LoggedRequest = {
        key,
        at: at.toISOString(),
        api,
        operation,
        method,
        path,
        body: body.kind === 'json' ? body.value : body.kind === 'invalid' ? body.text : null,
        status: null,
        reply: null,
        fault,
        headers: loggedHeaders(call.headers),
      };
      entries.set(key, entry);
      entries.delete(key - MAX_ENTRIES);
      counts.set(operation, (counts.get(operation) ?? 0) + 1);
      changed();
      return (reply) => {
        const content = reply.kind === 'json' ? reply.value : reply.text;
        if (entries.has(key)) entries.set(key, { ...entry, status: reply.status, reply: content });
        changed();
      };
    },
    /** The latest 10,000 requests, oldest first. */
    list: (): readonly LoggedRequest[] => [...entries.values()],
    /** The number of all requests of an operation, also of those no longer in the list. */
    count: (operation: string) => counts.get(operation) ?? 0,
  };
}
