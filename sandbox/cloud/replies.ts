import { uuid } from '../api/random.ts';
import { type JsonReply, jsonReply } from '../api/reply.ts';
import type { CloudWorld } from './state.ts';

export function success(world: CloudWorld, result: unknown): JsonReply {
  return jsonReply(200, { status: 200, requestId: uuid(world.chance), result });
}

/** `error` is `CODE: text`, or the bare code. */
export function refusal(world: CloudWorld, status: number, error: string): JsonReply {
  return jsonReply(status, { status, error, requestId: uuid(world.chance) });
}

export function badRequest(world: CloudWorld, text: string): JsonReply {
  return refusal(world, 400, `BAD_REQUEST: ${text}`);
}

export function notRunning(world: CloudWorld, what: string, state: string): JsonReply {
  const text = `${what} only when the database service is running. Current state: ${state}`;
  return refusal(world, 424, `FAILED_DEPENDENCY: ${text}`);
}

/** A value as the servers' error texts show it: `<number:30>`. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `<${typeof value}:${text}>`;
}
