import type { Json } from '../../protocol.ts';

/** One call of the Web API, as it arrived and as it was answered. */
export interface WebApiCall {
  readonly method: string;
  readonly at: Date;
  readonly args: Json;
  /** HTTP status; null when the caller got no answer. */
  readonly status: number | null;
  readonly reply: Json | null;
}

export function callsOf(calls: readonly WebApiCall[], method?: string): WebApiCall[] {
  return calls.filter((call) => method === undefined || call.method === method);
}
