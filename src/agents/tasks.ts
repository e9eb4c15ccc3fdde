// Requests as tasks of the 2026 extension, for clients that declare it: the id of a task is the id of the change with a
// proof of its caller. A change outlives the client, so a task can be read and cancelled by any process, later.

import { createHmac } from 'node:crypto';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentCaller } from '../workflow/index.ts';
import { isSame } from './identity.ts';
import { replyOf, type ToolResult } from './results.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';
const POLL_MS = 5_000;
const SCHEMAS = { params: z.looseObject({ taskId: z.string().max(100) }) };

interface TaskPort {
  /** The first one signs, all of them verify. */
  readonly keys: readonly Buffer[];
  readonly now: () => Date;
}

/**
 * Answers for the tasks of one caller; `call` calls a tool for own requests. Returns what makes a task of the result of a
 * request: null where the client does not declare tasks, which it does in each request.
 */
export function offerTasks(
  server: Server,
  { keys, now }: TaskPort,
  { agent, person }: AgentCaller,
  call: (tool: string, given: Readonly<Record<string, unknown>>) => Promise<ToolResult>,
): (result: ToolResult) => object | null {
  const proofs = (id: unknown) => {
    const text = JSON.stringify(['task', id, agent, person]);
    return keys.map((key) => createHmac('sha256', key).update(text).digest('base64url'));
  };
  const taskOf = (result: ToolResult) => {
    const { change, state, ended, summary, created } = result;
    const end = state === 'cancelled' ? 'cancelled' : 'completed';
    const status = ended ? end : 'working';
    return {
      ...{ taskId: `${change}.${proofs(change)[0]}`, status, ttlMs: null, pollIntervalMs: POLL_MS },
      ...{ statusMessage: summary, createdAt: created, lastUpdatedAt: now().toISOString() },
      ...(status === 'completed' && { result: { ...replyOf(result), resultType: 'complete' } }),
    };
  };
  const declares = () => server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
  /** Answers for a task of this caller; `then` gets its change. */
  const handle = (verb: string, then: (task: ToolResult) => object | Promise<object>) =>
    server.setRequestHandler(`tasks/${verb}`, SCHEMAS, async ({ taskId }) => {
      if (!declares()) {
        const requiredCapabilities = { extensions: { [TASKS]: {} } };
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
      }
      const [id = '', given = ''] = taskId.split('.');
      const isOwn = proofs(id).some((proof) => isSame(given, proof));
      const task = isOwn ? await call('request_status', { id }) : null;
      if (task?.change === id) return { ...(await then(task)), resultType: 'complete' };
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task.');
    });
  handle('get', taskOf);
  // What was sent is not cancelled: the next *get* tells it.
  handle('cancel', async ({ change }) => {
    await call('request_cancel', { id: change });
    return {};
  });
  // Signalbox asks a client for nothing, so that no answer is outstanding.
  handle('update', () => ({}));
  return (result) => (declares() ? taskOf(result) : null);
}
