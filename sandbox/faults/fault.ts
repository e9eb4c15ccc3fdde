import type { Call } from '../api/call.ts';
import type { Encoded, Reply } from '../api/reply.ts';
import type { FaultChoice } from '../protocol.ts';

/**
 * One way in which an answer can go wrong. The fields act in this order, each where it is present:
 * `connection` 'reset-before' and 'hang-before', a delay before the effect, `instead`, then the
 * operation itself, `answered`, a delay after the effect, `encoded`, and the connection's end.
 */
export interface Fault extends FaultChoice {
  /** The operations it can befall; absent means all of both APIs. */
  readonly only?: readonly string[];
  /** Answers in place of the server, so that nothing takes effect. */
  readonly instead?: (call: Call) => Reply;
  /** Bends the server's own answer, after the request took effect. */
  readonly answered?: (reply: Reply, call: Call) => Reply;
  readonly encoded?: (answer: Encoded) => Encoded;
  readonly connection?: Connection;
  readonly delay?: Delay;
}

export type Connection =
  | 'reset-before'
  | 'hang-before'
  | 'close-after'
  | 'reset-after'
  | 'hang-after'
  | 'cut';

export interface Delay {
  readonly ms: number;
  readonly effect: 'at-once' | 'late';
}

export type Api = 'cloud' | 'alerts';

const ALERT_OPERATIONS: readonly string[] = ['list alerts', 'get alert', 'update alert'];

export function apiOf({ operation }: Call): Api {
  return ALERT_OPERATIONS.includes(operation) ? 'alerts' : 'cloud';
}
