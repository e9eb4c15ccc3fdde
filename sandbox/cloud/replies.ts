import { uuid } from '../api/random.ts';
import { type JsonReply, jsonReply } from '../api/reply.ts';
import type { CloudState } from './state.ts';

export function success(cloud: CloudState, result: unknown): JsonReply {
  return jsonReply(200, { status: 200, requestId: uuid(cloud.random), result });
}

/** `error` is `CODE: text`, or the bare code. */
export function cloudRefusal(cloud: CloudState, status: number, error: string): JsonReply {
  return jsonReply(status, { status, error, requestId: uuid(cloud.random) });
}

export function badRequest(cloud: CloudState, text: string): JsonReply {
  return cloudRefusal(cloud, 400, `BAD_REQUEST: ${text}`);
}

export function notRunning(cloud: CloudState, what: string, state: string): JsonReply {
  const text = `${what} only when the database service is running. Current state: ${state}`;
  return cloudRefusal(cloud, 424, `FAILED_DEPENDENCY: ${text}`);
}

/** A value in the format of the server's error texts, for example `<number:30>`. */
export function formatValue(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `<${typeof value}:${text}>`;
}
