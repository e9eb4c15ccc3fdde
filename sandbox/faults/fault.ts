import type { Call } from '../api/call.ts';
import { ALERT_READS } from '../api/optional-reads.ts';
import { type EncodedBody, isSuccess, type Reply } from '../api/reply.ts';
import type { Api, FaultChoice } from '../protocol.ts';

/**
 * One way in which a request can fail. The fields apply in this order: `connection` 'reset-before'
 * or 'hang-before', a delay before the effect, `instead`, the operation itself, `change`, a delay
 * after the effect, `encode`, and the other values of `connection`.
 */
export interface Fault extends FaultChoice {
  /** The operations to which the fault applies; absent for all operations of both APIs. */
  readonly only?: readonly string[];
  /** Replies in place of the server, so that nothing takes effect. */
  readonly instead?: (call: Call) => Reply;
  /** Changes the server's reply after the request took effect. */
  readonly change?: (reply: Reply, call: Call) => Reply;
  readonly encode?: (plain: EncodedBody) => EncodedBody;
  readonly connection?:
    | 'reset-before'
    | 'hang-before'
    | 'close-after'
    | 'reset-after'
    | 'hang-after'
    | 'cut';
  readonly delay?: { readonly ms: number; readonly effect: 'at-once' | 'late' };
}

export function fault(
  name: string,
  summary: string,
  effect: Omit<Fault, keyof FaultChoice>,
): Fault {
  return { name, summary, ...effect };
}

/** Takes effect; something else than the server answers. */
export const answering = (other: Reply): Pick<Fault, 'change'> => ({
  change: (reply) => (isSuccess(reply) ? other : reply),
});

const ALERT_OPERATIONS: readonly string[] = [
  ...['list alerts', 'get alert', 'update alert'],
  ...ALERT_READS,
];

export function apiOf({ operation }: Call): Api {
  return ALERT_OPERATIONS.includes(operation) ? 'alerts' : 'cloud';
}
