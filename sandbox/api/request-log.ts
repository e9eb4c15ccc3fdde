import type { Api } from '../faults/fault.ts';
import type { RecordedRequest } from '../protocol.ts';
import { type Call, loggedHeaders } from './call.ts';
import type { Reply } from './reply.ts';

export interface LoggedRequest extends RecordedRequest {
  /** As received, but `authorization` is a digest. */
  readonly headers: Call['headers'];
}

export interface RequestLog {
  /** Notes the arrival; the function it returns notes the answer. */
  open(call: Call, at: Date): (reply: Reply) => void;
  /** Oldest first; the oldest are forgotten beyond 10,000, the counts are not. */
  list(): readonly LoggedRequest[];
  count(operation: string): number;
}

const KEPT = 10_000;

export function createRequestLog(api: Api, changed: () => void): RequestLog {
  const entries = new Map<number, LoggedRequest>();
  const counts = new Map<string, number>();
  let arrived = 0;

  return {
    open(call, at) {
      const key = arrived++;
      const entry = arrival(api, call, at);
      entries.set(key, entry);
      entries.delete(key - KEPT);
      counts.set(call.operation, (counts.get(call.operation) ?? 0) + 1);
      changed();
      return (reply) => {
        const shown = reply.kind === 'json' ? reply.value : reply.text;
        if (entries.has(key)) entries.set(key, { ...entry, status: reply.status, reply: shown });
        changed();
      };
    },
    list: () => [...entries.values()],
    count: (operation) => counts.get(operation) ?? 0,
  };
}

function arrival(api: Api, call: Call, at: Date): LoggedRequest {
  const { body } = call;
  return {
    at: at.toISOString(),
    api,
    operation: call.operation,
    method: call.method,
    path: call.path,
    body: body.kind === 'json' ? body.value : body.kind === 'invalid' ? body.text : null,
    status: null,
    reply: null,
    fault: call.fault,
    headers: loggedHeaders(call.headers),
  };
}
