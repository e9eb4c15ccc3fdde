import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Fault } from '../faults/fault.ts';
import type { FaultInjector } from '../faults/injector.ts';
import { type Call, readCall } from './call.ts';
import { encode, htmlReply, Refused, type Reply } from './reply.ts';
import type { RequestLog } from './request-log.ts';

export interface Operation {
  readonly name: string;
  readonly method: 'get' | 'post' | 'patch' | 'put';
  readonly path: string;
  answer(call: Call): Reply;
}

/** Returns a function that defines an operation on the state of a simulated API. */
export function operationOn<State>(state: State) {
  return (
    name: string,
    method: Operation['method'],
    path: string,
    answer: (state: State, call: Call) => Reply,
  ): Operation => ({ name, method, path, answer: (call) => answer(state, call) });
}

/** Checks the key and the rate limit; throws what refuses the call before its operation runs. */
export type Gate = (call: Call) => void;

export type Serve = (request: Request, response: Response, operation: Operation) => Promise<void>;

interface PipelineOptions {
  readonly gate: Gate;
  readonly injector: FaultInjector;
  readonly log: RequestLog;
  readonly now: () => Date;
  readonly pause: (ms: number) => Promise<unknown>;
}

const NO_SUCH_ROUTE = 'no such route';

/** Handles one request: logs it, applies a fault if one is active, runs the operation, replies. */
export function createPipeline({ gate, injector, log, now, pause }: PipelineOptions) {
  const hooks = new Map<string, readonly (() => void)[]>();

  const serve: Serve = async (request, response, operation) => {
    const fault = injector.take(operation.name);
    const call = readCall(request, operation.name, fault?.name ?? null);
    const logReply = log.open(call, now());
    if (fault?.connection === 'reset-before') request.socket.resetAndDestroy();
    if (fault?.connection?.endsWith('-before')) return;

    if (fault?.delay?.effect === 'late') await pause(fault.delay.ms);
    runHook(operation.name);
    const reply = answer(call, operation, fault);
    if (fault?.delay?.effect === 'at-once') await pause(fault.delay.ms);
    // The log must contain the reply before a caller can have received it.
    logReply(reply);
    sendReply(response, reply, fault);
  };

  function answer(call: Call, operation: Operation, fault: Fault | null): Reply {
    if (fault?.instead) return fault.instead(call);
    const reply = replyTo(call, operation);
    return fault?.change?.(reply, call) ?? reply;
  }

  function replyTo(call: Call, operation: Operation): Reply {
    try {
      if (operation.name !== NO_SUCH_ROUTE) gate(call);
      return operation.answer(call);
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  }

  function before(operation: string, run: () => void): void {
    hooks.set(operation, [...(hooks.get(operation) ?? []), run]);
  }

  function runHook(operation: string): void {
    const [first, ...rest] = hooks.get(operation) ?? [];
    hooks.set(operation, rest);
    first?.();
  }

  return { serve, before };
}

export function noSuchRoute({ method, path }: Request): Operation {
  const answer = () => htmlReply(404, `Cannot ${method} ${path}`);
  return { name: NO_SUCH_ROUTE, method: 'get', path, answer };
}

/** Sends the reply, or only the part of it that the fault allows. */
function sendReply(response: ServerResponse, reply: Reply, fault: Fault | null): void {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  if (fault?.connection === 'hang-after') return;
  if (fault?.connection === 'close-after') return void socket.destroy();
  if (fault?.connection === 'reset-after') return void socket.resetAndDestroy();

  const plain = encode(reply);
  const { headers, bytes } = fault?.encode?.(plain) ?? plain;
  response.writeHead(reply.status, { ...headers, 'content-length': bytes.length });
  if (fault?.connection !== 'cut') return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length >> 1), () => socket.destroy());
}
