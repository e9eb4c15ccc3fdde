import { type Json, stringOf } from '../../json.ts';

/** `no-reply` has no effect and never answers; `reply-lost` has the effect, then disconnects. */
export type SlackFaultKind =
  | 'rate-limited'
  | 'server-error'
  | 'html'
  | 'no-reply'
  | 'reply-lost'
  | { readonly error: string };

export interface SlackFault {
  /** The name of a method, 'response_url', or '*' for the next call of any method. */
  readonly method: string;
  /** Only calls with this channel. */
  readonly channel?: string;
  /** Only messages with these words. */
  readonly words?: string;
  readonly times: number;
  readonly how: SlackFaultKind;
  readonly retryAfterSeconds?: number;
}

export interface PendingSlackFault extends SlackFault {
  remaining: number;
}

/** The fault that applies to this call, or null; its remaining count goes down by one. */
export function takeFault(
  faults: PendingSlackFault[],
  method: string,
  args: Json = {},
): SlackFault | null {
  const fault = faults.find(
    (one) =>
      [method, '*'].includes(one.method) &&
      (one.channel === undefined || one.channel === args.channel) &&
      stringOf(args.text).includes(one.words ?? ''),
  );
  if (!fault) return null;
  fault.remaining -= 1;
  if (fault.remaining <= 0) faults.splice(faults.indexOf(fault), 1);
  return fault;
}
