import type { Request, Response } from 'express';
import type { Fault } from '../faults/fault.ts';
import type { FaultInjector } from '../faults/injector.ts';
import { type Call, readCall } from './call.ts';
import { deliver } from './delivery.ts';
import { htmlReply, type Reply } from './reply.ts';
import type { RequestLog } from './request-log.ts';

export interface Operation {
  readonly name: string;
  readonly method: 'get' | 'post' | 'patch' | 'put';
  readonly path: string;
  answer(call: Call): Reply;
}

/** Limits and keys: a reply refuses the call before its operation sees it. */
export type Gate = (call: Call) => Reply | null;

export type Serve = (request: Request, response: Response, operation: Operation) => Promise<void>;

interface Parts {
  readonly gate: Gate;
  readonly armory: FaultInjector;
  readonly log: RequestLog;
  readonly now: () => Date;
  readonly pause: (ms: number) => Promise<unknown>;
}

const NO_SUCH_ROUTE = 'no such route';

/** The way of one request: noted, perhaps befallen by a fault, handled, answered. */
export function createPipeline({ gate, armory, log, now, pause }: Parts) {
  const interludes = new Map<string, readonly (() => void)[]>();

  const serve: Serve = async (request, response, operation) => {
    const fault = armory.take(operation.name);
    const call = readCall(request, operation.name, fault?.name ?? null);
    const answered = log.open(call, now());
    if (fault?.connection === 'reset-before') request.socket.resetAndDestroy();
    if (fault?.connection?.endsWith('-before')) return;

    if (fault?.delay?.effect === 'late') await pause(fault.delay.ms);
    playInterlude(operation.name);
    const reply = answer(call, operation, fault);
    if (fault?.delay?.effect === 'at-once') await pause(fault.delay.ms);
    // Noted before it is sent: whoever holds the answer must find it in the log.
    answered(reply);
    deliver(response, reply, fault);
  };

  function answer(call: Call, operation: Operation, fault: Fault | null): Reply {
    if (fault?.instead) return fault.instead(call);
    const isRouted = operation.name !== NO_SUCH_ROUTE;
    const reply = (isRouted ? gate(call) : null) ?? operation.answer(call);
    return fault?.answered?.(reply, call) ?? reply;
  }

  function before(operation: string, run: () => void): void {
    interludes.set(operation, [...(interludes.get(operation) ?? []), run]);
  }

  function playInterlude(operation: string): void {
    const [first, ...rest] = interludes.get(operation) ?? [];
    interludes.set(operation, rest);
    first?.();
  }

  return { serve, before };
}

export function noSuchRoute({ method, path }: Request): Operation {
  const answer = () => htmlReply(404, `Cannot ${method} ${path}`);
  return { name: NO_SUCH_ROUTE, method: 'get', path, answer };
}
