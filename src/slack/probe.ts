import { createHmac, randomUUID } from 'node:crypto';
import type { Secret } from '../base/errors.ts';

export interface ProbeTarget {
  /** An address of this machine, in brackets for IPv6. */
  readonly host: string;
  readonly port: number;
  /** The port of the readiness probe. */
  readonly opsPort: number;
  readonly withinMs: number;
}

/** `other-secret`: the process rejects this signing secret. `unknown`: it is not Signalbox. */
export type ProbeResult = 'answered' | 'other-secret' | 'unknown';

/**
 * Sends Slack's URL verification request, signed like Slack's: a running instance returns the
 * challenge. Throws when no process listens on the port.
 */
export async function probeInstance(
  { host, port, withinMs }: ProbeTarget,
  secret: Secret,
): Promise<ProbeResult> {
  const challenge = randomUUID();
  const body = JSON.stringify({ type: 'url_verification', challenge });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const hmac = createHmac('sha256', secret.reveal()).update(`v0:${timestamp}:${body}`);
  const answer = await fetch(`http://${host}:${port}/slack/events`, {
    method: 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(withinMs),
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${hmac.digest('hex')}`,
    },
    body,
  });
  const text = await answer.text();
  if (answer.status === 401) return 'other-secret';
  return answer.ok && text.includes(challenge) ? 'answered' : 'unknown';
}

/** Null when the instance on the port is ready, else its reason; throws when none listens. */
export async function readiness({ host, opsPort, withinMs }: ProbeTarget): Promise<string | null> {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(`http://${host}:${opsPort}/readyz`, { redirect: 'error', signal });
  const text = (await answer.text()).trim().slice(0, 200);
  return answer.ok ? null : text;
}
