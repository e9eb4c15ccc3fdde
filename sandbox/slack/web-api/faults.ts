/**
 * How a call goes wrong. `no-reply` hangs and does nothing; `reply-lost` does what was asked and
 * cuts the line, as a caller cannot tell the two apart.
 */
export type SlackFaultKind =
  | 'rate-limited'
  | 'server-error'
  | 'html'
  | 'no-reply'
  | 'reply-lost'
  | { readonly error: string };

export interface SlackFault {
  /** A method's name, or '*' for whichever is called next. */
  readonly method: string;
  readonly times: number;
  readonly how: SlackFaultKind;
  readonly retryAfterSeconds?: number;
}

export interface ArmedFault extends SlackFault {
  left: number;
}

/** The fault that befalls this call, used up by one; null when the call goes well. */
export function nextFault(faults: ArmedFault[], method: string): SlackFault | null {
  const fault = faults.find((one) => one.method === method || one.method === '*');
  if (!fault) return null;
  fault.left -= 1;
  if (fault.left <= 0) faults.splice(faults.indexOf(fault), 1);
  return fault;
}
