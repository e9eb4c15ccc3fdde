// Requests as tasks of the 2026 extension, for clients that declare it: the id of a task is the id of the change with a
// proof of its caller. A change outlives the client, so a task can be read and cancelled by any process, later.

import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Principal } from './identity.ts';
import type { ToolResult } from './results.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';
const MISSING_CAPABILITY = -32021;
const POLL_MS = 5_000;

interface TaskPort {
  /** The first one signs, all of them verify. */
  readonly keys: readonly Buffer[];
  readonly now: () => Date;
}

/** The tasks of one caller. `call` calls a tool for own requests. */
export function tasksOf(
  { keys, now }: TaskPort,
  { agent, person }: Principal,
  call: (tool: string, given: Readonly<Record<string, unknown>>) => Promise<ToolResult>,
) {
  const proofs = (id: string) =>
    keys.map((key) =>
      createHmac('sha256', key)
        .update(JSON.stringify(['task', id, agent.name, person]))
        .digest('base64url'),
    );
  const taskOf = (result: ToolResult, reply: object, id = String(result.change)) => {
    const isCancelled = result.state === 'cancelled';
    const status = !result.ended ? 'working' : isCancelled ? 'cancelled' : 'completed';
    return {
      ...{ taskId: `${id}.${proofs(id)[0]}`, status, ttlMs: null, pollIntervalMs: POLL_MS },
      ...{ statusMessage: result.summary, createdAt: result.created },
      lastUpdatedAt: now().toISOString(),
      ...(status === 'completed' && { result: { ...reply, resultType: 'complete' } }),
    };
  };
  const load = async (taskId: string, envelope: unknown): Promise<ToolResult> => {
    if (!declaresTasks(envelope)) {
      const requiredCapabilities = { extensions: { [TASKS]: {} } };
      throw new ProtocolError(MISSING_CAPABILITY, 'The client does not declare tasks.', {
        requiredCapabilities,
      });
    }
    const [id = '', given = ''] = taskId.split('.');
    const isOwn = proofs(id).some(
      (proof) =>
        proof.length === given.length && timingSafeEqual(Buffer.from(proof), Buffer.from(given)),
    );
    const result = isOwn ? await call('request_status', { id }) : null;
    if (result?.change === id) return result;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task.');
  };
  const cancel = async (taskId: string, envelope: unknown): Promise<void> => {
    const { change } = await load(taskId, envelope);
    await call('request_cancel', { id: change });
  };
  return { taskOf, load, cancel };
}

const Params = z.looseObject({ taskId: z.string().max(100) });
const Anything = z.looseObject({});

export function offerTasks(
  server: Server,
  { taskOf, load, cancel }: ReturnType<typeof tasksOf>,
  replyOf: (result: ToolResult) => object,
): void {
  const schemas = { params: Params, result: Anything };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, { mcpReq }) => {
    const result = await load(taskId, mcpReq.envelope);
    return { resultType: 'complete', ...taskOf(result, replyOf(result)) };
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, { mcpReq }) => {
    await cancel(taskId, mcpReq.envelope);
    return { resultType: 'complete' };
  });
}

/** The client declares the extension in each request. */
export function declaresTasks(envelope: unknown): boolean {
  const Envelope = z.looseObject({
    [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.record(z.string(), z.unknown()) }),
  });
  const { data } = Envelope.safeParse(envelope);
  return data?.[CLIENT_CAPABILITIES_META_KEY].extensions[TASKS] !== undefined;
}
