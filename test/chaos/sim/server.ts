import { ApiError } from '../../../src/errors.ts';
import type { SendResult } from '../../../src/intent/define.ts';

/** What can befall one delivery. Of the last two the server says that nothing was executed. */
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

export interface Parcel {
  /** What the driver wrote into the body, so that nobody has to be asked whose request it is. */
  readonly mark: string;
  readonly target: string;
}

export interface Delivery extends Parcel {
  readonly at: Date;
  readonly fault: Fault | null;
  readonly applied: boolean;
  readonly executed: 'surely not' | 'perhaps';
  readonly definite: boolean;
}

/** The cloud as the judge sees it: it counts by itself what arrived and what took effect. */
export function openServer(now: () => Date) {
  const deliveries: Delivery[] = [];
  const faults: Fault[] = [];
  const edits = new Map<string, number>();
  const listeners: ((delivery: Delivery) => void)[] = [];

  async function deliver({ mark, target }: Parcel): Promise<SendResult> {
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
    calm: () => faults.splice(0),
    /** Somebody else edits the target at another counter. */
    edit: (target: string) => edits.set(target, (edits.get(target) ?? 0) + 1),
    editsOf: (target: string) => edits.get(target) ?? 0,
    /** The last mark that took effect there, as a read of the target shows it. */
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
