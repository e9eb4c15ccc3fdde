import { uuid } from '../api/random.ts';
import { type JsonReply, jsonReply, Refused } from '../api/reply.ts';
import type { CloudState } from './state.ts';

export function success(cloud: CloudState, result: unknown): JsonReply {
  return jsonReply(200, { status: 200, requestId: uuid(cloud.random), result });
}

/** `error` is `CODE: text`, or the bare code. */
export function refuse(cloud: CloudState, status: number, error: string): never {
  throw new Refused(jsonReply(status, { status, error, requestId: uuid(cloud.random) }));
}

export function badRequest(cloud: CloudState, text: string): never {
  return refuse(cloud, 400, `BAD_REQUEST: ${text}`);
}

export function refuseProblem(cloud: CloudState, problem: string | null): void {
  if (problem !== null) badRequest(cloud, problem);
}

export function notRunning(cloud: CloudState, what: string, state: string): never {
  const text = `${what} only when the database service is running. Current state: ${state}`;
  return refuse(cloud, 424, `FAILED_DEPENDENCY: ${text}`);
}

/** A value in the format of the server's error texts, for example `<number:30>`. */
export function formatValue(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `<${typeof value}:${text}>`;
}
