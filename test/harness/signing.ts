import { createHmac } from 'node:crypto';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { SIGNING_SECRET } from './simulators.ts';
import type { TestSandbox } from './test-sandbox.ts';

export const FORM = 'application/x-www-form-urlencoded';

/** The headers with which Slack signs a body. */
export function signatureOf(
  body: string,
  {
    secret = SIGNING_SECRET,
    at = Date.now(),
  }: { readonly secret?: string; readonly at?: number } = {},
): Record<string, string> {
  const time = String(Math.floor(at / 1_000));
  const hmac = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${hmac}` };
}

export async function deliver(
  { url }: Pick<TestSandbox, 'url'>,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  // A missing answer throws, which distinguishes it from a refusal.
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(`${url}/slack/events`, { method: 'POST', headers, body, signal });
  await answer.text();
  return answer.status;
}

/** Delivers an interaction payload as Slack sends it, and returns the status. */
export function deliverPayload(
  sandbox: Pick<TestSandbox, 'url'>,
  payload: object,
): Promise<number> {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  return deliver(sandbox, body, { 'content-type': FORM, ...signatureOf(body) });
}

/** The common fields of all payloads of a user of this workspace. */
export function sentBy(user: string) {
  const { appId, teamId } = sandboxWorkspace;
  return {
    api_app_id: appId,
    team: { id: teamId },
    user: { id: user, team_id: teamId },
    trigger_id: `77.${user}.forged`,
  };
}
