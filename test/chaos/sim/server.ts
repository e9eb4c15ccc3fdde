import { ApiError } from '../../../src/base/errors.ts';
import type { SendResult } from '../../../src/servers/sent.ts';

/** The faults of one delivery. After the last two the request was definitely not executed. */
export const FAULTS = [
  'refused',
  'error-before',
  'error-after',
  'reset-before',
  'reset-after',
  'unreadable',
  'too-many',
  'no-connection',
] as const;
export type Fault = (typeof FAULTS)[number];

const NOT_EXECUTED: readonly (Fault | null)[] = ['too-many', 'no-connection'];
const APPLIED: readonly (Fault | null)[] = [null, 'error-after', 'reset-after', 'unreadable'];
const DEFINITE: readonly (Fault | null)[] = [null, 'refused'];

export interface SentRequest {
  /** A mark that the driver put into the body, which identifies the request. */
  readonly mark: string;
  readonly target: string;
}

export interface Delivery extends SentRequest {
  readonly at: Date;
  readonly fault: Fault | null;
  readonly applied: boolean;
  readonly executed: 'surely not' | 'perhaps';
  readonly definite: boolean;
}

/** The simulated cloud, which counts requests and effects. */
export function openServer(now: () => Date) {
  const deliveries: Delivery[] = [];
  const faults: Fault[] = [];
  const edits = new Map<string, number>();
  const listeners: ((delivery: Delivery) => void)[] = [];

  async function deliver({ mark, target }: SentRequest): Promise<SendResult> {
    const fault = faults.shift() ?? null;
    const delivery: Delivery = {
      mark,
      target,
      at: now(),
      fault,
      applied: APPLIED.includes(fault),
      executed: NOT_EXECUTED.includes(fault) ? 'surely not' : 'perhaps',
      definite: DEFINITE.includes(fault),
    };
    deliveries.push(delivery);
    for (const listener of listeners) listener(delivery);
    if (fault) throw failure(fault);
    return { requestId: `r-${deliveries.length}`, reported: ['accepted'], learned: null };
  }

  return {
    deliver,
    deliveries: (): readonly Delivery[] => deliveries,
    onDelivery: (listener: (delivery: Delivery) => void) => listeners.push(listener),
    arm: (fault: Fault) => faults.push(fault),
    settle: () => faults.splice(0),
    /** Another user edits the target outside Signalbox. */
    edit: (target: string) => edits.set(target, (edits.get(target) ?? 0) + 1),
    editsOf: (target: string) => edits.get(target) ?? 0,
    /** The last mark that took effect on the target, as a read shows it. */
    shownAt: (target: string) =>
      deliveries.findLast((each) => each.target === target && each.applied)?.mark ?? '',
  };
}

export type Server = ReturnType<typeof openServer>;

function failure(fault: Fault): ApiError {
  const operation = 'a write';
  if (fault === 'refused') {
    return new ApiError({ operation, effect: 'refused', kind: 'answer', status: 422 });
  }
  if (fault === 'too-many') {
    const retryAfterMs = 20_000;
    return new ApiError({ operation, effect: 'not-sent', kind: 'rate-limit', retryAfterMs });
  }
  if (fault === 'no-connection') {
    return new ApiError({ operation, effect: 'not-sent', kind: 'no-connection' });
  }
  const trouble = fault === 'unreadable' ? 'unreadable-reply' : 'connection-lost';
  return new ApiError({ operation, effect: 'unknown', kind: trouble });
}
